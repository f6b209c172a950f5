// More tiles than there are multiprocessors, all extents known.
func.func @main(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<4096x4096xbf16>)
  return %0 : tensor<4096x4096xbf16>
}
