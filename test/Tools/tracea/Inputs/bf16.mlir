func.func @main(%x: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
  %e = tensor.empty() : tensor<2x3xbf16>
  %y = linalg.add ins(%x, %x : tensor<2x3xbf16>, tensor<2x3xbf16>) outs(%e : tensor<2x3xbf16>) -> tensor<2x3xbf16>
  return %y : tensor<2x3xbf16>
}
