// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%x: tensor<2x32x8x8xi8>, %w: tensor<32x1x1x32xi8>, %d: tensor<2x32x8x8xi32>) -> tensor<2x32x8x8xi32> {
  // expected-error @below {{expects operands of 8 bits along k in memory for the variant 'conv2d.warp'}}
  %0 = tracea.conv2d layout nchw filter krsc ins(%x, %w : tensor<2x32x8x8xi8>, tensor<32x1x1x32xi8>) outs(%d : tensor<2x32x8x8xi32>)
    schedule <variant = "conv2d.warp", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32]>
  return %0 : tensor<2x32x8x8xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%x: tensor<2x8x8x32xf16>, %w: tensor<32x1x1x32xf16>, %d: tensor<2x8x8x32xf16>) -> tensor<2x8x8x32xf16> {
  // expected-error @below {{expects operands of f32 for the variant 'conv2d.tf32x3', found 'f16'}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x1x1x32xf16>) outs(%d : tensor<2x8x8x32xf16>)
    schedule <variant = "conv2d.tf32x3", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32]>
  return %0 : tensor<2x8x8x32xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%x: tensor<2x8x8x32xf32>, %w: tensor<32x1x1x32xf32>, %d: tensor<2x8x8x32xf32>) -> tensor<2x8x8x32xf32> {
  // expected-error @below {{expects a schedule of variant 'conv2d.simt' with 3 extents of 'tile'}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<2x8x8x32xf32>, tensor<32x1x1x32xf32>) outs(%d : tensor<2x8x8x32xf32>)
    schedule <variant = "conv2d.simt", unit = vector, tile = [32, 32], registers = [4, 4]>
  return %0 : tensor<2x8x8x32xf32>
}
}
