// Attention within a window, with the log-sum-exp as a second result.
// target: x86-64-v3
// sizes: 1x2x9x5 1x2x9x5 1x2x9x6 1x2x9x6 1x2x9 | 1x2x17x5 1x2x20x5 1x2x20x6 1x2x17x6 1x2x17
// tolerance: 1e-5
func.func @main(%q: tensor<1x2x?x5xf32>, %k: tensor<1x2x?x5xf32>, %v: tensor<1x2x?x6xf32>, %d: tensor<1x2x?x6xf32>, %l: tensor<1x2x?xf32>) -> (tensor<1x2x?x6xf32>, tensor<1x2x?xf32>) {
  %0:2 = tracea.attention window [3, 2] scale 0.5 ins(%q, %k, %v : tensor<1x2x?x5xf32>, tensor<1x2x?x5xf32>, tensor<1x2x?x6xf32>)
         outs(%d : tensor<1x2x?x6xf32>) lse(%l : tensor<1x2x?xf32>) schedule <variant = "attention.flash", unit = vector, tile = [8, 8], registers = [4, 8]> -> tensor<1x2x?x6xf32>, tensor<1x2x?xf32>
  return %0#0, %0#1 : tensor<1x2x?x6xf32>, tensor<1x2x?xf32>
}
