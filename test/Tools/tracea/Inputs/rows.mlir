func.func @rows(%a: tensor<?x512xbf16>, %b: tensor<512x4096xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x512xbf16>
  %d = tensor.empty(%m) : tensor<?x4096xbf16>
  %c = tracea.gemm ins(%a, %b : tensor<?x512xbf16>, tensor<512x4096xbf16>) outs(%d : tensor<?x4096xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
  return %c : tensor<?x4096xbf16>
}
