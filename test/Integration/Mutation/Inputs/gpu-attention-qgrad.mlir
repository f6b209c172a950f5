// Gradients of attention by its queries: a window, two heads that share one of keys.
// target: sm_80
// sizes: 1x2x40x16 1x1x40x16 1x1x40x16 1x2x40x16 1x2x40 1x2x40 1x2x40x16 | 1x2x9x16 1x1x50x16 1x1x50x16 1x2x9x16 1x2x9 1x2x9 1x2x9x16
// tolerance: 2e-2
func.func @main(%q: tensor<1x2x?x16xbf16>, %k: tensor<1x1x?x16xbf16>, %v: tensor<1x1x?x16xbf16>, %g: tensor<1x2x?x16xbf16>, %l: tensor<1x2x?xf32>, %t: tensor<1x2x?xf32>, %d: tensor<1x2x?x16xbf16>) -> tensor<1x2x?x16xbf16> {
  %0 = tracea.attention_qgrad causal window [20, -1]
    ins(%q, %k, %v, %g, %l, %t : tensor<1x2x?x16xbf16>, tensor<1x1x?x16xbf16>, tensor<1x1x?x16xbf16>, tensor<1x2x?x16xbf16>, tensor<1x2x?xf32>, tensor<1x2x?xf32>)
    outs(%d : tensor<1x2x?x16xbf16>)
    schedule <variant = "attention_qgrad.warp", unit = mma_sync, tile = [32, 16], registers = [16, 16], slots = 2> -> tensor<1x2x?x16xbf16>
  return %0 : tensor<1x2x?x16xbf16>
}
