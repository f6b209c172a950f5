// RUN: tracea-opt %s --split-input-file --tracea-outline-host --canonicalize | FileCheck %s
// RUN: tracea-opt %s --split-input-file --tracea-outline-host --remarks-filter=tracea --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The grid splits the rows; the chunk is computed from the extents, and the
// last tile is shorter.
// CHECK-LABEL: func.func @fill(
// CHECK-SAME:    %[[M:.*]]: memref<?x64xf32>
// CHECK-NEXT:    tracea_pipe.launch @linalg_fill_0 outs(%[[M]] : memref<?x64xf32>)
// CHECK-NEXT:    return
// CHECK-LABEL: tracea_pipe.kernel @linalg_fill_0(
// CHECK-SAME:    %[[A:.*]]: memref<?x64xf32>) attributes {source_op = "linalg.fill", variant = "linalg"}
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.0
// CHECK-DAG:     %[[C256:.*]] = arith.constant 256 : index
// CHECK:         %[[N:.*]] = memref.dim %[[A]]
// CHECK:         %[[MIN:.*]] = arith.minsi %[[N]], %[[C256]]
// CHECK:         %[[CHUNK:.*]] = arith.maxsi %[[MIN]],
// CHECK:         %[[GRID:.*]] = arith.ceildivsi %[[N]], %[[CHUNK]]
// CHECK:         tiles (%[[I:.*]], %{{.*}}) in (%[[GRID]], %{{.*}}) {
// CHECK:           %[[FROM:.*]] = arith.muli %[[I]], %[[CHUNK]]
// CHECK:           %[[LEFT:.*]] = arith.subi %[[N]], %[[FROM]]
// CHECK:           %[[ROWS:.*]] = arith.minsi %[[CHUNK]], %[[LEFT]]
// CHECK:           %[[TILE:.*]] = memref.subview %[[A]][%[[FROM]], 0] [%[[ROWS]], 64] [1, 1]
// CHECK:           linalg.fill ins(%[[ZERO]] : f32) outs(%[[TILE]]
// REMARK:        remark: [Missed] host-op {{.*}} Function=fill | Reason="'linalg.fill' runs as plain loops
func.func @fill(%m: memref<?x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%m : memref<?x64xf32>)
  return
}

// -----

// A short operation is one tile and is not sliced.
// CHECK-LABEL: tracea_pipe.kernel @linalg_add_0(
// CHECK:         tiles (%{{.*}}) in (%c1) {
// CHECK-NEXT:      linalg.add ins(%{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>) outs(%{{.*}} : memref<8xf32>)
func.func @short(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>) {
  linalg.add ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%c : memref<8xf32>)
  return
}

// -----

// Extents that must agree are compared on the host, once the shapes are known.
// CHECK-LABEL: func.func @shapes(
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>, %[[C:.*]]: memref<?xf32>
// CHECK-DAG:     %[[NA:.*]] = memref.dim %[[A]]
// CHECK-DAG:     %[[NB:.*]] = memref.dim %[[B]]
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[NA]], %[[NB]]
// CHECK:         cf.assert %[[SAME]], "'linalg.add' expects dimension 0 of operand #1 to be as long as dimension 0 of operand #0"
// CHECK:         cf.assert %{{.*}}, "'linalg.add' expects dimension 0 of operand #2
// CHECK:         tracea_pipe.launch @linalg_add_0
func.func @shapes(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>) {
  linalg.add ins(%a, %b : memref<?xf32>, memref<?xf32>) outs(%c : memref<?xf32>)
  return
}

// -----

// A window must not reach beyond its image.
// CHECK-LABEL: func.func @window(
// CHECK:         cf.assert %{{.*}}, "'linalg.pooling_ncw_sum' reads beyond dimension 2 of operand #0"
func.func @window(%x: memref<1x1x?xf32>, %w: memref<3xf32>, %y: memref<1x1x?xf32>) {
  linalg.pooling_ncw_sum {strides = dense<2> : vector<1xi64>}
    ins(%x, %w : memref<1x1x?xf32>, memref<3xf32>) outs(%y : memref<1x1x?xf32>)
  return
}

