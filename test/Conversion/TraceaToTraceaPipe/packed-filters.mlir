// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --split-input-file | FileCheck %s

// A filter that is a constant is packed by a kernel of its own, into panels of the 8 filters that a
// register tile has: 20 filters are three of them, the last with zeros. The convolution reads them
// where they lie, and stages its patch alone. Elements that lie apart are gathered for a step at a
// time.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
// CHECK-DAG: #[[FILTERS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 8 + d4, d1, d2, d3)>
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3 floordiv 8, d4, d5, d6, d3 mod 8)>
// CHECK-DAG: #[[TILE:.*]] = affine_map<(d0, d1) -> (d1, 0, 0, d0)>
// CHECK-LABEL: func.func @constant(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<1x9x9x6xf32>, %[[F:[^ ]*]]: tensor<20x3x3x6xf32>
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<3x3x3x6x8xf32>
// CHECK:         %[[P:.*]] = tracea_pipe.launch @conv2d_0 ins(%[[F]] : {{.*}}) outs(%[[E]] : {{.*}})
// CHECK:         tracea_pipe.launch @conv2d_1 ins(%[[X]], %[[P]] : tensor<1x9x9x6xf32>, tensor<3x3x3x6x8xf32>)
// CHECK:       tracea_pipe.kernel @conv2d_0(%[[F:.*]]: memref<20x3x3x6xf32>, %[[D:.*]]: memref<3x3x3x6x8xf32>)
// CHECK-SAME:    definitions = [#tracea_pipe.definition<result = 1, factors = 1, operands = [0], maps = [#[[FILTERS]]]>]
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0
// CHECK:         tiles (%[[I:.*]], %[[R:.*]], %[[S:.*]], %[[C:.*]]) in (%c3, %c3, %c3, %c6)
// CHECK:           %[[K:.*]] = arith.muli %[[I]], %c8
// CHECK:           %[[LEFT:.*]] = arith.subi %c6, %[[C]]
// CHECK:           %[[REST:.*]] = arith.subi %c20, %[[K]]
// CHECK:           %[[T:.*]] = tracea_pipe.load %[[F]][%[[K]], %[[R]], %[[S]], %[[C]]] map #[[TILE]] limits(%[[LEFT]], %[[REST]]) padding(%[[ZERO]] : f32) : {{.*}} -> tensor<1x8xf32
// CHECK:           tracea_pipe.store %[[T]], %[[D]][%[[I]], %[[R]], %[[S]], %[[C]], %c0] {{.*}} limits(%[[LEFT]], %c8)
// CHECK:       tracea_pipe.kernel @conv2d_1(%[[X:.*]]: memref<1x9x9x6xf32>, %[[P:.*]]: memref<3x3x3x6x8xf32>
// CHECK-SAME:    maps = [{{.*}}, #[[PANELS]]]
// The patch is smaller than the filters, and read for each of their panels.
// CHECK:         tracea_pipe.stage %[[X]]
// CHECK-NOT:     tracea_pipe.stage %
// CHECK:         scf.for %[[K:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:         %[[PANEL:.*]] = arith.divui %{{.*}}, %c8
// CHECK:         scf.for %{{.*}} = %c0 to %{{.*}} step %c1 {
// CHECK:         %[[B:.*]] = tracea_pipe.view %[[P]][%[[PANEL]], %{{.*}}, %{{.*}}, %{{.*}}, %c0] {{.*}} -> memref<4x8xf32, strided<[8, 1], offset: ?>>
// The last tile of seven pixels has three, which is all that it multiplies.
// CHECK:         %[[END:.*]] = arith.minsi %{{.*}}, %c4
// CHECK:         tracea_pipe.mma %{{.*}}, %[[B]], {{.*}} rows(%c0, %[[END]]) spans [0, 3]
module attributes {tracea.target = #cpu} {
func.func @constant(%x: tensor<1x9x9x6xf32>, %w: tensor<20x3x3x6xf32> {tracea.constant}, %d: tensor<1x7x7x20xf32>) -> tensor<1x7x7x20xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x9x9x6xf32>, tensor<20x3x3x6xf32>) outs(%d : tensor<1x7x7x20xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 16, 4], registers = [4, 8]>
  return %0 : tensor<1x7x7x20xf32>
}
}

// -----

