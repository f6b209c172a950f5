// Which channels a filter sees depends on the tile.
func.func @groups(%x: tensor<1x28x28x64xf32>, %w: tensor<64x3x3x16xf32>, %y: tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32> {
  %r = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 4
    ins(%x, %w : tensor<1x28x28x64xf32>, tensor<64x3x3x16xf32>) outs(%y : tensor<1x28x28x64xf32>)
  return %r : tensor<1x28x28x64xf32>
}
