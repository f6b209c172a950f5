// A depthwise convolution with a stride.
// target: x86-64-v3
// sizes: 1x9x9x12 12x3x3x1 1x5x5x12
func.func @main(%x: tensor<1x9x9x12xf32>, %w: tensor<12x3x3x1xf32>, %d: tensor<1x5x5x12xf32>) -> tensor<1x5x5x12xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] groups 12
         ins(%x, %w : tensor<1x9x9x12xf32>, tensor<12x3x3x1xf32>) outs(%d : tensor<1x5x5x12xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8]>
  return %0 : tensor<1x5x5x12xf32>
}