// What is computed of constants alone is one, through bodies too; what is not, is staged.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
#id = affine_map<(k, r, s, c) -> (k, r, s, c)>
#k = affine_map<(k, r, s, c) -> (k)>
// CHECK-LABEL: func.func @computed(
// CHECK:         tensor.empty() : tensor<1x3x3x4x8xf32>
// CHECK-LABEL: func.func @scaled(
// CHECK-NOT:     tensor<1x3x3x4x8xf32>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0
module attributes {tracea.target = #cpu} {
func.func @computed(%x: tensor<1x9x9x4xf32>, %w: tensor<8x4x3x3xf32> {tracea.constant}, %s: tensor<8xf32> {tracea.constant}, %d: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  %e = tensor.empty() : tensor<8x3x3x4xf32>
  %t = linalg.transpose ins(%w : tensor<8x4x3x3xf32>) outs(%e : tensor<8x3x3x4xf32>) permutation = [0, 2, 3, 1]
  %m = linalg.generic {indexing_maps = [#id, #k, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t, %s : tensor<8x3x3x4xf32>, tensor<8xf32>) outs(%e : tensor<8x3x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8x3x3x4xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %m : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x7x7x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x7x7x8xf32>
}
func.func @scaled(%x: tensor<1x9x9x4xf32>, %w: tensor<8x3x3x4xf32> {tracea.constant}, %s: f32, %d: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  %e = tensor.empty() : tensor<8x3x3x4xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w : tensor<8x3x3x4xf32>) outs(%e : tensor<8x3x3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %s : f32
    linalg.yield %p : f32
  } -> tensor<8x3x3x4xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %m : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x7x7x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x7x7x8xf32>
}
}

// -----

// Filters of groups and of narrow elements are staged.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
// CHECK-LABEL: func.func @staged(
// CHECK-NOT:     tensor.empty
// CHECK:       tracea_pipe.kernel
module attributes {tracea.target = #cpu} {
func.func @staged(%x: tensor<1x9x9x8xf32>, %g: tensor<16x3x3x4xf32> {tracea.constant}, %d: tensor<1x7x7x16xf32>,
                  %h: tensor<1x9x9x8xbf16>, %b: tensor<16x3x3x8xbf16> {tracea.constant}) -> (tensor<1x7x7x16xf32>, tensor<1x7x7x16xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc groups 2 ins(%x, %g : tensor<1x9x9x8xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x7x7x16xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8]>
  %1 = tracea.conv2d layout nhwc filter krsc ins(%h, %b : tensor<1x9x9x8xbf16>, tensor<16x3x3x8xbf16>) outs(%d : tensor<1x7x7x16xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8]>
  return %0, %1 : tensor<1x7x7x16xf32>, tensor<1x7x7x16xf32>
}
}

// -----

// With channels first panels have the filters of a register tile's rows: a multiply has columns of
// one as its left operand.
// CHECK-DAG:   #[[TURNED:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0, 0, d1, d0)>
// CHECK-LABEL: func.func @channels_first(
// CHECK:         tracea_pipe.launch @conv2d_0 ins(%{{.*}} : tensor<10x12x3x3xf32>) outs(%{{.*}} : tensor<3x3x3x12x4xf32>)
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<1x12x6x16xf32>, %[[F:[a-z0-9]+]]: memref<3x3x3x12x4xf32>
// CHECK-NOT:     tracea_pipe.stage %[[F]]
// CHECK:         %[[A:.*]] = tracea_pipe.view %[[F]][%{{.*}}, %{{.*}}, %{{.*}}, %c0, %c0] map #[[TURNED]] : memref<3x3x3x12x4xf32> -> memref<4x12xf32, strided<[1, 4], offset: ?>>
// CHECK:         tracea_pipe.mma %[[A]], %{{.*}} depth(%c12) : memref<4x12xf32, strided<[1, 4], offset: ?>>, tensor<12x8xf32, #tracea_pipe.staged>
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @channels_first(%x: tensor<1x12x6x16xf32>, %w: tensor<10x12x3x3xf32> {tracea.constant}, %d: tensor<1x10x4x14xf32>) -> tensor<1x10x4x14xf32> {
  %0 = tracea.conv2d layout nchw filter kcrs ins(%x, %w : tensor<1x12x6x16xf32>, tensor<10x12x3x3xf32>) outs(%d : tensor<1x10x4x14xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 16, 12, 12], registers = [4, 8]>
  return %0 : tensor<1x10x4x14xf32>
}
}

// -----

