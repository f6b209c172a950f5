// Convolutions as implicit matrix products: one patch of the image, bordered with
// zeros, serves all taps of the filter through views.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

// NHWC: rows of the register tile are pixels, its lanes output channels.
// CHECK-DAG:   #[[TILE:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 4], [1, 0], [2, 0]], lane = {{\[\[}}0, 1], [0, 2]], outer = [1, 1]>
// CHECK-DAG:   #[[PATCH:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0, d1, d2)>
// CHECK-DAG:   #[[WINDOW:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0 * 2, d1)>
// CHECK-DAG:   #[[RESULT:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0, d0, d1)>
// The grid: batch, groups, ceil(8 / 8) output channels, ceil(5 / 2) rows, ceil(5 / 4)
// columns.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<2x9x9x6xbf16>, %[[F:[a-z0-9]+]]: memref<3x3x6x8xbf16>, %[[D:[a-z0-9]+]]: memref<2x5x5x8xbf16>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         tiles (%[[N:.*]], %{{.*}}, %{{.*}}, %[[P:.*]], %[[Q:.*]]) in (%c2, %c1, %c1, %c3, %c2)
// Six channels in blocks of four, a bf16 result: sums rest in a scratch tile.
// CHECK:           %[[S:.*]] = tracea_pipe.scratch : memref<2x4x8xf32, #tracea_pipe.staged>
// CHECK:           scf.for %[[C:.*]] = %[[C0]] to %c6 step %c4 {
// CHECK-DAG:         %[[FIRST:.*]] = arith.cmpi eq, %[[C]], %[[C0]]
// The patch begins one row and one column before tile * 2 * stride: the border.
// Height and width are padded. It has (2 - 1) * 2 + 3 rows, (4 - 1) * 2 + 3 columns.
// CHECK-DAG:         %[[PS:.*]] = arith.muli %[[P]], %c4
// CHECK-DAG:         %[[TOP:.*]] = arith.subi %[[PS]], %c1
// CHECK-DAG:         %[[QS:.*]] = arith.muli %[[Q]], %c8
// CHECK-DAG:         %[[LEFT:.*]] = arith.subi %[[QS]], %c1
// CHECK:             %[[IMAGE:.*]] = tracea_pipe.stage %[[X]][%[[N]], %[[TOP]], %[[LEFT]], %{{.*}}] map #[[PATCH]] limits(%{{.*}}, %{{.*}}, %[[LEN:.*]]) padded [1, 2] : memref<2x9x9x6xbf16> -> tensor<5x9x4xf32, #tracea_pipe.staged>
// CHECK:             scf.for
// The filter of one register tile's channels: all taps, a block of channels; output
// channels past the end are zero.
// CHECK:               %[[TAPS:.*]] = tracea_pipe.stage %[[F]][%[[C0]], %[[C0]], %[[C]], %{{.*}}] map #{{.*}} limits(%c3, %c3, %[[LEN]], %c8) padded [3] : memref<3x3x6x8xbf16> -> tensor<3x3x4x8xf32, #tracea_pipe.staged>
// CHECK:               scf.for %[[R:.*]] = %[[C0]] to %c3 step %c1 iter_args
// CHECK:                 scf.for %[[T:.*]] = %[[C0]] to %c3 step %c1 iter_args
// CHECK:                   %[[A:.*]] = tracea_pipe.view %[[IMAGE]][%{{.*}}, %{{.*}}, %[[C0]]] map #[[WINDOW]] : {{.*}} -> tensor<4x4xf32, #tracea_pipe.staged>
// CHECK:                   %[[B:.*]] = tracea_pipe.view %[[TAPS]][%{{.*}}, %{{.*}}, %[[C0]], %[[C0]]] {{.*}} -> tensor<4x8xf32, #tracea_pipe.staged>
// CHECK:                   tracea_pipe.mma %[[A]], %[[B]], %{{.*}} depth(%[[LEN]])
// CHECK:               scf.if %[[FIRST]]
// CHECK:                 tracea_pipe.load %[[S]]
// CHECK:               tracea_pipe.store %{{.*}}, %[[D]][%[[N]], {{.*}}] map #[[RESULT]] limits
// CHECK:               tracea_pipe.store %{{.*}}, %[[S]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @nhwc(%x: tensor<2x9x9x6xbf16>, %w: tensor<3x3x6x8xbf16>, %d: tensor<2x5x5x8xbf16>) -> tensor<2x5x5x8xbf16> {
  %0 = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<2x9x9x6xbf16>, tensor<3x3x6x8xbf16>) outs(%d : tensor<2x5x5x8xbf16>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8]>
  return %0 : tensor<2x5x5x8xbf16>
}
}

