// By lanes alone.
// target: sm_80
// sizes: 40x20 20x36 40x36 | 5x33 33x7 5x7
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [32, 32, 8], registers = [4, 4], slots = 2>
  return %0 : tensor<?x?xf32>
}
