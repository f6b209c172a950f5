// What a schedule of 'conv2d.groups' must say for the lowering to follow it.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>} {
func.func @channels(%x: tensor<2x8x8x32xf16>, %w: tensor<32x3x3x4xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  // expected-error @below {{expects rows of channels, and groups of 8 channels and filters of known height and width for the variant 'conv2d.groups', found 'tensor<32x3x3x4xf16>' in 8 groups}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 8 ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x3x3x4xf16>) outs(%d : tensor<2x6x6x32xf16>)
    schedule <variant = "conv2d.groups", unit = mma_sync, tile = [8, 32, 32], registers = [32, 8]>
  return %0 : tensor<2x6x6x32xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>} {
func.func @singles(%x: tensor<2x8x8x32xf32>, %w: tensor<32x3x3x8xf32>, %d: tensor<2x6x6x32xf32>) -> tensor<2x6x6x32xf32> {
  // expected-error @below {{expects operands of f16 or bf16 and sums in f32 for the variant 'conv2d.groups', found 'f32'}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 4 ins(%x, %w : tensor<2x8x8x32xf32>, tensor<32x3x3x8xf32>) outs(%d : tensor<2x6x6x32xf32>)
    schedule <variant = "conv2d.groups", unit = mma_sync, tile = [8, 32, 32], registers = [32, 8]>
  return %0 : tensor<2x6x6x32xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>} {
func.func @pixels(%x: tensor<2x8x8x32xf16>, %w: tensor<32x3x3x8xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  // expected-error @below {{expects 'registers' of a power of two of 16 pixels by 8 filters}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 4 ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x3x3x8xf16>) outs(%d : tensor<2x6x6x32xf16>)
    schedule <variant = "conv2d.groups", unit = mma_sync, tile = [8, 32, 32], registers = [24, 8]>
  return %0 : tensor<2x6x6x32xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>} {
func.func @unit(%x: tensor<2x8x8x32xf16>, %w: tensor<32x3x3x8xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  // expected-error @below {{expects the unit 'mma_sync' for the variant 'conv2d.groups'}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 4 ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x3x3x8xf16>) outs(%d : tensor<2x6x6x32xf16>)
    schedule <variant = "conv2d.groups", unit = vector, tile = [8, 32, 32], registers = [32, 8]>
  return %0 : tensor<2x6x6x32xf16>
}
}
