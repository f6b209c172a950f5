// A convolution, batch norm and ReLU.
#id = affine_map<(n, p, q, k) -> (n, p, q, k)>
func.func @main(%x: tensor<1x56x56x64xf32>, %w: tensor<64x3x3x64xf32>, %scale: tensor<64xf32>, %shift: tensor<64xf32>,
                %mean: tensor<64xf32>, %variance: tensor<64xf32>) -> tensor<1x56x56x64xf32> {
  %d = tensor.empty() : tensor<1x56x56x64xf32>
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
         ins(%x, %w : tensor<1x56x56x64xf32>, tensor<64x3x3x64xf32>) outs(%d : tensor<1x56x56x64xf32>)
  %1 = tracea.batch_norm axis 3 epsilon 1.0e-5
         ins(%0, %scale, %shift, %mean, %variance
             : tensor<1x56x56x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
         outs(%d : tensor<1x56x56x64xf32>)
  %zero = arith.constant 0.0 : f32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%1 : tensor<1x56x56x64xf32>) outs(%d : tensor<1x56x56x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %max = arith.maximumf %in, %zero : f32
      linalg.yield %max : f32
  } -> tensor<1x56x56x64xf32>
  return %y : tensor<1x56x56x64xf32>
}
