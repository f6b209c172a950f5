// An RMS norm of static shape.
// target: x86-64-v3
// sizes: 5x20 20 5x20
// tolerance: 1e-5
func.func @main(%x: tensor<5x20xf32>, %s: tensor<20xf32>, %d: tensor<5x20xf32>) -> tensor<5x20xf32> {
  %0 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<5x20xf32>) scale(%s : tensor<20xf32>) outs(%d : tensor<5x20xf32>)
  return %0 : tensor<5x20xf32>
}
