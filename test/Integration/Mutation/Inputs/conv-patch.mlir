// A convolution with a border, a stride and a residual.
// target: x86-64-v3
// sizes: 1x7x9x5 11x3x3x5 1x4x9x11 1x4x9x11 | 2x7x9x5 11x3x3x5 2x4x9x11 2x4x9x11
// wrong: 1x7x9x5 11x3x3x5 2x4x9x11 1x4x9x11
func.func @main(%x: tensor<?x7x9x5xf32>, %w: tensor<11x3x3x5xf32>, %r: tensor<?x4x9x11xf32>, %d: tensor<?x4x9x11xf32>) -> tensor<?x4x9x11xf32> {
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<?x7x9x5xf32>, tensor<11x3x3x5xf32>) outs(%d : tensor<?x4x9x11xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8]>
         epilogue(%r by affine_map<(n, p, q, k) -> (n, p, q, k)> : tensor<?x4x9x11xf32>) {
         ^bb0(%a: f32, %b: f32):
           %0 = arith.addf %a, %b : f32
           tracea.yield %0 : f32
         }
  return %y : tensor<?x4x9x11xf32>
}
