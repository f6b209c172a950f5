// Attention that visits the blocks which a mask shows, as two kernels list them; some rows see none.
// target: sm_80
// sizes: 1x2x70x16 1x2x50x16 1x2x50x16 1x2x3x2 1x2x70x16 | 1x2x65x16 1x2x40x16 1x2x40x16 1x2x3x2 1x2x65x16
// values 3: 1 0 0 0 1 1 0 1 1 1 1 0
// tolerance: 2e-2
func.func @main(%q: tensor<1x2x?x16xbf16>, %k: tensor<1x2x?x16xbf16>, %v: tensor<1x2x?x16xbf16>, %m: tensor<1x2x?x?xi1>, %d: tensor<1x2x?x16xbf16>) -> tensor<1x2x?x16xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<1x2x?x16xbf16>, tensor<1x2x?x16xbf16>, tensor<1x2x?x16xbf16>)
    block_mask(%m : tensor<1x2x?x?xi1>) block_size [32, 32] outs(%d : tensor<1x2x?x16xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [32, 16], registers = [16, 16], slots = 2> -> tensor<1x2x?x16xbf16>
  return %0 : tensor<1x2x?x16xbf16>
}