// -----

// NCHW: lanes lie along pixels, rows of the register tile are output channels, and
// the filter is the left operand. The patch's columns are split by their remainder
// modulo the stride, so that neighbouring pixels of one tap are neighbours in it:
// column = w * 2 + remainder.
// CHECK-DAG:   #[[TILE:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}1, 0]], lane = {{\[\[}}0, 1], [0, 2]], outer = [1, 1]>
// CHECK-DAG:   #[[PATCH:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (0, d1, d0, d3 * 2 + d2)>
// CHECK-DAG:   #[[WINDOW:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0, 0, d1)>
// CHECK-DAG:   #[[FILTER:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0, d1, d0)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x8x9x9xf32>
// Two groups in the grid; all channels of a group at once: no scratch.
// CHECK:         tiles (%[[N:.*]], %[[G:.*]], %{{.*}}, %{{.*}}, %{{.*}}) in (%c1, %c2, %c1, %c2, %c1)
// CHECK-NOT:       tracea_pipe.scratch
// The group's first channel of the image.
// CHECK:           %[[GC:.*]] = arith.muli %[[G]], %c4
// CHECK:           %[[IMAGE:.*]] = tracea_pipe.stage %[[X]][%[[N]], %[[GC]], %{{.*}}, %{{.*}}] map #[[PATCH]] limits(%{{.*}}, %c4, %c2, %{{.*}}) padded [2, 3] : memref<1x8x9x9xf32> -> tensor<5x4x2x5xf32, #tracea_pipe.staged>
// CHECK:           %[[TAPS:.*]] = tracea_pipe.stage %{{.*}} padded [0] : memref<4x4x3x3xf32> -> tensor<3x3x4x2xf32, #tracea_pipe.staged>
// CHECK:           scf.for %[[S:[a-z0-9]+]] = %c0 to %c3 step %c1 iter_args(%{{.*}} = %{{.*}}) -> (tensor<2x4xf32, #[[TILE]]>) {
// CHECK:           scf.for %[[S:[a-z0-9]+]] = %c0 to %c3
// CHECK-DAG:         %[[REM:.*]] = arith.remui %[[S]], %c2
// CHECK-DAG:         %[[QUOT:.*]] = arith.divui %[[S]], %c2
// CHECK-DAG:         %[[W:.*]] = arith.addi %{{.*}}, %[[QUOT]]
// CHECK:             %[[B:.*]] = tracea_pipe.view %[[IMAGE]][%{{.*}}, %c0, %[[REM]], %[[W]]] map #[[WINDOW]] : {{.*}} -> tensor<4x4xf32, #tracea_pipe.staged>
// CHECK:             %[[A:.*]] = tracea_pipe.view %[[TAPS]]{{.*}} map #[[FILTER]] : {{.*}} -> tensor<2x4xf32, #tracea_pipe.staged>
// CHECK:             tracea_pipe.mma %[[A]], %[[B]], %{{.*}} depth(%c4) : {{.*}}, tensor<2x4xf32, #[[TILE]]>
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @nchw(%x: tensor<1x8x9x9xf32>, %w: tensor<4x4x3x3xf32>, %d: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = tracea.conv2d layout nchw filter kcrs strides [2, 2] groups 2
         ins(%x, %w : tensor<1x8x9x9xf32>, tensor<4x4x3x3xf32>) outs(%d : tensor<1x4x4x4xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 2, 4], registers = [2, 4]>
  return %0 : tensor<1x4x4x4xf32>
}
}

// -----

