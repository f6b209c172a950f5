// Groups of channels along columns of memory, a dilation, a residual; by lanes.
// target: sm_75
// sizes: 2x6x7x5 6x3x2x2 2x6x4x5
func.func @main(%x: tensor<2x6x7x5xf32>, %w: tensor<6x3x2x2xf32>, %r: tensor<2x6x4x5xf32>) -> tensor<2x6x4x5xf32> {
  %d = tensor.empty() : tensor<2x6x4x5xf32>
  %0 = tracea.conv2d layout nchw filter kcrs strides [2, 1] pads [1, 1, 1, 1] dilations [1, 2] groups 2
         ins(%x, %w : tensor<2x6x7x5xf32>, tensor<6x3x2x2xf32>) outs(%d : tensor<2x6x4x5xf32>)
    schedule <variant = "conv2d.simt", unit = vector, tile = [32, 32, 8], registers = [4, 4], slots = 2>
    epilogue(%r by affine_map<(n, k, p, q) -> (n, k, p, q)> : tensor<2x6x4x5xf32>) {
    ^bb0(%acc: f32, %b: f32):
      %s = arith.addf %acc, %b : f32
      tracea.yield %s : f32
    }
  return %0 : tensor<2x6x4x5xf32>
}
