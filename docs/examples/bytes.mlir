// A product of bytes, which dot products multiply where there are some.
func.func @main(%a: tensor<384x512xi8>, %b: tensor<512x768xi8>) -> tensor<384x768xi32> {
  %d = tensor.empty() : tensor<384x768xi32>
  %y = tracea.gemm ins(%a, %b : tensor<384x512xi8>, tensor<512x768xi8>)
                   outs(%d : tensor<384x768xi32>)
  return %y : tensor<384x768xi32>
}
