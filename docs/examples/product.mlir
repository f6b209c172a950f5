// relu(a b + bias) of halves, for any number of rows.
func.func @main(%a: tensor<?x4096xbf16>, %b: tensor<4096x4096xbf16>,
                %bias: tensor<4096xf32>) -> tensor<?x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x4096xbf16>
  %sums = tensor.empty(%m) : tensor<?x4096xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%sums : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %product = linalg.matmul ins(%a, %b : tensor<?x4096xbf16>, tensor<4096x4096xbf16>)
                           outs(%fill : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %empty = tensor.empty(%m) : tensor<?x4096xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<?x4096xf32>, tensor<4096xf32>) outs(%empty : tensor<?x4096xbf16>) {
  ^bb0(%x: f32, %s: f32, %out: bf16):
    %t = arith.addf %x, %s : f32
    %u = arith.maximumf %t, %zero : f32
    %v = arith.truncf %u : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}
