// Sums kept in f16, which no variant takes over; and integers.
func.func @narrow(%a: tensor<3x500xf16>) -> tensor<3xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<3xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<3xf16>) -> tensor<3xf16>
  %y = linalg.reduce ins(%a : tensor<3x500xf16>) outs(%f : tensor<3xf16>) dimensions = [1]
    (%p: f16, %q: f16) {
      %s = arith.addf %p, %q : f16
      linalg.yield %s : f16
    }
  return %y : tensor<3xf16>
}
func.func @integers(%a: tensor<5x9xi8>, %b: tensor<9x4xi8>) -> tensor<5x4xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<5x4xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<5x4xi32>) -> tensor<5x4xi32>
  %y = linalg.matmul ins(%a, %b : tensor<5x9xi8>, tensor<9x4xi8>) outs(%f : tensor<5x4xi32>) -> tensor<5x4xi32>
  return %y : tensor<5x4xi32>
}
