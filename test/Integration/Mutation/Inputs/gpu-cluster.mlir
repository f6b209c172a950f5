// A sum in two parts, which the workgroups of a cluster add up.
// target: sm_90a
// sizes: 70x256 64x256 64 70x64 | 1x256 64x256 64 1x64
func.func @main(%a: tensor<?x256xbf16>, %b: tensor<64x256xbf16>, %bias: tensor<64xf32>, %d: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x256xbf16>, tensor<64x256xbf16>) outs(%d : tensor<?x64xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 32, 64], slots = 2, producers = 1, consumers = 1, split = 2, cluster = 2>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<64xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x64xbf16>
}
