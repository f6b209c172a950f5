// A sum in three parts, which a second kernel adds up.
// target: sm_90a
// sizes: 70x320 48x320 48 70x48 | 8x320 48x320 48 8x48
// wrong: 70x320 48x320 48 71x48
func.func @main(%a: tensor<?x320xbf16>, %b: tensor<48x320xbf16>, %bias: tensor<48xf32>, %d: tensor<?x48xbf16>) -> tensor<?x48xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x320xbf16>, tensor<48x320xbf16>) outs(%d : tensor<?x48xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 32, 64], slots = 2, producers = 1, consumers = 1, split = 3>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<48xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x48xbf16>
}
