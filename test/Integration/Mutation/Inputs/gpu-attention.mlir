// Attention in registers: a window, two heads that share one of keys, sums of weights as a second result.
// target: sm_80
// sizes: 1x2x40x16 1x1x40x16 1x1x40x16 1x2x40x16 1x2x40 | 1x2x9x16 1x1x50x16 1x1x50x16 1x2x9x16 1x2x9
// tolerance: 2e-2
func.func @main(%q: tensor<1x2x?x16xbf16>, %k: tensor<1x1x?x16xbf16>, %v: tensor<1x1x?x16xbf16>, %d: tensor<1x2x?x16xbf16>, %l: tensor<1x2x?xf32>) -> (tensor<1x2x?x16xbf16>, tensor<1x2x?xf32>) {
  %0:2 = tracea.attention causal window [20, -1] ins(%q, %k, %v : tensor<1x2x?x16xbf16>, tensor<1x1x?x16xbf16>, tensor<1x1x?x16xbf16>)
    outs(%d : tensor<1x2x?x16xbf16>) lse(%l : tensor<1x2x?xf32>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [32, 16], registers = [16, 16], slots = 2> -> tensor<1x2x?x16xbf16>, tensor<1x2x?xf32>
  return %0#0, %0#1 : tensor<1x2x?x16xbf16>, tensor<1x2x?xf32>
}
