// Softmax of the rows of a matrix, scaled and rounded in its epilogue.
// target: x86-64-v3
// sizes: 4x35 35 4x35
// tolerance: 1e-2
func.func @main(%x: tensor<?x?xf32>, %s: tensor<?xf32>, %d: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<?x?xf32>) outs(%d : tensor<?x?xf16>)
    epilogue(%s by affine_map<(i, j) -> (j)> : tensor<?xf32>) {
    ^bb0(%y: f32, %t: f32):
      %0 = arith.mulf %y, %t : f32
      %1 = arith.truncf %0 : f32 to f16
      tracea.yield %1 : f16
    }
  return %0 : tensor<?x?xf16>
}
