// A depthwise convolution that reads its image where it lies.
// target: x86-64-v3
// sizes: 1x7x7x12 12x3x3x1 1x7x7x12
func.func @main(%x: tensor<1x7x7x12xf32>, %w: tensor<12x3x3x1xf32>, %d: tensor<1x7x7x12xf32>) -> tensor<1x7x7x12xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 12
         ins(%x, %w : tensor<1x7x7x12xf32>, tensor<12x3x3x1xf32>) outs(%d : tensor<1x7x7x12xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [7, 8, 16], registers = [2, 16], staged = 0>
  return %0 : tensor<1x7x7x12xf32>
}
