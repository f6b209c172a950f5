// A batch norm: plain loops.
// target: x86-64-v3
// sizes: 2x5x7 5 5 5 5 2x5x7
// tolerance: 1e-5
// positive: 4
// wrong: 2x5x7 5 5 5 5 2x5x6
func.func @main(%x: tensor<2x5x?xf32>, %s: tensor<5xf32>, %b: tensor<5xf32>, %m: tensor<5xf32>, %v: tensor<5xf32>, %d: tensor<2x5x?xf32>) -> tensor<2x5x?xf32> {
  %0 = tracea.batch_norm axis 1 epsilon 1.0e-2 ins(%x, %s, %b, %m, %v : tensor<2x5x?xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) outs(%d : tensor<2x5x?xf32>)
  return %0 : tensor<2x5x?xf32>
}
