func.func @main(%a: tensor<?x?x?x?xf16>, %b: tensor<?x?x?x?xf16>, %c: tensor<?x?x?x?xf16>) -> tensor<?x?x?x?xf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?x?x?xf16>, tensor<?x?x?x?xf16>) outs(%c : tensor<?x?x?x?xf16>)
       schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 5, producers = 1, consumers = 1, group = 16>
  return %0 : tensor<?x?x?x?xf16>
}
