// Convolutions by warpgroups: bulk copies walk through pixels, and the result's pixels are one row, so that a tile of
// it is one of a matrix.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

// A pixel of the row is taken apart in the definition. What the epilogue reads of each pixel is joined as well.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d2 floordiv 56, (d2 floordiv 7 - (d2 floordiv 56) * 8) * 2 + d4 - 1, (d2 mod 7) * 2 + d5 - 1, d6)>
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2, d2 * 2, d3)>
// CHECK-DAG: #[[MATRIX:.*]] = affine_map<(d0, d1) -> (0, 0, d0, d1)>
// CHECK-LABEL: func.func @joined
// CHECK: %[[IMAGES:.*]] = tensor.dim %arg4, %c0
// CHECK: cf.assert {{.*}} "tracea.conv2d: expected operands of the epilogue to have the result's extents"
// CHECK: %[[NEW:.*]] = tensor.empty(%[[IMAGES]]) : tensor<?x8x7x64xbf16>
// CHECK: %[[NEW_FLAT:.*]] = tensor.collapse_shape %[[NEW]] {{\[\[}}0, 1, 2], [3]]
// CHECK: %[[EMPTY:.*]] = tensor.expand_shape %[[NEW_FLAT]] {{\[\[}}0, 1, 2], [3]] {{.*}} into tensor<1x1x?x64xbf16>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg3 {{\[\[}}0, 1, 2], [3]] : tensor<?x8x7x64xbf16> into tensor<?x64xbf16>
// CHECK: %[[SKIP:.*]] = tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1, 2], [3]] {{.*}} into tensor<1x1x?x64xbf16>
// CHECK: %[[OUT:.*]] = tracea_pipe.launch @conv2d_0 ins(%{{.*}}, %{{.*}}, %{{.*}}, %[[SKIP]] : {{.*}}) outs(%[[EMPTY]] :
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %[[OUT]] {{\[\[}}0, 1, 2], [3]]
// CHECK: tensor.expand_shape %[[ROW]] {{\[\[}}0, 1, 2], [3]] output_shape [%[[IMAGES]], 8, 7, 64]
// CHECK: tracea_pipe.kernel @conv2d_0(%arg0: memref<?x15x13x128xbf16> {tracea_pipe.aligned = 16 : i64}
// CHECK-SAME: maps = [#[[READ]],
// CHECK: %[[WALK:.*]] = tracea_pipe.delinearize %[[M:.*]] into(%c8, %c7)
// CHECK: scf.for %{{.*}} = %c0 to %c18 step
// CHECK: tracea_pipe.stage %arg0[%c0, %{{.*}}] map #[[IMAGE]] along [0](%[[WALK]] : {{.*}}) padded [0, 1, 2, 3] slots 3 : memref<?x15x13x128xbf16> -> tensor<128x64xbf16,
// CHECK: tracea_pipe.load %arg3[%c0, %c0, %[[M]], %{{.*}}] map #[[MATRIX]] limits
// CHECK: tracea_pipe.store %{{.*}}, %arg4[%c0, %c0, %[[M]], %{{.*}}] map #[[MATRIX]] limits
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @joined(%x: tensor<?x15x13x128xbf16>, %w: tensor<64x3x3x128xbf16>, %b: tensor<64xbf16>, %s: tensor<?x8x7x64xbf16>, %d: tensor<?x8x7x64xbf16>) -> tensor<?x8x7x64xbf16> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<?x15x13x128xbf16>, tensor<64x3x3x128xbf16>) outs(%d : tensor<?x8x7x64xbf16>)
         schedule <variant = "conv2d.warpgroup", unit = wgmma, tile = [128, 64, 64], slots = 3, producers = 1, consumers = 2, group = 8>
         epilogue(%b by affine_map<(n, p, q, k) -> (k)>, %s by affine_map<(n, p, q, k) -> (n, p, q, k)> : tensor<64xbf16>, tensor<?x8x7x64xbf16>) {
    ^bb0(%sum: f32, %bias: bf16, %skip: bf16):
      %1 = arith.extf %bias : bf16 to f32
      %2 = arith.extf %skip : bf16 to f32
      %3 = arith.addf %sum, %1 : f32
      %4 = arith.addf %3, %2 : f32
      %5 = arith.truncf %4 : f32 to bf16
      tracea.yield %5 : bf16
    }
  return %0 : tensor<?x8x7x64xbf16>
}
}

