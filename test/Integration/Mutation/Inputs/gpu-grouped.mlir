// Groups of rows, as experts are; ends that do not ascend are clamped.
// target: sm_90a
// sizes: 150x72 3x40x72 3 40 150x40 | 9x72 3x8x72 3 8 9x8
// values 2: 70 66 141
func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x?x?xbf16>, %e: tensor<?xi32>, %bias: tensor<?xf32>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.grouped_gemm transpose_rhs
    ins(%a, %b, %e : tensor<?x?xbf16>, tensor<?x?x?xbf16>, tensor<?xi32>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [64, 32, 64], slots = 2, producers = 1, consumers = 1, group = 2>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x?xbf16>
}
