// softmax and norms, a row at a time.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

// The reduced dimension is the lanes': one grid tile a row, three passes over it.
// Elements past its end are -inf for the maximum and dropped from the sum (exp(-inf -
// max) alone would not do when the maximum is -inf, too).
// CHECK-DAG:   #[[TILE:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 4]], lane = {{\[\[}}0, 1], [0, 2]], outer = [1, 1]>
// CHECK-DAG:   #[[ROW:lanes[0-9]*]] = #tracea_pipe.lanes<lane = {{\[\[}}0, 0], [0, 0]], outer = [1, 1]>
// CHECK-LABEL: tracea_pipe.kernel @softmax_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<5x37xbf16>, %[[D:[a-z0-9]+]]: memref<5x37xbf16>
// CHECK-DAG:     %[[LOWEST:.*]] = arith.constant 0xFF80 : bf16
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<1x8xf32, #[[TILE]]>
// CHECK:         tiles (%[[I:.*]]) in (%c5)
// CHECK:           %[[M:.*]] = scf.for %[[J:[a-z0-9]+]] = %c0 to %c37 step %c8
// CHECK:             %[[LEFT:.*]] = arith.subi %c37, %[[J]]
// CHECK:             tracea_pipe.load %[[X]][%[[I]], %[[J]]] map #{{.*}} limits(%c1, %[[LEFT]]) padding(%[[LOWEST]] : bf16)
// NaN need not win: its exponential is NaN whatever the maximum is.
// CHECK:             %[[ABOVE:.*]] = arith.cmpf ogt, %[[V:.*]], %[[MOST:[a-z0-9]+]]
// CHECK:             arith.select %[[ABOVE]], %[[V]], %[[MOST]]
// CHECK:           %[[MAX:.*]] = tracea_pipe.reduce max %[[M]] dim 1 : tensor<1x8xf32, #[[TILE]]> -> tensor<1x1xf32, #[[ROW]]>
// CHECK:           %[[MAXES:.*]] = tracea_pipe.broadcast %[[MAX]]
// CHECK:           %[[S:.*]] = scf.for %[[J:[a-z0-9]+]] =
// CHECK:             %[[LEFT:.*]] = arith.subi %c37, %[[J]]
// The next row comes, and lines of the result, while exponentials are computed.
// CHECK:             tracea_pipe.prefetch %[[X]][%{{.*}}, %[[J]]]
// CHECK:             tracea_pipe.prefetch %[[D]][%[[I]], %[[J]]] {{.*}} write
// CHECK:             %[[E:.*]] = math.exp %{{.*}} {tracea_pipe.flushes}
// CHECK:             %[[AT:.*]] = tracea_pipe.coordinate dim 1
// CHECK:             %[[END:.*]] = tensor.splat %[[LEFT]]
// CHECK:             %[[IN:.*]] = arith.cmpi slt, %[[AT]], %[[END]]
// CHECK:             arith.select %[[IN]], %[[E]], %[[ZERO]]
// CHECK:           %[[TOTAL:.*]] = tracea_pipe.reduce add %[[S]] dim 1
// CHECK:           arith.divf %{{.*}}, %[[TOTAL]] : tensor<1x1xf32
// CHECK:           scf.for
// CHECK-NOT:         arith.divf
// CHECK:             arith.mulf
// CHECK:             %[[OUT:.*]] = arith.truncf {{.*}} to tensor<1x8xbf16
// CHECK:             tracea_pipe.store %[[OUT]], %[[D]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @softmax(%x: tensor<5x37xbf16>, %d: tensor<5x37xbf16>) -> tensor<5x37xbf16> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<5x37xbf16>) outs(%d : tensor<5x37xbf16>)
    schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]>
  return %0 : tensor<5x37xbf16>
}
}

// -----

