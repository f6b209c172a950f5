func.func @main(%a: tensor<4096x512xf32>, %b: tensor<4096x512xf32>) -> tensor<4096x4096xf32> attributes {tracea.allow_tf32} {
  %d = tensor.empty() : tensor<4096x4096xf32>
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x512xf32>, tensor<4096x512xf32>) outs(%d : tensor<4096x4096xf32>)
  return %0 : tensor<4096x4096xf32>
}