// Dilation spreads the taps; the patch grows with it: (4 - 1) + (3 - 1) * 2 + 1.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0
// CHECK:         tracea_pipe.stage {{.*}} -> tensor<5x8x4xf32, #tracea_pipe.staged>
// CHECK:         scf.for %[[R:[a-z0-9]+]] = %c0 to %c3 step %c1 iter_args
// CHECK:           scf.for %[[S:[a-z0-9]+]] = %c0 to %c3 step %c1 iter_args
// CHECK-DAG:         %[[RD:.*]] = arith.muli %[[R]], %c2
// CHECK-DAG:         %[[SD:.*]] = arith.muli %[[S]], %c2
// CHECK-DAG:         %[[H:.*]] = arith.addi %{{.*}}, %[[RD]]
// CHECK-DAG:         %[[W:.*]] = arith.addi %{{.*}}, %[[SD]]
// CHECK:             tracea_pipe.view %{{.*}}[%[[H]], %[[W]], %c0]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @dilated(%x: tensor<1x9x9x4xf32>, %w: tensor<3x3x4x8xf32>, %d: tensor<1x5x5x8xf32>) -> tensor<1x5x5x8xf32> {
  %0 = tracea.conv2d layout nhwc filter rsck dilations [2, 2]
         ins(%x, %w : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%d : tensor<1x5x5x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [1, 4, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x5x5x8xf32>
}
}

// -----

// A filter of one tap passes over what a stride leaves out: the patch of 4 x 8 pixels
// has 4 x 8 of the image, and neighbouring pixels are neighbours in it. Along a
// dimension of several taps it has all that lies between.
// CHECK-DAG:   #[[BOTH:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0 * 2, d1 * 3, d2)>
// CHECK-DAG:   #[[ROWS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0 * 2, d1, d2)>
// CHECK-DAG:   #[[NEXT:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0, d1)>
// CHECK-DAG:   #[[THIRD:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0 * 3, d1)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK:         tracea_pipe.stage %{{.*}} map #[[BOTH]] {{.*}} -> tensor<4x8x16xf32, #tracea_pipe.staged>
// CHECK:         tracea_pipe.view %{{.*}} map #[[NEXT]]
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK:         tracea_pipe.stage %{{.*}} map #[[ROWS]] {{.*}} -> tensor<4x23x16xf32, #tracea_pipe.staged>
// CHECK:         tracea_pipe.view %{{.*}} map #[[THIRD]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @one_tap(%x: tensor<1x16x32x16xf32>, %w: tensor<8x1x1x16xf32>, %v: tensor<8x1x2x16xf32>, %d: tensor<1x8x11x8xf32>) -> (tensor<1x8x11x8xf32>, tensor<1x8x11x8xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 3]
         ins(%x, %w : tensor<1x16x32x16xf32>, tensor<8x1x1x16xf32>) outs(%d : tensor<1x8x11x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [4, 8, 8, 16], registers = [4, 8]>
  %1 = tracea.conv2d layout nhwc filter krsc strides [2, 3] pads [0, 0, 0, 1]
         ins(%x, %v : tensor<1x16x32x16xf32>, tensor<8x1x2x16xf32>) outs(%d : tensor<1x8x11x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [4, 8, 8, 16], registers = [4, 8]>
  return %0, %1 : tensor<1x8x11x8xf32>, tensor<1x8x11x8xf32>
}
}

// -----

// What only the run knows is compared before the launch.
// CHECK-LABEL: func.func @dynamic
// CHECK-DAG:     cf.assert %{{.*}}, "tracea.conv2d: expected batch of image and result to be equal"
// CHECK-DAG:     cf.assert %{{.*}}, "tracea.conv2d: expected output channels of filter and result to be equal"
// CHECK:         tracea_pipe.launch
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @dynamic(%x: tensor<?x9x9x4xf32>, %w: tensor<3x3x4x?xf32>, %d: tensor<?x7x7x?xf32>) -> tensor<?x7x7x?xf32> {
  %0 = tracea.conv2d layout nhwc filter rsck
         ins(%x, %w : tensor<?x9x9x4xf32>, tensor<3x3x4x?xf32>) outs(%d : tensor<?x7x7x?xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [1, 4, 8, 4], registers = [4, 8]>
  return %0 : tensor<?x7x7x?xf32>
}
}