// So are the weights of a depthwise convolution: a register tile loads those of its 8 channels.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
// CHECK-LABEL: func.func @depthwise(
// CHECK:         tensor.empty() : tensor<2x3x3x1x8xf32>
// CHECK:       tracea_pipe.kernel @conv2d_1(%{{.*}}: memref<1x9x9x12xf32>, %[[P:.*]]: memref<2x3x3x1x8xf32>
// CHECK:         tracea_pipe.stage %
// CHECK-NOT:     tracea_pipe.stage %
// CHECK:         %[[PANEL:.*]] = arith.divui %{{.*}}, %c8
// CHECK:         tracea_pipe.load %[[P]][%[[PANEL]], %{{.*}}, %c0, %c0, %c0]
module attributes {tracea.target = #cpu} {
func.func @depthwise(%x: tensor<1x9x9x12xf32>, %w: tensor<12x3x3x1xf32> {tracea.constant}, %d: tensor<1x7x7x12xf32>) -> tensor<1x7x7x12xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc groups 12 ins(%x, %w : tensor<1x9x9x12xf32>, tensor<12x3x3x1xf32>) outs(%d : tensor<1x7x7x12xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8]>
  return %0 : tensor<1x7x7x12xf32>
}
}

// -----

// Filters that are smaller than the patch are read for each of its register tiles.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
// CHECK-LABEL: func.func @small(
// CHECK:       tracea_pipe.kernel @conv2d_1(
// CHECK:         tracea_pipe.stage
// CHECK:         scf.for %{{.*}} = %c0 to %{{.*}} step %c1 {
// CHECK:         scf.for %{{.*}} = %c0 to %{{.*}} step %c4 {
// CHECK:         scf.for %[[K:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:         %[[FILTER:.*]] = arith.addi %{{.*}}, %[[K]]
// CHECK:         arith.divui %[[FILTER]], %c8
module attributes {tracea.target = #cpu} {
func.func @small(%x: tensor<1x29x29x4xf32>, %w: tensor<16x3x3x4xf32> {tracea.constant}, %d: tensor<1x27x27x16xf32>) -> tensor<1x27x27x16xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x29x29x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x27x27x16xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [8, 28, 16, 4], registers = [4, 8]>
  return %0 : tensor<1x27x27x16xf32>
}
}

// -----