// -----

// A view with gaps reaches the kernel as its buffer, and is made again there; one
// without gaps reaches it as itself.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[A:.*]]: memref<20x16xf32>, %[[B:.*]]: memref<20x16xf32>, %[[N:.*]]: index)
// CHECK-DAG:     %[[ROWS:.*]] = memref.subview %[[B]][4, 0] [8, 16] [1, 1]
// CHECK:         tracea_pipe.launch @memref_copy_0 ins(%[[A]], %{{.*}} : memref<20x16xf32>, index) outs(%[[ROWS]] : memref<8x16xf32, strided<[16, 1], offset: 64>>)
// CHECK-LABEL: tracea_pipe.kernel @memref_copy_0(
// CHECK-SAME:    %[[KA:.*]]: memref<20x16xf32>, %[[OFFSET:.*]]: index, %[[KB:.*]]: memref<8x16xf32>) attributes {source_op = "memref.copy"
// CHECK:         memref.subview %[[KA]][%[[OFFSET]], 0] [8, 16] [2, 1]
func.func @views(%a: memref<20x16xf32>, %b: memref<20x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %a, %c0 : memref<20x16xf32>
  %from = memref.subview %a[%d, 0] [8, 16] [2, 1] : memref<20x16xf32> to memref<8x16xf32, strided<[32, 1], offset: ?>>
  %to = memref.subview %b[4, 0] [8, 16] [1, 1] : memref<20x16xf32> to memref<8x16xf32, strided<[16, 1], offset: 64>>
  memref.copy %from, %to : memref<8x16xf32, strided<[32, 1], offset: ?>> to memref<8x16xf32, strided<[16, 1], offset: 64>>
  return
}

// -----

// Two views of one buffer: the kernel gets the buffer once, so that its
// arguments do not overlap.
// CHECK-LABEL: func.func @same_buffer(
// CHECK-SAME:    %[[A:.*]]: memref<8x16xf32>
// CHECK:         tracea_pipe.launch @memref_copy_0 outs(%[[A]] : memref<8x16xf32>)
func.func @same_buffer(%a: memref<8x16xf32>) {
  %x = memref.subview %a[0, 0] [4, 16] [1, 1] : memref<8x16xf32> to memref<4x16xf32, strided<[16, 1]>>
  %y = memref.subview %a[4, 0] [4, 16] [1, 1] : memref<8x16xf32> to memref<4x16xf32, strided<[16, 1], offset: 64>>
  memref.copy %x, %y : memref<4x16xf32, strided<[16, 1]>> to memref<4x16xf32, strided<[16, 1], offset: 64>>
  return
}

// -----

// Stores share a kernel, which computes their scalars.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<2xf32>)
// CHECK-NEXT:    tracea_pipe.launch @memref_store_0 ins(%[[X]] : memref<4xf32>) outs(%[[Y]] : memref<2xf32>)
// CHECK-NEXT:    return
// CHECK-LABEL: tracea_pipe.kernel @memref_store_0(
// CHECK:         %[[A:.*]] = memref.load
// CHECK:         %[[E:.*]] = math.exp %[[A]]
// CHECK:         tiles (%{{.*}}) in (%c1) {
// CHECK-NEXT:      memref.store %[[E]]
// CHECK-NEXT:      memref.store %[[A]]
// CHECK-NOT:   tracea_pipe.kernel
func.func @scalars(%x: memref<4xf32>, %y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.load %x[%c1] : memref<4xf32>
  %e = math.exp %a : f32
  memref.store %e, %y[%c0] : memref<2xf32>
  memref.store %a, %y[%c1] : memref<2xf32>
  return
}

// -----