// -----

// Where no tap leaves the image its windows are multiplied where they lie: every other pixel, of
// which there are as many as the row has. Lines of the result are asked for before, and for each
// of the panels a share of the pixels of the next row. Panels of filters go by innermost.
// CHECK-DAG:   #[[PIXELS:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0, d0 * 2, d1)>
// CHECK-DAG:   #[[BELOW:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0, d1 * 2, d2)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x9x9x12xf32>, %[[F:[a-z0-9]+]]: memref<2x1x1x12x8xf32>, %[[D:[a-z0-9]+]]: memref<1x5x5x16xf32>
// CHECK-NOT:     tracea_pipe.stage
// CHECK:         scf.for %[[Q:.*]] = %c0 to %[[WIDTH:.*]] step %c4 {
// CHECK:         scf.for %[[K:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:         %[[LEFT:.*]] = arith.subi %[[WIDTH]], %[[Q]]
// CHECK:         %[[ROW:.*]] = arith.addi %[[H:.*]], %c1
// CHECK:         %[[NEXT:.*]] = arith.muli %[[ROW]], %c2
// CHECK:         %[[Z:.*]] = arith.muli %{{.*}}, %c2
// CHECK:         %[[REST:.*]] = arith.subi %c9, %[[NEXT]]
// CHECK:         %[[PANEL:.*]] = arith.divui %[[K]], %c8
// CHECK:         %[[SHARE:.*]] = arith.muli %[[PANEL]], %c4
// CHECK:         %[[PLACE:.*]] = arith.addi %[[Z]], %[[SHARE]]
// CHECK:         %[[Y:.*]] = arith.muli %[[H]], %c2
// CHECK:         %[[A:.*]] = tracea_pipe.view %[[X]][%{{.*}}, %[[Y]], %[[Z]], %{{.*}}] map #[[PIXELS]] : memref<1x9x9x12xf32> -> memref<4x12xf32, strided<[24, 1], offset: ?>>
// CHECK:         %[[B:.*]] = tracea_pipe.view %[[F]]
// CHECK:         tracea_pipe.prefetch %[[D]][%{{[^,]*}}, %[[H]], %{{.*}}] map #{{.*}} limits(%[[LEFT]], %{{.*}}) shape [4, 8] write
// CHECK:         tracea_pipe.prefetch %[[X]][%{{[^,]*}}, %[[NEXT]], %[[PLACE]], %{{[^,]*}}] map #[[BELOW]] limits(%[[REST]], %{{.*}}, %c12) shape [1, 2, 12] : memref
// CHECK:         tracea_pipe.mma %[[A]], %[[B]], %{{.*}} depth(%c12) spans [0, 1] limits(%[[LEFT]], %c8)
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @in_place(%x: tensor<1x9x9x12xf32>, %w: tensor<16x1x1x12xf32> {tracea.constant}, %d: tensor<1x5x5x16xf32>) -> tensor<1x5x5x16xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] ins(%x, %w : tensor<1x9x9x12xf32>, tensor<16x1x1x12xf32>) outs(%d : tensor<1x5x5x16xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 8, 16, 12], registers = [4, 8], staged = 0>
  return %0 : tensor<1x5x5x16xf32>
}
}

// -----

