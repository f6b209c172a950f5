// What a schedule of 'conv2d.lanes' must say for the lowering to follow it.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>} {
func.func @groups(%x: tensor<2x8x8x32xf16>, %w: tensor<32x3x3x2xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  // expected-error @below {{expects channels last and one filter of known height and width for each of them for the variant 'conv2d.lanes', found 'tensor<32x3x3x2xf16>' in 16 groups}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 16 ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x3x3x2xf16>) outs(%d : tensor<2x6x6x32xf16>)
    schedule <variant = "conv2d.lanes", unit = vector, tile = [8, 8, 32], registers = [8, 8]>
  return %0 : tensor<2x6x6x32xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>} {
func.func @planes(%x: tensor<2x32x8x8xf16>, %w: tensor<32x1x3x3xf16>, %d: tensor<2x32x6x6xf16>) -> tensor<2x32x6x6xf16> {
  // expected-error @below {{expects channels last and one filter}}
  %0 = tracea.conv2d layout nchw filter kcrs groups 32 ins(%x, %w : tensor<2x32x8x8xf16>, tensor<32x1x3x3xf16>) outs(%d : tensor<2x32x6x6xf16>)
    schedule <variant = "conv2d.lanes", unit = vector, tile = [8, 8, 32], registers = [8, 8]>
  return %0 : tensor<2x32x6x6xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>} {
func.func @few(%x: tensor<2x8x8x32xf16>, %w: tensor<32x3x3x1xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  // expected-error @below {{that takes 1 to 32 warps for the variant 'conv2d.lanes', found}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 32 ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x3x3x1xf16>) outs(%d : tensor<2x6x6x32xf16>)
    schedule <variant = "conv2d.lanes", unit = vector, tile = [4, 8, 32], registers = [8, 8]>
  return %0 : tensor<2x6x6x32xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>} {
func.func @unit(%x: tensor<2x8x8x32xf16>, %w: tensor<32x3x3x1xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  // expected-error @below {{expects the unit 'vector' for the variant 'conv2d.lanes'}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 32 ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x3x3x1xf16>) outs(%d : tensor<2x6x6x32xf16>)
    schedule <variant = "conv2d.lanes", unit = mma_sync, tile = [8, 8, 32], registers = [8, 8]>
  return %0 : tensor<2x6x6x32xf16>
}
}
