// What is counted: products whose length only the run knows, two with one
// kernel; attention with a log-sum-exp, which stands behind its result.
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x48xf32>, %c: tensor<?x48xf32>,
                %q: tensor<1x2x16x8xf32>, %k: tensor<1x2x24x8xf32>, %v: tensor<1x2x24x4xf32>)
    -> (tensor<?x48xf32>, tensor<?x48xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16xf32>) {
  %zero = arith.constant 0 : index
  %m = tensor.dim %a, %zero : tensor<?x?xf32>
  %d0 = tensor.empty(%m) : tensor<?x48xf32>
  %x = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x48xf32>) outs(%d0 : tensor<?x48xf32>)
  %d1 = tensor.empty(%m) : tensor<?x48xf32>
  %y = tracea.gemm ins(%a, %c : tensor<?x?xf32>, tensor<?x48xf32>) outs(%d1 : tensor<?x48xf32>)
  %d2 = tensor.empty() : tensor<1x2x16x4xf32>
  %d3 = tensor.empty() : tensor<1x2x16xf32>
  %z:2 = tracea.attention ins(%q, %k, %v : tensor<1x2x16x8xf32>, tensor<1x2x24x8xf32>, tensor<1x2x24x4xf32>)
    outs(%d2 : tensor<1x2x16x4xf32>) lse(%d3 : tensor<1x2x16xf32>) -> tensor<1x2x16x4xf32>, tensor<1x2x16xf32>
  return %x, %y, %z#0, %z#1 : tensor<?x48xf32>, tensor<?x48xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16xf32>
}
