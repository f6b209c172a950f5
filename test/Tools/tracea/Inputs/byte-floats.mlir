#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf64>, %b: tensor<256xf8E4M3FN>) -> (tensor<?xf8E4M3FN>, tensor<256xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %d = tensor.empty(%n) : tensor<?xf8E4M3FN>
  %narrow = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<?xf64>) outs(%d : tensor<?xf8E4M3FN>) {
  ^bb0(%x: f64, %y: f8E4M3FN):
    %s = arith.truncf %x : f64 to f8E4M3FN
    linalg.yield %s : f8E4M3FN
  } -> tensor<?xf8E4M3FN>
  %e = tensor.empty() : tensor<256xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<256xf8E4M3FN>) outs(%e : tensor<256xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f32):
    %s = arith.extf %x : f8E4M3FN to f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  return %narrow, %wide : tensor<?xf8E4M3FN>, tensor<256xf32>
}
