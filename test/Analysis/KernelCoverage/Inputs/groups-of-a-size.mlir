// Filters of which only the launch knows how many there are, in three groups.
func.func @main(%x: tensor<2x10x15x96xf32>, %w: tensor<?x32x3x3xf32>, %o: tensor<2x8x13x?xf32>) -> tensor<2x8x13x?xf32> {
  %r = tracea.conv2d layout nhwc filter kcrs strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 3 ins(%x, %w : tensor<2x10x15x96xf32>, tensor<?x32x3x3xf32>) outs(%o : tensor<2x8x13x?xf32>)
  return %r : tensor<2x8x13x?xf32>
}
