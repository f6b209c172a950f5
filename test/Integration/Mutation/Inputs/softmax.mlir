// Softmax of rows.
// target: x86-64-v3
// sizes: 3x21 3x21 | 9x21 9x21
// tolerance: 1e-5
// wrong: 3x21 4x21
func.func @main(%x: tensor<?x21xf32>, %d: tensor<?x21xf32>) -> tensor<?x21xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<?x21xf32>) outs(%d : tensor<?x21xf32>)
  return %0 : tensor<?x21xf32>
}
