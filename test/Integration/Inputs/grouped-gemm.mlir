// One program for all sizes of groups: any number of rows, of four groups.
func.func @main(%a: tensor<?x24xf32>, %b: tensor<4x17x24xf32>, %ends: tensor<4xi32>, %bias: tensor<17xf32>) -> tensor<?x17xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x24xf32>
  %d = tensor.empty(%rows) : tensor<?x17xf32>
  %y = tracea.grouped_gemm transpose_rhs
         ins(%a, %b, %ends : tensor<?x24xf32>, tensor<4x17x24xf32>, tensor<4xi32>)
         outs(%d : tensor<?x17xf32>)
         epilogue(%bias by affine_map<(m, n) -> (n)> : tensor<17xf32>) {
    ^bb0(%acc: f32, %c: f32):
      %s = arith.addf %acc, %c : f32
      tracea.yield %s : f32
  }
  return %y : tensor<?x17xf32>
}
