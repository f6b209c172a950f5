// Gradients by queries in a window, of heads that share those of keys.
func.func @main(%q: tensor<2x4x?x64xbf16>, %k: tensor<2x2x?x64xbf16>, %v: tensor<2x2x?x64xbf16>, %g: tensor<2x4x?x64xbf16>, %l: tensor<2x4x?xf32>, %t: tensor<2x4x?xf32>, %d: tensor<2x4x?x64xbf16>) -> tensor<2x4x?x64xbf16> {
  %0 = tracea.attention_qgrad causal window [200, -1]
    ins(%q, %k, %v, %g, %l, %t : tensor<2x4x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?xf32>, tensor<2x4x?xf32>)
    outs(%d : tensor<2x4x?x64xbf16>)
    schedule <variant = "attention_qgrad.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2> -> tensor<2x4x?x64xbf16>
  return %0 : tensor<2x4x?x64xbf16>
}
