// Rows by an index that is loaded.
#m = affine_map<(i, j) -> (i, j)>
func.func @select(%x: tensor<?x64xf32>, %n: tensor<?xindex>, %d: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #m], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<?xindex>) outs(%d : tensor<?x64xf32>) {
  ^bb0(%at: index, %o: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%at, %j] : tensor<?x64xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
