// Groups of eight channels whose tiles are cut by the last row, column and channel, with steps of two
// rows, taps two columns apart and a bias.
func.func @main(%x: tensor<3x13x21x72xf16>, %w: tensor<72x3x3x8xf16>, %b: tensor<72xf16>, %d: tensor<3x7x19x72xf16>) -> tensor<3x7x19x72xf16> {
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [1, 1, 1, 1] dilations [1, 2] groups 9
         ins(%x, %w : tensor<3x13x21x72xf16>, tensor<72x3x3x8xf16>) outs(%d : tensor<3x7x19x72xf16>)
         schedule <variant = "conv2d.groups", unit = mma_sync, tile = [4, 32, 32], registers = [16, 8]>
         epilogue(%b by affine_map<(n, p, q, k) -> (k)> : tensor<72xf16>) {
    ^bb0(%sum: f32, %bias: f16):
      %wide = arith.extf %bias : f16 to f32
      %added = arith.addf %sum, %wide : f32
      %narrow = arith.truncf %added : f32 to f16
      tracea.yield %narrow : f16
    }
  return %y : tensor<3x7x19x72xf16>
}