// Of panels that lie ready, come from beyond the second level and are read by four register tiles or
// more each of these asks for its share of the next one, and for one of the patch that follows in a
// row; by fewer for none.
// CHECK-DAG:   #[[PANEL:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x1x64x24xf32>, %[[F:[a-z0-9]+]]: memref<6x1x1x24x8xf32>
// CHECK:         %[[Q0:.*]] = arith.muli %{{.*}}, %c16
// CHECK:         scf.for %[[C:.*]] = %c0 to %c24 step %c12 {
// CHECK:         scf.for %[[Q:.*]] = %c0 to %{{.*}} step %c4 {
// CHECK:         %[[HERE:.*]] = arith.addi %[[Q0]], %[[Q]]
// CHECK:         %[[THERE:.*]] = arith.addi %[[HERE]], %c16
// CHECK:         %[[PIXEL:.*]] = arith.addi %[[THERE]], %{{.*}}
// CHECK:         %[[NEXT:.*]] = arith.addi %[[K:.*]], %c1
// CHECK:         %[[TILE:.*]] = arith.divui %[[Q]], %c4
// CHECK:         %[[NUMBER:.*]] = arith.addi %{{.*}}, %[[TILE]]
// CHECK:         %[[SHARE:.*]] = arith.muli %[[NUMBER]], %c3
// CHECK:         %[[FROM:.*]] = arith.addi %[[C]], %[[SHARE]]
// CHECK:         tracea_pipe.view %[[F]][%[[K]],
// CHECK:         tracea_pipe.prefetch %{{.*}} write : memref<1x1x64x48xf32>
// CHECK-NEXT:    tracea_pipe.prefetch %[[X]][%{{[^,]*}}, %{{[^,]*}}, %[[PIXEL]], %{{.*}} shape [1, 1, 12] level 2 : memref
// CHECK-NEXT:    tracea_pipe.prefetch %[[F]][%[[NEXT]], %c0, %c0, %[[FROM]], %c0] map #[[PANEL]] limits({{.*}}) shape [1, 1, 1, 3, 8] level 2 : memref
// CHECK-NEXT:    tracea_pipe.mma
// CHECK-LABEL: tracea_pipe.kernel @conv2d_3(
// CHECK-NOT:     tracea_pipe.prefetch {{.*}} : memref<6x1x1x24x8xf32>
// CHECK:         tracea_pipe.mma
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @next_panel(%x: tensor<1x1x64x24xf32>, %w: tensor<48x1x1x24xf32> {tracea.constant}, %d: tensor<1x1x64x48xf32>, %e: tensor<1x1x64x48xf32>) -> (tensor<1x1x64x48xf32>, tensor<1x1x64x48xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x1x64x24xf32>, tensor<48x1x1x24xf32>) outs(%d : tensor<1x1x64x48xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [1, 16, 48, 12], registers = [4, 8], prefetch = 1>
  %1 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x1x64x24xf32>, tensor<48x1x1x24xf32>) outs(%e : tensor<1x1x64x48xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [1, 16, 48, 12], registers = [4, 8]>
  return %0, %1 : tensor<1x1x64x48xf32>, tensor<1x1x64x48xf32>
}
}

// -----

// A residual is asked for as the result's lines are, where a sum is in one block; the bias, which
// all pixels share, is not, and neither is what is added after other blocks.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<1x5x5x12xf32>, %{{[a-z0-9]+}}: memref<16x1x1x12xf32>, %{{[a-z0-9]+}}: memref<16xf32>, %[[R:[a-z0-9]+]]: memref<1x5x5x16xf32>, %[[D:[a-z0-9]+]]: memref<1x5x5x16xf32>
// CHECK:         tracea_pipe.prefetch %[[D]][%[[N:.*]], %[[H:.*]], %[[W:.*]], %[[K:.*]]] map #[[TILE:.*]] limits(%[[LEFT:.*]], %[[FILTERS:.*]]) shape [4, 8] write
// CHECK-NEXT:    tracea_pipe.prefetch %[[R]][%[[N]], %[[H]], %[[W]], %[[K]]] map #[[TILE]] limits(%[[LEFT]], %[[FILTERS]]) shape [4, 8] : memref
// CHECK-NOT:     tracea_pipe.prefetch %{{.*}} : memref<16xf32>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK:         tracea_pipe.prefetch %{{.*}} write
// CHECK-NOT:     tracea_pipe.prefetch %{{.*}} : memref<1x5x5x16xf32>
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
#channel = affine_map<(n, h, w, k) -> (k)>
#element = affine_map<(n, h, w, k) -> (n, h, w, k)>
module attributes {tracea.target = #cpu} {
func.func @residual(%x: tensor<1x5x5x12xf32>, %w: tensor<16x1x1x12xf32>, %bias: tensor<16xf32>, %r: tensor<1x5x5x16xf32>, %d: tensor<1x5x5x16xf32>, %e: tensor<1x5x5x16xf32>) -> (tensor<1x5x5x16xf32>, tensor<1x5x5x16xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x5x5x12xf32>, tensor<16x1x1x12xf32>) outs(%d : tensor<1x5x5x16xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [1, 8, 16, 12], registers = [4, 8], staged = 0>
         epilogue(%bias by #channel, %r by #element : tensor<16xf32>, tensor<1x5x5x16xf32>) {
  ^bb0(%sum: f32, %b: f32, %in: f32):
    %s = arith.addf %sum, %b : f32
    %t = arith.addf %s, %in : f32
    tracea.yield %t : f32
  }
  %1 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x5x5x12xf32>, tensor<16x1x1x12xf32>) outs(%e : tensor<1x5x5x16xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [1, 8, 16, 8], registers = [4, 8], staged = 0>
         epilogue(%r by #element : tensor<1x5x5x16xf32>) {
  ^bb0(%sum: f32, %in: f32):
    %t = arith.addf %sum, %in : f32
    tracea.yield %t : f32
  }
  return %0, %1 : tensor<1x5x5x16xf32>, tensor<1x5x5x16xf32>
}
}

