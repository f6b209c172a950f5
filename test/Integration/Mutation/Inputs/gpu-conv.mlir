// A convolution as a product: rows of a tile are pixels, which a walk takes apart.
// target: sm_80
// sizes: 2x7x6x32 40x3x3x32 40 2x4x6x40 | 1x5x7x32 40x3x3x32 40 1x3x7x40
// wrong: 2x7x6x32 40x3x3x32 40 1x4x6x40
func.func @main(%x: tensor<?x?x?x32xf16>, %w: tensor<40x3x3x32xf16>, %bias: tensor<40xf32>, %d: tensor<?x?x?x40xf16>) -> tensor<?x?x?x40xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<?x?x?x32xf16>, tensor<40x3x3x32xf16>) outs(%d : tensor<?x?x?x40xf16>)
    schedule <variant = "conv2d.warp", unit = mma_sync, tile = [32, 32, 32], registers = [32, 16], slots = 2, group = 2>
    epilogue(%bias by affine_map<(n, p, q, k) -> (k)> : tensor<40xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %t = arith.truncf %s : f32 to f16
      tracea.yield %t : f16
    }
  return %0 : tensor<?x?x?x40xf16>
}
