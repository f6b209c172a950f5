// A convolution whose tiles of pixels begin in one image and end in the next, are
// cut by the last one, and have filters behind the last one.
func.func @main(%x: tensor<3x15x13x64xf16>, %w: tensor<96x3x3x64xf16>, %b: tensor<96xf16>, %d: tensor<3x8x7x96xf16>) -> tensor<3x8x7x96xf16> {
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<3x15x13x64xf16>, tensor<96x3x3x64xf16>) outs(%d : tensor<3x8x7x96xf16>)
         epilogue(%b by affine_map<(n, p, q, k) -> (k)> : tensor<96xf16>) {
    ^bb0(%sum: f32, %bias: f16):
      %wide = arith.extf %bias : f16 to f32
      %added = arith.addf %sum, %wide : f32
      %narrow = arith.truncf %added : f32 to f16
      tracea.yield %narrow : f16
    }
  return %y : tensor<3x8x7x96xf16>
}
