// What the graph-level passes rewrite, in one function: a padded convolution
// between transpositions, normalized and activated; a product of transposed
// operands whose result is transposed, with a broadcast bias, a product added
// to it and a function of two users.
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#j = affine_map<(i, j) -> (j)>
#oj = affine_map<(i, j) -> (0, j)>
func.func @main(%x: tensor<2x3x5x6xf32>, %w: tensor<4x3x3x3xf32>, %p: tensor<4xf32>, %a: tensor<7x8xf32>, %b: tensor<7x4xf32>, %bias: tensor<1x4xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  // The convolution, channels last, on an image with channels first.
  %e0 = tensor.empty() : tensor<2x5x6x3xf32>
  %xt = linalg.transpose ins(%x : tensor<2x3x5x6xf32>) outs(%e0 : tensor<2x5x6x3xf32>) permutation = [0, 2, 3, 1]
  %xp = tensor.pad %xt low[0, 1, 0, 0] high[0, 1, 2, 0] {
    ^bb0(%n: index, %h: index, %v: index, %c: index):
      tensor.yield %zero : f32
  } : tensor<2x5x6x3xf32> to tensor<2x7x8x3xf32>
  %e1 = tensor.empty() : tensor<4x3x3x3xf32>
  %wt = linalg.transpose ins(%w : tensor<4x3x3x3xf32>) outs(%e1 : tensor<4x3x3x3xf32>) permutation = [0, 2, 3, 1]
  %e2 = tensor.empty() : tensor<2x5x6x4xf32>
  %conv = tracea.conv2d layout nhwc filter krsc ins(%xp, %wt : tensor<2x7x8x3xf32>, tensor<4x3x3x3xf32>) outs(%e2 : tensor<2x5x6x4xf32>)
  %pp = arith.mulf %p, %p : tensor<4xf32>
  %norm = tracea.batch_norm axis 3 epsilon 1.0e-02 ins(%conv, %p, %p, %p, %pp : tensor<2x5x6x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e2 : tensor<2x5x6x4xf32>)
  %act = linalg.tanh ins(%norm : tensor<2x5x6x4xf32>) outs(%e2 : tensor<2x5x6x4xf32>) -> tensor<2x5x6x4xf32>
  %e3 = tensor.empty() : tensor<2x4x5x6xf32>
  %back = linalg.transpose ins(%act : tensor<2x5x6x4xf32>) outs(%e3 : tensor<2x4x5x6xf32>) permutation = [0, 3, 1, 2]
  %e4 = tensor.empty() : tensor<4xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %sums = linalg.reduce { arith.addf } ins(%back : tensor<2x4x5x6xf32>) outs(%f4 : tensor<4xf32>) dimensions = [0, 2, 3]
  // The products.
  %e5 = tensor.empty() : tensor<8x7xf32>
  %at = linalg.transpose ins(%a : tensor<7x8xf32>) outs(%e5 : tensor<8x7xf32>) permutation = [1, 0]
  %e6 = tensor.empty() : tensor<8x4xf32>
  %0 = tracea.gemm ins(%at, %b : tensor<8x7xf32>, tensor<7x4xf32>) outs(%e6 : tensor<8x4xf32>)
  %1 = linalg.generic {indexing_maps = [#ji, affine_map<(i, j) -> (0, i)>, affine_map<(i, j) -> (i)>, #ji], iterator_types = ["parallel", "parallel"]}
      ins(%0, %bias, %sums : tensor<8x4xf32>, tensor<1x4xf32>, tensor<4xf32>) outs(%e6 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %c: f32, %s: f32, %out: f32):
      %q = arith.mulf %s, %s : f32
      %r = arith.addf %q, %half : f32
      %t = math.sqrt %r : f32
      %u = arith.divf %in, %t : f32
      %v = arith.addf %u, %c : f32
      linalg.yield %v : f32
  } -> tensor<8x4xf32>
  %e7 = tensor.empty() : tensor<4x8xf32>
  %2 = linalg.transpose ins(%1 : tensor<8x4xf32>) outs(%e7 : tensor<4x8xf32>) permutation = [1, 0]
  %3 = tracea.gemm transpose_lhs ins(%b, %a : tensor<7x4xf32>, tensor<7x8xf32>) outs(%e7 : tensor<4x8xf32>)
  %4 = linalg.sub ins(%2, %3 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e7 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = math.exp %4 : tensor<4x8xf32>
  %6 = arith.addf %5, %one : tensor<4x8xf32>
  %7 = arith.divf %4, %6 : tensor<4x8xf32>
  %8 = arith.truncf %7 : tensor<4x8xf32> to tensor<4x8xbf16>
  %9 = arith.extf %8 : tensor<4x8xbf16> to tensor<4x8xf32>
  return %9 : tensor<4x8xf32>
}
