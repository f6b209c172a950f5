// Transposed, broadcast and shifted reads, and a sum, in plain loops.
// target: x86-64-v3
// sizes: 6x5 5 | 6x8 8
// wrong: 6x5 4
func.func @main(%x: tensor<6x?xf32>, %s: tensor<?xf32>) -> (tensor<?x6xf32>, tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<6x?xf32>
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<6x?xf32>, tensor<?xf32>) outs(%e : tensor<?x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %t, %a : f32
    linalg.yield %u : f32
  } -> tensor<?x6xf32>
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty(%n) : tensor<?xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x?xf32>) outs(%g : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %y, %z : tensor<?x6xf32>, tensor<?xf32>
}
