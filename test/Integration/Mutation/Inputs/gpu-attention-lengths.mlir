// Attention to the keys that each batch has, which are split among two workgroups.
// target: sm_80
// sizes: 3x2x1x16 3x1x90x16 3x1x90x16 3 3x2x1x16 | 3x2x1x16 3x1x33x16 3x1x33x16 3 3x2x1x16
// values 3: 41 -1 100
// tolerance: 2e-2
func.func @main(%q: tensor<3x2x1x16xbf16>, %k: tensor<3x1x?x16xbf16>, %v: tensor<3x1x?x16xbf16>, %e: tensor<3xi32>, %d: tensor<3x2x1x16xbf16>) -> tensor<3x2x1x16xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<3x2x1x16xbf16>, tensor<3x1x?x16xbf16>, tensor<3x1x?x16xbf16>)
    lengths(%e : tensor<3xi32>) outs(%d : tensor<3x2x1x16xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 16], registers = [16, 16], slots = 3, pack = 1, split = 2> -> tensor<3x2x1x16xbf16>
  return %0 : tensor<3x2x1x16xbf16>
}
