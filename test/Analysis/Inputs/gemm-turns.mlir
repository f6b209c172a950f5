// Two teams take tiles in turn, for any number of terms.
func.func @gemm(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 3, producers = 1, consumers = 1, ping_pong = 2>
  return %0 : tensor<?x?xbf16>
}
