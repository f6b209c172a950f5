// Attention whose head counts only the launch knows: one divides the other.
func.func @g(%q: tensor<2x?x64x64xf32>, %k: tensor<2x?x64x64xf32>, %d: tensor<2x?x64x64xf32>) -> tensor<2x?x64x64xf32> {
  %y = tracea.attention ins(%q, %k, %k : tensor<2x?x64x64xf32>, tensor<2x?x64x64xf32>, tensor<2x?x64x64xf32>)
    outs(%d : tensor<2x?x64x64xf32>) -> tensor<2x?x64x64xf32>
  return %y : tensor<2x?x64x64xf32>
}