// Rows of taps that see nothing but the border are left out where all weights are finite: a number beside the
// filter is 3 rows or none. The first row is 1 - 2p at most, the last before 9 + 1 - 2p at least.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
// CHECK-LABEL: func.func @border(
// CHECK-SAME:    %{{[^ ]*}}: tensor<1x9x9x4xf32>, %[[F:[^ ]*]]: tensor<8x3x3x4xf32>
// CHECK:         %[[ALL:.*]] = linalg.fill ins(%c3_i32 : i32)
// CHECK:         %[[N:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "reduction", "reduction", "reduction"]} ins(%[[F]] : tensor<8x3x3x4xf32>) outs(%[[ALL]] : tensor<i32>)
// CHECK:           %[[REST:.*]] = arith.subf %[[W:.*]], %[[W]] : f32
// CHECK:           %[[FINITE:.*]] = arith.cmpf oeq, %[[REST]], %{{.*}} : f32
// CHECK:           %[[SAYS:.*]] = arith.select %[[FINITE]], %c3_i32, %c0_i32 : i32
// CHECK:           arith.minsi %{{.*}}, %[[SAYS]] : i32
// CHECK:         tracea_pipe.launch @conv2d_1 ins(%{{.*}}, %{{.*}}, %[[N]] :
// Of a filter that changes from run to run all are added, and so are all of words beside the border.
// CHECK-LABEL: func.func @changing(
// CHECK-NOT:     reduction
// CHECK-LABEL: func.func @beside(
// CHECK:         reduction
// CHECK-LABEL: func.func @first(
// CHECK-NOT:     reduction
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK:         %[[MOST:.*]] = read %{{.*}}[] : memref<i32>
// CHECK:         tiles
// CHECK:           scf.for %{{.*}} = %c0 to %{{.*}} step %c8
// CHECK:           %[[TOP:.*]] = arith.muli %{{.*}}, %c2
// CHECK:           %[[ABOVE:.*]] = arith.subi %c1, %[[TOP]]
// CHECK:           %[[LESS:.*]] = arith.minsi %[[ABOVE]], %[[MOST]]
// CHECK:           %[[FIRST:.*]] = arith.maxsi %[[LESS]], %c0
// CHECK:           %[[INSIDE:.*]] = arith.subi %c10, %[[TOP]]
// CHECK:           %[[LEAST:.*]] = arith.subi %c3, %[[MOST]]
// CHECK:           %[[MORE:.*]] = arith.maxsi %[[INSIDE]], %[[LEAST]]
// CHECK:           %[[END:.*]] = arith.minsi %[[MORE]], %c3
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1
// CHECK:             scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK-NOT:         rows(
// Under a column of taps the first pixel may see the border, and the last one. The last tile of five
// pixels has one, which is all that it multiplies.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_4(
// CHECK:         %[[MOST:.*]] = read %{{.*}}[] : memref<i32>
// CHECK:           scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK:             scf.for %[[S:.*]] = %c0 to %c3 step %c1
// CHECK:               tracea_pipe.view
// CHECK:               tracea_pipe.view
// CHECK:               %[[PIXELS:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK:               %[[LEFT:.*]] = arith.addi %{{.*}}, %[[S]]
// CHECK:               %[[FROM:.*]] = arith.subi %c1, %[[LEFT]]
// CHECK:               %[[OUTSIDE:.*]] = arith.ceildivsi %[[FROM]], %c2
// CHECK:               %[[LESS:.*]] = arith.minsi %[[OUTSIDE]], %[[MOST]]
// CHECK:               %[[FIRST:.*]] = arith.maxsi %[[LESS]], %c0
// CHECK:               %[[REST:.*]] = arith.subi %c10, %[[LEFT]]
// CHECK:               %[[SEEN:.*]] = arith.ceildivsi %[[REST]], %c2
// CHECK:               %[[BEHIND:.*]] = arith.subi %c4, %[[PIXELS]]
// CHECK:               %[[SOME:.*]] = arith.maxsi %[[BEHIND]], %c0
// CHECK:               %[[ALL:.*]] = arith.muli %[[SOME]], %c4
// CHECK:               %[[INSIDE:.*]] = arith.addi %[[SEEN]], %[[ALL]]
// CHECK:               %[[LEAST:.*]] = arith.subi %c4, %[[MOST]]
// CHECK:               %[[MORE:.*]] = arith.maxsi %[[INSIDE]], %[[LEAST]]
// CHECK:               %[[MOSTLY:.*]] = arith.minsi %[[MORE]], %c4
// CHECK:               %[[END:.*]] = arith.minsi %[[MOSTLY]], %[[PIXELS]]
// CHECK:               tracea_pipe.prefetch
// CHECK:               tracea_pipe.mma %{{.*}} rows(%[[FIRST]], %[[END]]) spans [1, 4, 0, 1]
module attributes {tracea.target = #cpu} {
func.func @border(%x: tensor<1x9x9x4xf32>, %w: tensor<8x3x3x4xf32> {tracea.constant}, %d: tensor<1x5x4x8xf32>) -> tensor<1x5x4x8xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 0, 1, 0] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x5x4x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [5, 4, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x5x4x8xf32>
}
func.func @changing(%x: tensor<1x9x9x4xf32>, %w: tensor<8x3x3x4xf32>, %d: tensor<1x5x4x8xf32>) -> tensor<1x5x4x8xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 0, 1, 0] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x5x4x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [5, 4, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x5x4x8xf32>
}
func.func @beside(%x: tensor<1x9x9x4xf32>, %w: tensor<8x3x3x4xf32> {tracea.constant}, %d: tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [0, 1, 0, 1] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x4x5x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [4, 8, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x4x5x8xf32>
}
func.func @first(%x: tensor<1x4x9x9xf32>, %w: tensor<8x4x3x3xf32> {tracea.constant}, %d: tensor<1x8x4x5xf32>) -> tensor<1x8x4x5xf32> {
  %0 = tracea.conv2d layout nchw filter kcrs strides [2, 2] pads [0, 1, 0, 1] ins(%x, %w : tensor<1x4x9x9xf32>, tensor<8x4x3x3xf32>) outs(%d : tensor<1x8x4x5xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [4, 8, 4, 4], registers = [4, 8]>
  return %0 : tensor<1x8x4x5xf32>
}
}

// -----

// The last of 101 pixels fills a quarter of a tile: code of its own would save less than 3 %. That of
// 61 does.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-NOT:     rows(
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK:         rows({{.*}}) spans [0, 1]
module attributes {tracea.target = #cpu} {
func.func @seldom(%x: tensor<1x3x103x4xf32>, %w: tensor<8x3x3x4xf32>, %d: tensor<1x1x101x8xf32>) -> tensor<1x1x101x8xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x3x103x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x1x101x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [1, 104, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x1x101x8xf32>
}
func.func @often(%x: tensor<1x3x63x4xf32>, %w: tensor<8x3x3x4xf32>, %d: tensor<1x1x61x8xf32>) -> tensor<1x1x61x8xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x3x63x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x1x61x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [1, 64, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x1x61x8xf32>
}
}
