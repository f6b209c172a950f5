// As many keys as memory says for each batch, split among three workgroups.
func.func @main(%q: tensor<5x4x1x64xbf16>, %k: tensor<5x2x900x64xbf16>, %v: tensor<5x2x900x64xbf16>, %n: tensor<5xi32>, %d: tensor<5x4x1x64xbf16>) -> tensor<5x4x1x64xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<5x4x1x64xbf16>, tensor<5x2x900x64xbf16>, tensor<5x2x900x64xbf16>) lengths(%n : tensor<5xi32>) outs(%d : tensor<5x4x1x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 32], registers = [16, 32], slots = 3, pack = 1, split = 3> -> tensor<5x4x1x64xbf16>
  return %0 : tensor<5x4x1x64xbf16>
}
