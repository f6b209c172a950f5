// A batch of products of bytes, whose second operand is transposed and shared.
// target: x86-64-v3
// sizes: 2x11x9 6x9 2x11x6 | 3x4x9 6x9 3x4x6
// wrong: 2x11x9 6x9 3x11x6 | 2x11x9 6x9 2x10x6
func.func @main(%a: tensor<?x?x9xi8>, %b: tensor<6x9xi8>, %d: tensor<?x?x6xi32>) -> tensor<?x?x6xi32> {
  %y = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x?x9xi8>, tensor<6x9xi8>) outs(%d : tensor<?x?x6xi32>)
  return %y : tensor<?x?x6xi32>
}
