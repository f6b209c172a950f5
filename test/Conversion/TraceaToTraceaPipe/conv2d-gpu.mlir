// Convolutions as contractions: rows of a tile are pixels, which a walk gives their coordinates once
// a tile, and a step is a tap with a block of channels.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s

// The image's channels are those of a group, so that a block ends where its group does; the
// definition has the group of a filter. A bias does not go along the walk, a residual does.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4 - 1, d2 * 2 + d5 - 1, d3 floordiv 32, d6)>
// CHECK-DAG: #[[FILTER_READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2, d2 * 2, 0, d3)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1) -> (d0, 0, 0, d1)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[EXCHANGED:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3, d0)>
// CHECK-LABEL: func.func @groups
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2], [3, 4]] output_shape [3, 15, 13, 2, 24]
// CHECK: tracea_pipe.launch @conv2d_0 else [@conv2d_1]
// CHECK-LABEL: func.func @point
// CHECK: cf.assert {{.*}} "tracea.conv2d: expected batch of image and result to be equal"

// The filter tells the channels of groups, whatever image and result are known to have; the run
// compares them first.
// CHECK-LABEL: func.func @any_channels
// CHECK: cf.assert {{.*}} "tracea.conv2d: expected output channels of filter and result to be equal"
// CHECK: cf.assert {{.*}} "tracea.conv2d: expected the channels of the image to be those of the filter in all groups"
// CHECK: %[[KNOWN:.*]] = tensor.cast %{{.*}} : tensor<3x15x13x?xf16> to tensor<3x15x13x48xf16>
// CHECK: tensor.expand_shape %[[KNOWN]] {{\[\[}}0], [1], [2], [3, 4]] output_shape [3, 15, 13, 2, 24]

// CHECK: tracea_pipe.kernel @conv2d_0({{.*}}definitions = [#tracea_pipe.definition<result = 4, factors = 2, operands = [0, 1, 2, 3], maps = [#[[READ]], #[[FILTER_READ]],
// CHECK: %[[PIXELS:.*]] = arith.constant 168 : index
// CHECK: tiles (%[[GROUP:.*]], %[[M:.*]], %{{.*}}) in (%c2, %c6, %c1)
// CHECK: %[[FIRST:.*]] = arith.muli %[[M]], %c32
// CHECK: %[[N:.*]] = arith.muli
// CHECK: %[[WALK:.*]] = tracea_pipe.delinearize %[[FIRST]] into(%c8, %c7)
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c9 step
// CHECK: %[[TAP:.*]] = arith.remui %[[STEP]], %c9
// CHECK: %[[R:.*]] = arith.divui %[[TAP]], %c3
// CHECK: %[[S:.*]] = arith.remui %[[TAP]], %c3
// CHECK: %[[BLOCK:.*]] = arith.divui %[[STEP]], %c9
// CHECK: %[[C:.*]] = arith.muli %[[BLOCK]], %c32
// CHECK: %[[TOP:.*]] = arith.subi %[[R]], %c1
// CHECK: %[[LEFT:.*]] = arith.subi %[[S]], %c1
// CHECK: %[[BEFORE:.*]] = arith.muli %[[GROUP]], %c32
// CHECK: %[[OUT:.*]] = arith.addi %[[BEFORE]], %[[N]]
// CHECK: tracea_pipe.stage %arg0[%c0, %[[TOP]], %[[LEFT]], %[[GROUP]], %[[C]]] map #[[IMAGE]] along [0](%[[WALK]] : {{.*}}) padded [0, 1, 2, 4] slots 3
// CHECK: tracea_pipe.stage %arg1[%[[OUT]], %[[R]], %[[S]], %[[C]]] map #[[FILTER]] padded [1, 2, 3] slots 3
// CHECK: tracea_pipe.load %arg2[%{{.*}}] map #[[BIAS]] limits(%c32, %{{.*}})
// CHECK: tracea_pipe.load %arg3[%c0, %c0, %c0, %{{.*}}] map #[[RESULT]] along [0](%[[WALK]] : {{.*}}) limits
// CHECK: tracea_pipe.store %{{.*}}, %arg4[%c0, %c0, %c0, %{{.*}}] map #[[RESULT]] along [0](%[[WALK]] : {{.*}}) limits

// A filter of one tap sees no border. Rows across channels: the walk is along columns.
// CHECK: tracea_pipe.kernel @conv2d_2(
// CHECK: %[[IMAGES:.*]] = memref.dim %arg2, %c0
// CHECK: arith.muli %[[IMAGES]], %c196
// CHECK: tracea_pipe.stage %arg0[%c0, %c0, %c0, %{{.*}}] map #[[EXCHANGED]] along [1](%{{.*}}) padded [0, 3] slots 2