// -----

// Of one channel the taps of a row are what a multiply goes through: a patch of rows, and one
// window for each row of the filter, in which taps are two apart. So are they in place.
// CHECK-DAG:   #[[ROWS:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0, d1, 0)>
// CHECK-DAG:   #[[ALONG:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0 * 3 + d1 * 2)>
// CHECK-DAG:   #[[TAPS:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d2, d1)>
// CHECK-DAG:   #[[IMAGE:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0, d0 * 3 + d1 * 2, 0)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK:         %[[P:.*]] = tracea_pipe.stage %{{.*}} map #[[ROWS]] limits(%{{.*}}, %{{.*}}) padded [1, 2] : memref<1x9x32x1xf32> -> tensor<4x18xf32, #tracea_pipe.staged>
// CHECK:         %[[F:.*]] = tracea_pipe.stage %{{.*}} map #[[TAPS]] limits(%c3, %c1, %c5, %c8) padded [0] : memref<8x3x5x1xf32> -> tensor<3x1x5x8xf32, #tracea_pipe.staged>
// CHECK:         scf.for %{{.*}} = %c0 to %c3
// CHECK-NOT:     scf.for
// CHECK:           %[[A:.*]] = tracea_pipe.view %[[P]][%{{.*}}, %{{.*}}] map #[[ALONG]] : {{.*}} -> tensor<4x5xf32, #tracea_pipe.staged>
// CHECK:           %[[B:.*]] = tracea_pipe.view %[[F]][%{{.*}}, %c0, %c0, %c0] {{.*}} -> tensor<5x8xf32, #tracea_pipe.staged>
// CHECK:           tracea_pipe.mma %[[A]], %[[B]], %{{.*}} depth(%c5) :
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK:         tracea_pipe.view %{{.*}} map #[[IMAGE]] : memref<1x9x32x1xf32> -> memref<4x5xf32, strided<[3, 2], offset: ?>>
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @one_channel(%x: tensor<1x9x32x1xf32>, %w: tensor<8x3x5x1xf32>, %d: tensor<1x9x10x8xf32>, %e: tensor<1x7x8x8xf32>) -> (tensor<1x9x10x8xf32>, tensor<1x7x8x8xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc strides [1, 3] pads [1, 2, 1, 2] dilations [1, 2]
         ins(%x, %w : tensor<1x9x32x1xf32>, tensor<8x3x5x1xf32>) outs(%d : tensor<1x9x10x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 1], registers = [4, 8]>
  %1 = tracea.conv2d layout nhwc filter krsc strides [1, 3] dilations [1, 2]
         ins(%x, %w : tensor<1x9x32x1xf32>, tensor<8x3x5x1xf32>) outs(%e : tensor<1x7x8x8xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 1], registers = [4, 8], staged = 0>
  return %0, %1 : tensor<1x9x10x8xf32>, tensor<1x7x8x8xf32>
}
}
