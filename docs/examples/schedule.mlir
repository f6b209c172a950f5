// A matrix product with a schedule written by hand.
func.func @main(%a: tensor<384x512xf32>, %b: tensor<512x768xf32>) -> tensor<384x768xf32> {
  %d = tensor.empty() : tensor<384x768xf32>
  %y = tracea.gemm ins(%a, %b : tensor<384x512xf32>, tensor<512x768xf32>)
                   outs(%d : tensor<384x768xf32>)
         schedule <variant = "gemm.packed", unit = vector,
                   tile = [192, 384, 128, 96], registers = [8, 32]>
  return %y : tensor<384x768xf32>
}