// Another dimension is reduced: a grid tile is a strip of eight rows, one a lane, and
// nothing crosses lanes.
// CHECK-LABEL: tracea_pipe.kernel @softmax_0
// CHECK:         %[[STRIPS:.*]] = arith.ceildivsi %{{.*}}, %c8
// CHECK:         tiles (%[[I:.*]], %[[S:.*]]) in (%c4, %[[STRIPS]])
// CHECK:           %[[J:.*]] = arith.muli %[[S]], %c8
// CHECK:           %[[LEFT:.*]] = arith.subi %{{.*}}, %[[J]]
// CHECK:           scf.for %[[K:[a-z0-9]+]] = %c0 to %c5 step %c1
// CHECK:             tracea_pipe.load %{{.*}}[%[[I]], %[[K]], %[[J]]] map #{{.*}} limits(%c1, %[[LEFT]])
// CHECK-NOT:     tracea_pipe.reduce
// CHECK-NOT:     tracea_pipe.coordinate
// CHECK:         end
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @strips(%x: tensor<4x5x?xf32>, %d: tensor<4x5x?xf32>) -> tensor<4x5x?xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x5x?xf32>) outs(%d : tensor<4x5x?xf32>)
    schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]>
  return %0 : tensor<4x5x?xf32>
}
}

// -----

// Two dimensions are normalized: the row is all of them. The mean first, then the
// squares of the differences to it, with what is past the end dropped. Scale and
// bias are read at the element's place in the normalized dimensions.
// CHECK-LABEL: func.func @layer_norm(
// CHECK-SAME:    %[[SCALE:[a-z0-9]+]]: tensor<?x37xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[SCALE]], %c0
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[N]], %c5
// CHECK:         cf.assert %[[SAME]], "tracea.layer_norm: expected scale and bias to have the normalized shape"
// CHECK-LABEL: tracea_pipe.kernel @layer_norm_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<4x5x37xf32>, %[[SCALE:[a-z0-9]+]]: memref<?x37xf32>, %[[BIAS:[a-z0-9]+]]: memref<5x37xf32>
// CHECK-DAG:     %[[COUNT:.*]] = arith.constant dense<1.850000e+02> : tensor<1x1xf32
// CHECK:         tiles (%[[I:.*]]) in (%c4)
// CHECK:           %[[SUM:.*]] = scf.for
// CHECK:             scf.for
// CHECK:           %[[TOTAL:.*]] = tracea_pipe.reduce add %[[SUM]] dim 1
// CHECK:           %[[MEAN:.*]] = arith.divf %[[TOTAL]], %[[COUNT]]
// CHECK:           %[[MEANS:.*]] = tracea_pipe.broadcast %[[MEAN]]
// CHECK:           %[[SQ:.*]] = scf.for
// CHECK:             scf.for
// CHECK:               %[[DIFF:.*]] = arith.subf %{{.*}}, %[[MEANS]]
// CHECK:               %[[KEPT:.*]] = arith.select %{{.*}}, %[[DIFF]], %{{.*}}
// CHECK:               arith.mulf %[[KEPT]], %[[KEPT]]
// CHECK:           tracea_pipe.reduce add %[[SQ]] dim 1
// CHECK:           math.sqrt
// CHECK:           scf.for %[[P:[a-z0-9]+]] = %c0 to %c5
// CHECK:             scf.for %[[Q:[a-z0-9]+]] = %c0 to %c37 step %c8
// CHECK:               tracea_pipe.load %[[X]][%[[I]], %[[P]], %[[Q]]]
// CHECK:               %[[G:.*]] = tracea_pipe.load %[[SCALE]][%[[P]], %[[Q]]]
// CHECK:               %[[B:.*]] = tracea_pipe.load %[[BIAS]][%[[P]], %[[Q]]]
// CHECK:               %[[Y:.*]] = arith.mulf %{{.*}}, %[[G]]
// CHECK:               arith.addf %[[Y]], %[[B]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @layer_norm(%s: tensor<?x37xf32>, %x: tensor<4x5x37xf32>, %b: tensor<5x37xf32>, %d: tensor<4x5x37xf32>) -> tensor<4x5x37xf32> {
  %0 = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x5x37xf32>) scale(%s : tensor<?x37xf32>)
    bias(%b : tensor<5x37xf32>) outs(%d : tensor<4x5x37xf32>)
    schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]>
  return %0 : tensor<4x5x37xf32>
}
}

// -----

