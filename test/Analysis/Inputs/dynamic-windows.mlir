// A convolution with a window and an image of sizes that only the launch knows.
func.func @main(%x: tensor<2x?x?x6xf32>, %w: tensor<12x3x?x?xf32>, %d: tensor<2x?x?x12xf32>) -> tensor<2x?x?x12xf32> {
  %y = tracea.conv2d layout nhwc filter kcrs strides [2, 1] pads [1, 1, 2, 0] groups 2
    ins(%x, %w : tensor<2x?x?x6xf32>, tensor<12x3x?x?xf32>) outs(%d : tensor<2x?x?x12xf32>)
  return %y : tensor<2x?x?x12xf32>
}
