// Three projections of one matrix, two of which are multiplied.
#bias = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<128x256xbf16>, %wq: tensor<256x256xbf16> {tracea.constant}, %wk: tensor<256x256xbf16> {tracea.constant}, %wv: tensor<256x256xbf16> {tracea.constant},
    %bq: tensor<256xbf16> {tracea.constant}, %bk: tensor<256xbf16> {tracea.constant}, %bv: tensor<256xbf16> {tracea.constant}) -> (tensor<128x256xbf16>, tensor<128x128xf32>) {
  %e = tensor.empty() : tensor<128x256xbf16>
  %q = tracea.gemm transpose_rhs ins(%x, %wq : tensor<128x256xbf16>, tensor<256x256xbf16>) outs(%e : tensor<128x256xbf16>)
         epilogue(%bq by #bias : tensor<256xbf16>) {
    ^bb0(%acc: f32, %b: bf16):
      %w = arith.extf %b : bf16 to f32
      %s = arith.addf %acc, %w : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  %k = tracea.gemm transpose_rhs ins(%x, %wk : tensor<128x256xbf16>, tensor<256x256xbf16>) outs(%e : tensor<128x256xbf16>)
         epilogue(%bk by #bias : tensor<256xbf16>) {
    ^bb0(%acc: f32, %b: bf16):
      %w = arith.extf %b : bf16 to f32
      %s = arith.addf %acc, %w : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  %v = tracea.gemm transpose_rhs ins(%x, %wv : tensor<128x256xbf16>, tensor<256x256xbf16>) outs(%e : tensor<128x256xbf16>)
         epilogue(%bv by #bias : tensor<256xbf16>) {
    ^bb0(%acc: f32, %b: bf16):
      %w = arith.extf %b : bf16 to f32
      %s = arith.addf %acc, %w : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  %f = tensor.empty() : tensor<128x128xf32>
  %s = tracea.gemm transpose_rhs ins(%q, %k : tensor<128x256xbf16>, tensor<128x256xbf16>) outs(%f : tensor<128x128xf32>)
  %g = tensor.empty() : tensor<128x256xbf16>
  %y = linalg.abs ins(%v : tensor<128x256xbf16>) outs(%g : tensor<128x256xbf16>) -> tensor<128x256xbf16>
  return %y, %s : tensor<128x256xbf16>, tensor<128x128xf32>
}