// One pass of squares, one of results; without a scale nothing else is read.
// CHECK-LABEL: tracea_pipe.kernel @rms_norm_0
// CHECK-SAME:    (%{{[a-z0-9]+}}: memref<4x?xf32>, %{{[a-z0-9]+}}: memref<4x?xf32>)
// CHECK:         tiles
// CHECK:           scf.for
// CHECK:             %[[X:.*]] = tracea_pipe.load
// CHECK:             tracea_pipe.prefetch {{.*}} write
// CHECK-NOT:         tracea_pipe.prefetch
// CHECK:             arith.mulf %[[X]], %[[X]]
// CHECK:           tracea_pipe.reduce add
// CHECK-NOT:       tracea_pipe.reduce
// A length of the run's is counted at run time.
// CHECK:           arith.index_cast %{{.*}} : index to i64
// The next row is asked for while this one is stored.
// CHECK:           scf.for
// CHECK:             tracea_pipe.load
// CHECK:             tracea_pipe.prefetch
// CHECK-NOT:         tracea_pipe.load
// CHECK:             tracea_pipe.store
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @rms_norm(%x: tensor<4x?xf32>, %d: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x?xf32>) outs(%d : tensor<4x?xf32>)
    schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]>
  return %0 : tensor<4x?xf32>
}
}

// -----

// A prologue is computed and what it keeps stored in the first pass; the others read the row back.
// CHECK-LABEL: tracea_pipe.kernel @rms_norm_0
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: memref<4x37xf32>, %[[R:[a-z0-9]+]]: memref<37xf32>, %[[D:[a-z0-9]+]]: memref<4x37xf32>, %[[H:[a-z0-9]+]]: memref<4x37xf32>)
// CHECK:           scf.for
// CHECK:             tracea_pipe.load %[[X]]
// CHECK:             tracea_pipe.load %[[R]]
// CHECK:             %[[S:.*]] = arith.addf
// CHECK:             %[[V:.*]] = arith.select %{{.*}}, %[[S]],
// CHECK:             tracea_pipe.store %[[S]], %[[H]]
// CHECK:             arith.mulf %[[V]], %[[V]]
// CHECK:           scf.for
// CHECK-NOT:         tracea_pipe.load %[[X]]
// CHECK:             tracea_pipe.load %[[H]]
// CHECK-NOT:         tracea_pipe.store %{{.*}}, %[[H]]
// CHECK:             tracea_pipe.store %{{.*}}, %[[D]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @prologue(%x: tensor<4x37xf32>, %r: tensor<37xf32>, %d: tensor<4x37xf32>, %e: tensor<4x37xf32>) -> (tensor<4x37xf32>, tensor<4x37xf32>) {
  %0:2 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x37xf32>) prologue(%r by affine_map<(i, j) -> (j)> : tensor<37xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tracea.yield %s, %s : f32, f32
  } outs(%d : tensor<4x37xf32>) keeps(%e : tensor<4x37xf32>)
    schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]>
  return %0#0, %0#1 : tensor<4x37xf32>, tensor<4x37xf32>
}
}

// -----

// What is kept is another value than the row's: the row is computed again.
// CHECK-LABEL: tracea_pipe.kernel @rms_norm_0
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: memref<4x37xf32>, %{{.*}}: memref<4x37xf32>, %[[H:[a-z0-9]+]]: memref<4x37xf32>)
// CHECK:           scf.for
// CHECK:             tracea_pipe.load %[[X]]
// CHECK:             tracea_pipe.store %{{.*}}, %[[H]]
// CHECK:           scf.for
// CHECK:             tracea_pipe.load %[[X]]
// CHECK:             arith.negf
// CHECK-NOT:         tracea_pipe.store %{{.*}}, %[[H]]
// CHECK:         end
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @computed_again(%x: tensor<4x37xf32>, %d: tensor<4x37xf32>, %e: tensor<4x37xf32>) -> (tensor<4x37xf32>, tensor<4x37xf32>) {
  %0:2 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x37xf32>) prologue {
    ^bb0(%a: f32):
      %s = arith.negf %a : f32
      %t = arith.addf %s, %a : f32
      tracea.yield %s, %t : f32, f32
  } outs(%d : tensor<4x37xf32>) keeps(%e : tensor<4x37xf32>)
    schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]>
  return %0#0, %0#1 : tensor<4x37xf32>, tensor<4x37xf32>
}
}

// -----

// Variants that are no kernels of this pass stay.
// CHECK-LABEL: func.func @others
// CHECK:         tracea.softmax
// CHECK:         tracea.batch_norm
// CHECK-NOT:   tracea_pipe.kernel
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @others(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) schedule <variant = "linalg", unit = vector>
  %1 = tracea.batch_norm axis 1 epsilon 1.0e-5
         ins(%x, %s, %s, %s, %s : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
         outs(%d : tensor<4x8xf32>) schedule <variant = "elementwise", unit = vector>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}
}
