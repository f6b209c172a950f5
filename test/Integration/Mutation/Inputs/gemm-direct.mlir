// A product of few columns, straight out of its operands.
// target: x86-64-v3
// sizes: 7x23 23x19 7x19 | 1x23 23x19 1x19 | 12x23 23x19 12x19
// wrong: 7x23 23x19 6x19
func.func @main(%a: tensor<?x23xf32>, %b: tensor<23x19xf32>, %d: tensor<?x19xf32>) -> tensor<?x19xf32> {
  %y = tracea.gemm ins(%a, %b : tensor<?x23xf32>, tensor<23x19xf32>) outs(%d : tensor<?x19xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [4, 16, 8], registers = [2, 8]>
  return %y : tensor<?x19xf32>
}
