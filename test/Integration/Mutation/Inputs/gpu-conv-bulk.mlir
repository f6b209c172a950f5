// Bulk copies walk through the pixels: all of the result is one row, of which an epilogue reads and writes a matrix.
// target: sm_90a
// sizes: 2x7x6x72 24x3x3x72 24 2x4x6x24 2x4x6x24 | 1x7x6x72 24x3x3x72 24 1x4x6x24 1x4x6x24
// wrong: 2x7x6x72 24x3x3x72 24 2x4x6x24 1x4x6x24
func.func @main(%x: tensor<?x7x6x72xbf16>, %w: tensor<24x3x3x72xbf16>, %bias: tensor<24xf32>, %r: tensor<?x4x6x24xbf16>, %d: tensor<?x4x6x24xbf16>) -> tensor<?x4x6x24xbf16> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<?x7x6x72xbf16>, tensor<24x3x3x72xbf16>) outs(%d : tensor<?x4x6x24xbf16>)
    schedule <variant = "conv2d.warpgroup", unit = wgmma, tile = [64, 24, 64], slots = 2, producers = 1, consumers = 1, group = 2>
    epilogue(%bias by affine_map<(n, p, q, k) -> (k)>, %r by affine_map<(n, p, q, k) -> (n, p, q, k)> : tensor<24xf32>, tensor<?x4x6x24xbf16>) {
    ^bb0(%acc: f32, %bi: f32, %skip: bf16):
      %s = arith.addf %acc, %bi : f32
      %wide = arith.extf %skip : bf16 to f32
      %u = arith.addf %s, %wide : f32
      %t = arith.truncf %u : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x4x6x24xbf16>
}
