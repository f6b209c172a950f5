// Workgroups that walk over tiles: a producer and two consumers, bias and ReLU.
// target: sm_90a
// sizes: 130x72 40x72 40 130x40 | 64x200 8x200 8 64x8
// wrong: 130x72 40x64 40 130x40 | 130x72 40x72 48 130x40 | 130x72 40x72 40 128x40
func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %bias: tensor<?xf32>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 32, 64], slots = 2, producers = 1, consumers = 2, group = 2>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %z = arith.constant 0.0 : f32
      %m = arith.maximumf %s, %z : f32
      %t = arith.truncf %m : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x?xbf16>
}
