// Few rows: the transposed product.
// target: sm_90a
// sizes: 3x192 192x96 3x96 | 11x192 192x96 11x96
func.func @main(%a: tensor<?x192xbf16>, %b: tensor<192x96xbf16>, %d: tensor<?x96xbf16>) -> tensor<?x96xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x192xbf16>, tensor<192x96xbf16>) outs(%d : tensor<?x96xbf16>)
    schedule <variant = "gemm.skinny", unit = wgmma, tile = [8, 64, 64], slots = 2, producers = 1, consumers = 1>
    epilogue {
    ^bb0(%sum: f32):
      %0 = arith.truncf %sum : f32 to bf16
      tracea.yield %0 : bf16
    }
  return %0 : tensor<?x96xbf16>
}
