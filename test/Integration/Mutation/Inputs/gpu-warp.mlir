// By the matrix units of warps: all lanes copy ahead.
// target: sm_80
// sizes: 72x72 40x72 40 72x40 | 5x104 9x104 9 5x9
func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %bias: tensor<?xf32>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [64, 32, 32], registers = [32, 16], slots = 3, group = 2>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %z = arith.constant 0.0 : f32
      %m = arith.maximumf %s, %z : f32
      %t = arith.truncf %m : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x?xbf16>
}
