// Two columns of a pair each, an odd width, no stride of rows, rows of three phases with dilated taps, and an epilogue that reads pixels.
func.func @main(%y0: tensor<2x5x5x5xf16>, %w0: tensor<5x3x3x7xf16>,
                %y1: tensor<2x4x5x5xf16>, %w1: tensor<5x3x3x7xf16>,
                %y2: tensor<1x7x6x6xf16>, %w2: tensor<6x5x7x4xf16>,
                %y3: tensor<1x3x4x6xf16>, %w3: tensor<6x3x4x4xf16>,
                %r0: tensor<2x9x10x7xf16>)
    -> (tensor<2x9x10x7xf32>, tensor<2x8x9x7xf32>, tensor<1x7x12x4xf32>, tensor<1x11x8x4xf32>, tensor<2x9x10x7xf16>) {
  %d0 = tensor.empty() : tensor<2x9x10x7xf32>
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1]
         ins(%y0, %w0 : tensor<2x5x5x5xf16>, tensor<5x3x3x7xf16>) outs(%d0 : tensor<2x9x10x7xf32>)
  %d1 = tensor.empty() : tensor<2x8x9x7xf32>
  %1 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1]
         ins(%y1, %w1 : tensor<2x4x5x5xf16>, tensor<5x3x3x7xf16>) outs(%d1 : tensor<2x8x9x7xf32>)
  %d2 = tensor.empty() : tensor<1x7x12x4xf32>
  %2 = tracea.conv2d_dgrad layout nhwc filter krsc strides [1, 2] pads [2, 3, 2, 3] dilations [1, 1]
         ins(%y2, %w2 : tensor<1x7x6x6xf16>, tensor<6x5x7x4xf16>) outs(%d2 : tensor<1x7x12x4xf32>)
  %d3 = tensor.empty() : tensor<1x11x8x4xf32>
  %3 = tracea.conv2d_dgrad layout nhwc filter krsc strides [3, 2] pads [1, 1, 1, 1] dilations [2, 1]
         ins(%y3, %w3 : tensor<1x3x4x6xf16>, tensor<6x3x4x4xf16>) outs(%d3 : tensor<1x11x8x4xf32>)
  %d4 = tensor.empty() : tensor<2x9x10x7xf16>
  %4 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1]
         ins(%y0, %w0 : tensor<2x5x5x5xf16>, tensor<5x3x3x7xf16>) outs(%d4 : tensor<2x9x10x7xf16>)
         epilogue(%r0 by affine_map<(n, h, w, c) -> (n, h, w, c)> : tensor<2x9x10x7xf16>) {
    ^bb0(%acc: f32, %r: f16):
      %zero = arith.constant 0.0 : f16
      %t = arith.truncf %acc : f32 to f16
      %c = arith.cmpf ole, %r, %zero : f16
      %s = arith.select %c, %zero, %t : f16
      tracea.yield %s : f16
  }
  return %0, %1, %2, %3, %4 : tensor<2x9x10x7xf32>, tensor<2x8x9x7xf32>, tensor<1x7x12x4xf32>, tensor<1x11x8x4xf32>, tensor<2x9x10x7xf16>
}
