// Rounds to f16 on the way: 1e5 overflows, 1/3 loses digits.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %h = arith.truncf %a : f32 to f16
    %f = arith.extf %h : f16 to f32
    linalg.yield %f : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
