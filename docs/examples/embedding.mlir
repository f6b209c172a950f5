// Rows of a table that tokens name. Which row is data: one that the table does
// not have fails the run.
#token = affine_map<(t, c) -> (t)>
#result = affine_map<(t, c) -> (t, c)>
func.func @embed(%tokens: tensor<?xi32>, %table: tensor<50257x768xbf16>) -> tensor<?x768xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %tokens, %c0 : tensor<?xi32>
  %empty = tensor.empty(%n) : tensor<?x768xbf16>
  %0 = linalg.generic {indexing_maps = [#token, #result], iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%empty : tensor<?x768xbf16>) {
  ^bb0(%token: i32, %out: bf16):
    %column = linalg.index 1 : index
    %row = arith.index_cast %token : i32 to index
    %element = tensor.extract %table[%row, %column] : tensor<50257x768xbf16>
    linalg.yield %element : bf16
  } -> tensor<?x768xbf16>
  return %0 : tensor<?x768xbf16>
}
