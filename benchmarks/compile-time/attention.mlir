// Causal attention.
func.func @main(%q: tensor<2x8x?x64xf32>, %k: tensor<2x8x?x64xf32>, %v: tensor<2x8x?x64xf32>,
                %d: tensor<2x8x?x64xf32>) -> tensor<2x8x?x64xf32> {
  %y = tracea.attention causal scale 0.125
         ins(%q, %k, %v : tensor<2x8x?x64xf32>, tensor<2x8x?x64xf32>, tensor<2x8x?x64xf32>)
         outs(%d : tensor<2x8x?x64xf32>) -> tensor<2x8x?x64xf32>
  return %y : tensor<2x8x?x64xf32>
}
