// Two sums of one reduction, in parts that a second kernel combines.
// target: sm_90a
// sizes: 2x8x88x16 16
// tolerance: 1e-4
func.func @main(%x: tensor<2x8x88x16xbf16>, %k: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, h, w, c)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (c)>], iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
        ins(%x, %k : tensor<2x8x88x16xbf16>, tensor<16xf32>) outs(%f, %f : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%a: bf16, %b: f32, %p: f32, %r: f32):
    %w = arith.extf %a : bf16 to f32
    %d = arith.subf %w, %b : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.addf %p, %d : f32
    %u = arith.addf %r, %q : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %s#0, %s#1 : tensor<16xf32>, tensor<16xf32>
}
