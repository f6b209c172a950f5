// A layer norm whose rows have a dynamic length.
// target: x86-64-v3
// sizes: 3x13 13 13 3x13 | 3x24 24 24 3x24
// tolerance: 1e-5
// wrong: 3x13 12 13 3x13 | 3x13 13 12 3x13
func.func @main(%x: tensor<3x?xf32>, %s: tensor<?xf32>, %b: tensor<?xf32>, %d: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %0 = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<3x?xf32>) scale(%s : tensor<?xf32>) bias(%b : tensor<?xf32>) outs(%d : tensor<3x?xf32>)
  return %0 : tensor<3x?xf32>
}
