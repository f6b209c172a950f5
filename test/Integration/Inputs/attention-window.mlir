// Keys in a window.
func.func @main(%q: tensor<2x4x?x64xbf16>, %k: tensor<2x2x?x64xbf16>, %v: tensor<2x2x?x64xbf16>, %d: tensor<2x4x?x64xbf16>) -> tensor<2x4x?x64xbf16> {
  %0 = tracea.attention causal window [200, -1] ins(%q, %k, %v : tensor<2x4x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>) outs(%d : tensor<2x4x?x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2> -> tensor<2x4x?x64xbf16>
  return %0 : tensor<2x4x?x64xbf16>
}
