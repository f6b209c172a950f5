// One filter for each channel, by lanes that slide over a patch: every border, a stride and a dilation.
// target: sm_80
// sizes: 2x7x9x24 24x3x3x1 24
func.func @main(%x: tensor<2x7x9x24xf16>, %w: tensor<24x3x3x1xf16>, %b: tensor<24xf16>) -> tensor<2x4x7x24xf16> {
  %d = tensor.empty() : tensor<2x4x7x24xf16>
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [1, 1, 1, 1] dilations [1, 2] groups 24
         ins(%x, %w : tensor<2x7x9x24xf16>, tensor<24x3x3x1xf16>) outs(%d : tensor<2x4x7x24xf16>)
    schedule <variant = "conv2d.lanes", unit = vector, tile = [4, 4, 64], registers = [2, 8]>
    epilogue(%b by affine_map<(n, p, q, k) -> (k)> : tensor<24xf16>) {
    ^bb0(%acc: f32, %bias: f16):
      %wide = arith.extf %bias : f16 to f32
      %s = arith.addf %acc, %wide : f32
      %r = arith.truncf %s : f32 to f16
      tracea.yield %r : f16
    }
  return %0 : tensor<2x4x7x24xf16>
}
