// Four heads of queries share those of keys, of which only the launch knows the number.
func.func @main(%q: tensor<1x4x?x15xf32>, %k: tensor<1x?x5x15xf32>, %v: tensor<1x?x5x15xf32>, %d: tensor<1x4x?x15xf32>) -> tensor<1x4x?x15xf32> {
  %r = tracea.attention ins(%q, %k, %v : tensor<1x4x?x15xf32>, tensor<1x?x5x15xf32>, tensor<1x?x5x15xf32>) outs(%d : tensor<1x4x?x15xf32>) -> tensor<1x4x?x15xf32>
  return %r : tensor<1x4x?x15xf32>
}
