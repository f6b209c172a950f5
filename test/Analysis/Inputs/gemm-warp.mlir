// A product by the matrix units of warps, for any number of rows and columns.
func.func @main(%a: tensor<?x512xbf16>, %b: tensor<512x?xbf16>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x512xbf16>, tensor<512x?xbf16>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32], slots = 3, group = 16>
  return %0 : tensor<?x?xbf16>
}
