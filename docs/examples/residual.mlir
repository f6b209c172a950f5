// A convolution, its batch normalization, SiLU and a residual: y = x + silu(bn(conv(x))).
func.func @block(%x: tensor<?x28x28x32xf32>, %w: tensor<32x3x3x32xf32>,
                 %scale: tensor<32xf32>, %bias: tensor<32xf32>,
                 %mean: tensor<32xf32>, %var: tensor<32xf32>) -> tensor<?x28x28x32xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x28x28x32xf32>
  %e = tensor.empty(%n) : tensor<?x28x28x32xf32>
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
         ins(%x, %w : tensor<?x28x28x32xf32>, tensor<32x3x3x32xf32>)
         outs(%e : tensor<?x28x28x32xf32>)
  %1 = tracea.batch_norm axis 3 epsilon 1.0e-5
         ins(%0, %scale, %bias, %mean, %var : tensor<?x28x28x32xf32>, tensor<32xf32>,
             tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
         outs(%e : tensor<?x28x28x32xf32>)
  %2 = linalg.generic {
         indexing_maps = [affine_map<(n, p, q, k) -> (n, p, q, k)>,
                          affine_map<(n, p, q, k) -> (n, p, q, k)>,
                          affine_map<(n, p, q, k) -> (n, p, q, k)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%1, %x : tensor<?x28x28x32xf32>, tensor<?x28x28x32xf32>)
       outs(%e : tensor<?x28x28x32xf32>) {
    ^bb0(%t: f32, %skip: f32, %out: f32):
      %one = arith.constant 1.0 : f32
      %neg = arith.negf %t : f32
      %exp = math.exp %neg : f32
      %sum = arith.addf %exp, %one : f32
      %silu = arith.divf %t, %sum : f32
      %y = arith.addf %silu, %skip : f32
      linalg.yield %y : f32
  } -> tensor<?x28x28x32xf32>
  return %2 : tensor<?x28x28x32xf32>
}
