// A dilated convolution of channels first, in groups.
// target: x86-64-v3
// sizes: 1x4x8x9 6x2x2x3 1x6x8x5
func.func @main(%x: tensor<1x4x8x9xf32>, %w: tensor<6x2x2x3xf32>, %d: tensor<1x6x8x5xf32>) -> tensor<1x6x8x5xf32> {
  %y = tracea.conv2d layout nchw filter kcrs pads [1, 0, 1, 0] dilations [2, 2] groups 2
         ins(%x, %w : tensor<1x4x8x9xf32>, tensor<6x2x2x3xf32>) outs(%d : tensor<1x6x8x5xf32>)
  return %y : tensor<1x6x8x5xf32>
}
