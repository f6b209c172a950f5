// Gradients by keys and values in a window, which keys see from the other side.
func.func @main(%q: tensor<2x4x?x64xbf16>, %k: tensor<2x4x?x64xbf16>, %v: tensor<2x4x?x64xbf16>, %g: tensor<2x4x?x64xbf16>, %l: tensor<2x4x?xf32>, %t: tensor<2x4x?xf32>, %d: tensor<2x4x?x64xbf16>, %e: tensor<2x4x?x64xbf16>) -> (tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>) {
  %0:2 = tracea.attention_kvgrad causal window [200, -1]
    ins(%q, %k, %v, %g, %l, %t : tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?xf32>, tensor<2x4x?xf32>)
    outs(%d, %e : tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>)
    schedule <variant = "attention_kvgrad.warp", unit = mma_sync, tile = [64, 32], registers = [16, 32], slots = 2> -> tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>
  return %0#0, %0#1 : tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>
}
