// Attention of grouped heads with a causal mask.
// target: x86-64-v3
// sizes: 1x4x9x5 1x2x11x5 1x2x11x6 1x4x9x6 | 2x4x17x5 2x2x17x5 2x2x17x6 2x4x17x6
// tolerance: 1e-5
// wrong: 1x4x9x5 1x2x11x5 1x2x10x6 1x4x9x6 | 1x4x9x5 1x2x11x5 1x2x11x6 1x4x8x6
func.func @main(%q: tensor<?x4x?x5xf32>, %k: tensor<?x2x?x5xf32>, %v: tensor<?x2x?x6xf32>, %d: tensor<?x4x?x6xf32>) -> tensor<?x4x?x6xf32> {
  %0 = tracea.attention causal scale 0.5 ins(%q, %k, %v : tensor<?x4x?x5xf32>, tensor<?x2x?x5xf32>, tensor<?x2x?x6xf32>)
         outs(%d : tensor<?x4x?x6xf32>) schedule <variant = "attention.flash", unit = vector, tile = [8, 8], registers = [4, 8]> -> tensor<?x4x?x6xf32>
  return %0 : tensor<?x4x?x6xf32>
}
