func.func @main(%x: tensor<?x?x?x16xf32>, %w: tensor<3x3x16x32xf32>, %d: tensor<?x?x?x32xf32>) -> tensor<?x?x?x32xf32> {
  %y = tracea.conv2d layout nhwc filter rsck pads [1, 1, 1, 1]
         ins(%x, %w : tensor<?x?x?x16xf32>, tensor<3x3x16x32xf32>) outs(%d : tensor<?x?x?x32xf32>)
  return %y : tensor<?x?x?x32xf32>
}
