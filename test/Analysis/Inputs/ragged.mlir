func.func @sixteen(%a: tensor<?x4096xbf16>, %b: tensor<16x4096x4096xbf16>, %e: tensor<16xi32>, %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = tracea.grouped_gemm transpose_rhs ins(%a, %b, %e : tensor<?x4096xbf16>, tensor<16x4096x4096xbf16>, tensor<16xi32>) outs(%d : tensor<?x4096xbf16>)
         schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
  return %0 : tensor<?x4096xbf16>
}
func.func @any(%a: tensor<?x4096xbf16>, %b: tensor<?x4096x4096xbf16>, %e: tensor<?xi64>, %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = tracea.grouped_gemm transpose_rhs ins(%a, %b, %e : tensor<?x4096xbf16>, tensor<?x4096x4096xbf16>, tensor<?xi64>) outs(%d : tensor<?x4096xbf16>)
         schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
  return %0 : tensor<?x4096xbf16>
}
