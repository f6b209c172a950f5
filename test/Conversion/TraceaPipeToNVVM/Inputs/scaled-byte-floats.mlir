func.func @main(%a: tensor<256x128xbf16>, %b: tensor<256x128xbf16>, %s: tensor<256xf32>, %x: tensor<256x256xf8E5M2>, %o: tensor<256x256xf8E4M3FN>) -> tensor<256x256xf8E4M3FN> {
  %r = tracea.gemm transpose_rhs ins(%a, %b : tensor<256x128xbf16>, tensor<256x128xbf16>) outs(%o : tensor<256x256xf8E4M3FN>)
    epilogue(%s by affine_map<(i, j) -> (i)>, %x by affine_map<(i, j) -> (i, j)> : tensor<256xf32>, tensor<256x256xf8E5M2>) {
  ^bb0(%acc: f32, %scale: f32, %skip: f8E5M2):
    %scaled = arith.mulf %acc, %scale : f32
    %wide = arith.extf %skip : f8E5M2 to f32
    %sum = arith.addf %scaled, %wide : f32
    %narrow = arith.truncf %sum : f32 to f8E4M3FN
    tracea.yield %narrow : f8E4M3FN
  }
  return %r : tensor<256x256xf8E4M3FN>
}