// -----

// What is read once an image has no row of all pixels: the result keeps its dimensions, also in parts.
// CHECK-DAG: #[[PART:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d0, d1, d2, d3)>
// CHECK-LABEL: func.func @of_images
// CHECK: %[[PARTS:.*]] = tracea_pipe.launch @conv2d_0 {{.*}} -> tensor<2x2x14x14x64xf32>
// CHECK: tracea_pipe.launch @conv2d_1 ins(%[[PARTS]], %{{.*}} : tensor<2x2x14x14x64xf32>, tensor<2x64xbf16>)
// CHECK: tracea_pipe.kernel @conv2d_0(
// CHECK: tracea_pipe.store %{{.*}}, %arg2[%[[P:.*]], %c0, %c0, %c0, %{{.*}}] map #[[PART]] along [0](
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @of_images(%x: tensor<2x14x14x128xbf16>, %w: tensor<64x3x3x128xbf16>, %b: tensor<2x64xbf16>, %d: tensor<2x14x14x64xbf16>) -> tensor<2x14x14x64xbf16> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
         ins(%x, %w : tensor<2x14x14x128xbf16>, tensor<64x3x3x128xbf16>) outs(%d : tensor<2x14x14x64xbf16>)
         schedule <variant = "conv2d.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 3, producers = 1, consumers = 1, split = 2>
         epilogue(%b by affine_map<(n, p, q, k) -> (n, k)> : tensor<2x64xbf16>) {
    ^bb0(%sum: f32, %bias: bf16):
      %1 = arith.extf %bias : bf16 to f32
      %2 = arith.addf %sum, %1 : f32
      %3 = arith.truncf %2 : f32 to bf16
      tracea.yield %3 : bf16
    }
  return %0 : tensor<2x14x14x64xbf16>
}
}

// -----

// Rows of 67 channels are padded, in the filter too, once for all taps.
// CHECK-LABEL: func.func @padded
// CHECK: %[[X:.*]] = tracea_pipe.launch @conv2d_0 ins(%{{.*}} : tensor<2x9x9x67xbf16>) {{.*}} -> tensor<2x9x9x72xbf16>
// CHECK: %[[W:.*]] = tracea_pipe.launch @conv2d_1 ins(%{{.*}} : tensor<64x3x3x67xbf16>) {{.*}} -> tensor<64x3x3x72xbf16>
// CHECK: tracea_pipe.launch @conv2d_2 ins(%[[X]], %[[W]] :
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @padded(%x: tensor<2x9x9x67xbf16>, %w: tensor<64x3x3x67xbf16>, %d: tensor<2x9x9x64xbf16>) -> tensor<2x9x9x64xbf16> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
         ins(%x, %w : tensor<2x9x9x67xbf16>, tensor<64x3x3x67xbf16>) outs(%d : tensor<2x9x9x64xbf16>)
         schedule <variant = "conv2d.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 3, producers = 1, consumers = 1>
  return %0 : tensor<2x9x9x64xbf16>
}
}

// -----

// Of a single row all pixels are in it.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (0, d4 - 1, d2 + d5, d6)>
// CHECK-LABEL: func.func @one_row
// CHECK: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME: maps = [#[[ROW]],
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @one_row(%x: tensor<1x2x21x64xf16>, %w: tensor<64x3x1x64xf16>, %d: tensor<1x1x21x64xf16>) -> tensor<1x1x21x64xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 0, 0, 0]
         ins(%x, %w : tensor<1x2x21x64xf16>, tensor<64x3x1x64xf16>) outs(%d : tensor<1x1x21x64xf16>)
         schedule <variant = "conv2d.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 4, producers = 1, consumers = 1, group = 16>
  return %0 : tensor<1x1x21x64xf16>
}
}
