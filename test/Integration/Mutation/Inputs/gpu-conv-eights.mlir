// Groups of eight channels, by instructions as deep as they: rows, columns and channels are cut.
// target: sm_80
// sizes: 2x7x9x24 24x3x3x8
func.func @main(%x: tensor<2x7x9x24xf16>, %w: tensor<24x3x3x8xf16>) -> tensor<2x7x9x24xf32> {
  %d = tensor.empty() : tensor<2x7x9x24xf32>
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 3
         ins(%x, %w : tensor<2x7x9x24xf16>, tensor<24x3x3x8xf16>) outs(%d : tensor<2x7x9x24xf32>)
    schedule <variant = "conv2d.groups", unit = mma_sync, tile = [4, 16, 32], registers = [16, 8]>
  return %0 : tensor<2x7x9x24xf32>
}
