// A convolution small enough to read at every level: 3x3, stride 2, one column of
// border, eight output channels. The schedule and the target are written by hand.
#cpu = #tracea.target<kind = cpu, name = "small", triple = "x86_64-unknown-linux-gnu",
                      cpu = "x86-64-v3", features = "+avx,+avx2,+fma", vector_bits = 128>
module attributes {tracea.target = #cpu} {
  func.func @main(%x: tensor<1x9x9x4xf32>, %w: tensor<3x3x4x8xf32>, %d: tensor<1x5x5x8xf32>)
      -> tensor<1x5x5x8xf32> {
    %y = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 1, 1, 1]
           ins(%x, %w : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%d : tensor<1x5x5x8xf32>)
           schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8], slots = 2>
    return %y : tensor<1x5x5x8xf32>
  }
}
