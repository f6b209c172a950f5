// A matrix product with bias and ReLU.
func.func @main(%a: tensor<?x1024xf32>, %b: tensor<1024x1024xf32>, %bias: tensor<1024xf32>, %d: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %y = tracea.gemm ins(%a, %b : tensor<?x1024xf32>, tensor<1024x1024xf32>)
                   outs(%d : tensor<?x1024xf32>)
       epilogue(%bias by affine_map<(m, n) -> (n)> : tensor<1024xf32>) {
    ^bb0(%acc: f32, %in: f32):
      %zero = arith.constant 0.0 : f32
      %sum = arith.addf %acc, %in : f32
      %max = arith.maximumf %sum, %zero : f32
      tracea.yield %max : f32
  }
  return %y : tensor<?x1024xf32>
}