// A loop over scalars is one tile.
// CHECK-LABEL: tracea_pipe.kernel @scf_for_0(
// CHECK:         tiles (%{{.*}}) in (%c1) {
// CHECK-NEXT:      scf.for
func.func @loop(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %one, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// The iterations of a grid's tile are counted without overflow.
// CHECK-LABEL: tracea_pipe.kernel @linalg_fill_0(
// CHECK:         tiles (
func.func @huge(%out: memref<4x4611686018427387904xf32>) {
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%out : memref<4x4611686018427387904xf32>)
  return
}

// -----

// No window moves as an index that falls: such a tile is loops over single
// elements, at their places in the whole. A size that only the run knows must not
// lead before the first element.
// CHECK-LABEL: func.func @backwards(
// CHECK-SAME:    %{{.*}}: memref<600x40xf32>, %[[B:.*]]: memref<?x40xf32>
// CHECK:         %[[LAST:.*]] = affine.apply #[[$FIRST:.*]]()[%{{.*}}]
// CHECK:         %[[IN:.*]] = arith.cmpi sge, %[[LAST]], %c0
// CHECK:         %[[OK:.*]] = arith.ori %{{.*}}, %[[IN]]
// CHECK:         cf.assert %[[OK]], "'linalg.generic' reads before dimension 0 of operand #0"
// CHECK:         tracea_pipe.launch @linalg_generic_0
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         tiles (%[[I:.*]], %{{.*}}) in
// CHECK:           scf.for %[[R:.*]] = %c0 to
// CHECK:             %[[ROW:.*]] = arith.addi %{{.*}}, %[[R]]
// CHECK:             scf.for %[[C:.*]] = %c0 to %c40
// CHECK:               %[[FROM:.*]] = affine.apply #{{.*}}(%[[ROW]])
// CHECK:               %[[X:.*]] = memref.load %{{.*}}[%[[FROM]], %[[C]]] : memref<600x40xf32>
// CHECK:               memref.store %[[X]], %{{.*}}[%[[ROW]], %[[C]]] : memref<?x40xf32>
func.func @backwards(%a: memref<600x40xf32>, %b: memref<?x40xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (-i + 599, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<600x40xf32>) outs(%b : memref<?x40xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// A sum without terms is not cut into tiles; what stays whole is nothing.
// CHECK-LABEL: func.func @sum_without_terms
// CHECK:       tracea_pipe.kernel @linalg_generic_0
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    tiles (%{{.*}}) in (%[[ONE]]) {
// CHECK-NEXT:    }
func.func @sum_without_terms(%x: memref<1x0xf64>) -> memref<1xf64> {
  %sum = memref.alloc() : memref<1xf64>
  linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<1x0xf64>) outs(%sum : memref<1xf64>) {
  ^bb0(%a: f64, %s: f64):
    %t = arith.addf %s, %a : f64
    linalg.yield %t : f64
  }
  return %sum : memref<1xf64>
}

// -----

// A window that is asked for its shape alone is not passed: nobody wrote it.
// CHECK-LABEL: func.func @window(
// CHECK-SAME:    %[[X:.*]]: memref<1x8x8x16xf32>, %[[Y:.*]]: memref<1x4x4x16xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         tracea_pipe.launch @linalg_pooling_nhwc_max_0 ins(%[[X]] : memref<1x8x8x16xf32>) outs(%[[Y]] : memref<1x4x4x16xf32>)
// CHECK-LABEL: tracea_pipe.kernel @linalg_pooling_nhwc_max_0(
// CHECK-SAME:    %{{[^:]*}}: memref<1x8x8x16xf32>, %{{[^:]*}}: memref<1x4x4x16xf32>)
// CHECK:         scf.for
// CHECK:           arith.maximumf
func.func @window(%x: memref<1x8x8x16xf32>, %y: memref<1x4x4x16xf32>) {
  %w = memref.alloc() : memref<2x2xf32>
  linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %w : memref<1x8x8x16xf32>, memref<2x2xf32>) outs(%y : memref<1x4x4x16xf32>)
  return
}
