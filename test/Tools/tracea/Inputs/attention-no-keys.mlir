// Attention over values without rows, as plain loops: products of extents are 0, and the heads that
// share keys are a quotient of extents.
func.func @main(%q: tensor<3x?x63x2xf16>, %k: tensor<?x?x?x2xf16>, %v: tensor<?x?x0x2xf16>, %m: tensor<1x1x32x?xi1>) -> (tensor<3x?x63x2xf16>) {
  %axis0 = arith.constant 1 : index
  %extent1 = tensor.dim %q, %axis0 : tensor<3x?x63x2xf16>
  %empty2 = tensor.empty(%extent1) : tensor<3x?x63x2xf16>
  %r = tracea.attention causal window [-1, 1] ins(%q, %k, %v : tensor<3x?x63x2xf16>, tensor<?x?x?x2xf16>, tensor<?x?x0x2xf16>) block_mask(%m : tensor<1x1x32x?xi1>) block_size [2, 20] outs(%empty2 : tensor<3x?x63x2xf16>) -> tensor<3x?x63x2xf16>
  return %r : tensor<3x?x63x2xf16>
}
