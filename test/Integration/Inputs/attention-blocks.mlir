// Blocks of keys that a mask shows, of two batches with a mask each.
func.func @main(%q: tensor<2x4x1000x64xbf16>, %k: tensor<2x2x900x64xbf16>, %v: tensor<2x2x900x64xbf16>, %m: tensor<2x1x8x8xi1>, %d: tensor<2x4x1000x64xbf16>) -> tensor<2x4x1000x64xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<2x4x1000x64xbf16>, tensor<2x2x900x64xbf16>, tensor<2x2x900x64xbf16>)
    block_mask(%m : tensor<2x1x8x8xi1>) block_size [128, 128] outs(%d : tensor<2x4x1000x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2> -> tensor<2x4x1000x64xbf16>
  return %0 : tensor<2x4x1000x64xbf16>
}
