func.func @main(%a: tensor<?x256xf8E4M3FN>, %b: tensor<192x256xf8E4M3FN>, %r: tensor<?x192xf8E5M2>) -> (tensor<?x192xf32>, tensor<?x192xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x256xf8E4M3FN>
  %d = tensor.empty(%m) : tensor<?x192xf32>
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<192x256xf8E4M3FN>) outs(%d : tensor<?x192xf32>)
  %e = tensor.empty(%m) : tensor<?x192xf8E4M3FN>
  %1 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<192x256xf8E4M3FN>) outs(%e : tensor<?x192xf8E4M3FN>)
    epilogue(%r by affine_map<(i, j) -> (i, j)> : tensor<?x192xf8E5M2>) {
    ^bb0(%acc: f32, %x: f8E5M2):
      %w = arith.extf %x : f8E5M2 to f32
      %v = arith.addf %acc, %w : f32
      %y = arith.truncf %v : f32 to f8E4M3FN
      tracea.yield %y : f8E4M3FN
  }
  return %0, %1 : tensor<?x192xf32>, tensor<?x192xf8E4M3FN>
}
