#place = loc("model.py":7:3)
func.func @main(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>, %d: tensor<512x512xf16>,
                %c: tensor<64x8192xf16>, %e: tensor<8192x64xf16>, %f: tensor<64x64xf16>)
    -> (tensor<512x512xf16>, tensor<64x64xf16>) {
  %0 = tracea.gemm ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>) outs(%d : tensor<512x512xf16>) loc(#place)
  %1 = tracea.gemm ins(%c, %e : tensor<64x8192xf16>, tensor<8192x64xf16>) outs(%f : tensor<64x64xf16>) loc(#place)
  return %0, %1 : tensor<512x512xf16>, tensor<64x64xf16>
}