// CHECK: tracea_pipe.kernel @conv2d_4(
// CHECK: tiles (%[[GROUP:.*]], %{{.*}}, %{{.*}}) in (%c2, %c19, %c1)
// CHECK: %[[BEFORE:.*]] = arith.muli %[[GROUP]], %c32
// CHECK: %[[OUT:.*]] = arith.addi %[[BEFORE]], %{{.*}}
// CHECK: tracea_pipe.stage %arg1[%[[OUT]],

// Of a result without pixels nothing is walked: no extent of the basis is 0.
// CHECK: tracea_pipe.kernel @conv2d_6(
// CHECK: tiles (%{{.*}}, %{{.*}}) in (%c0, %c1)
// CHECK: tracea_pipe.delinearize %{{.*}} into(%c1, %c6)

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @groups(%x: tensor<3x15x13x48xf16>, %w: tensor<64x3x3x24xf16>, %b: tensor<64xf16>, %s: tensor<3x8x7x64xf16>, %d: tensor<3x8x7x64xf16>) -> tensor<3x8x7x64xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] groups 2
         ins(%x, %w : tensor<3x15x13x48xf16>, tensor<64x3x3x24xf16>) outs(%d : tensor<3x8x7x64xf16>)
         schedule <variant = "conv2d.warp", unit = mma_sync, tile = [32, 32, 32], registers = [16, 16], slots = 3>
         epilogue(%b by affine_map<(n, p, q, k) -> (k)>, %s by affine_map<(n, p, q, k) -> (n, p, q, k)> : tensor<64xf16>, tensor<3x8x7x64xf16>) {
    ^bb0(%sum: f32, %bias: f16, %skip: f16):
      %1 = arith.extf %bias : f16 to f32
      %2 = arith.extf %skip : f16 to f32
      %3 = arith.addf %sum, %1 : f32
      %4 = arith.addf %3, %2 : f32
      %5 = arith.truncf %4 : f32 to f16
      tracea.yield %5 : f16
    }
  return %0 : tensor<3x8x7x64xf16>
}
func.func @point(%x: tensor<?x14x14x64xf32>, %w: tensor<32x1x1x64xf32>, %d: tensor<?x14x14x32xf32>) -> tensor<?x14x14x32xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<?x14x14x64xf32>, tensor<32x1x1x64xf32>) outs(%d : tensor<?x14x14x32xf32>)
         schedule <variant = "conv2d.simt", unit = vector, tile = [32, 32, 16], registers = [4, 4], slots = 2>
  return %0 : tensor<?x14x14x32xf32>
}
func.func @any_channels(%x: tensor<3x15x13x?xf16>, %w: tensor<64x3x3x24xf16>, %d: tensor<3x15x13x?xf16>) -> tensor<3x15x13x?xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [1, 1] pads [1, 1, 1, 1] groups 2
         ins(%x, %w : tensor<3x15x13x?xf16>, tensor<64x3x3x24xf16>) outs(%d : tensor<3x15x13x?xf16>)
         schedule <variant = "conv2d.warp", unit = mma_sync, tile = [32, 32, 32], registers = [16, 16], slots = 3>
  return %0 : tensor<3x15x13x?xf16>
}
func.func @no_pixels(%x: tensor<1x2x4x64xf16>, %w: tensor<32x3x1x64xf16>, %d: tensor<1x0x6x32xf16>) -> tensor<1x0x6x32xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] dilations [2, 1]
         ins(%x, %w : tensor<1x2x4x64xf16>, tensor<32x3x1x64xf16>) outs(%d : tensor<1x0x6x32xf16>)
         schedule <variant = "conv2d.warp", unit = mma_sync, tile = [32, 32, 32], registers = [16, 16], slots = 3>
  return %0 : tensor<1x0x6x32xf16>
}
// A kernel of parts knows how many filters there are by the tensor of its parts.
// CHECK: tracea_pipe.kernel @conv2d_7({{.*}}, %[[PARTS:.*]]: memref<2x2x7x7x?xf32> {{.*}}) attributes
// CHECK: %[[FILTERS:.*]] = memref.dim %[[PARTS]], %c4
// CHECK: arith.ceildivsi %[[FILTERS]], %c32
func.func @parts(%x: tensor<2x9x9x64xf16>, %w: tensor<?x3x3x64xf16>, %d: tensor<2x7x7x?xf16>) -> tensor<2x7x7x?xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<2x9x9x64xf16>, tensor<?x3x3x64xf16>) outs(%d : tensor<2x7x7x?xf16>)
         schedule <variant = "conv2d.warp", unit = mma_sync, tile = [32, 32, 32], registers = [16, 16], slots = 3, split = 2>
  return %0 : tensor<2x7x7x?xf16>
}
}
