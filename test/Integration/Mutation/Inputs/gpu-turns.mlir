// Two teams that take tiles in turn, out of one ring; no rows run along k.
// target: sm_90a
// sizes: 72x136 72x72 136x72 | 200x64 200x8 64x8
func.func @main(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %d: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
    outs(%d : tensor<?x?xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 2, producers = 1, consumers = 1, ping_pong = 2>
  return %0 : tensor<?x?xf16>
}
