// RUN: tracea-opt %s -split-input-file --tracea-fold-batch-norm | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-fold-batch-norm --remarks-filter-missed="tracea-fold-batch-norm" --remark-policy=final --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// Parameters known at run time only: two operations per channel, two per
// element, then the normalization's own epilogue.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @dynamic_parameters
// CHECK-SAME: %[[SC:[a-z0-9]+]]: tensor<16xf32>, %[[BI:[a-z0-9]+]]: tensor<16xf32>, %[[ME:[a-z0-9]+]]: tensor<16xf32>, %[[VA:[a-z0-9]+]]: tensor<16xf32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[SC]], %[[VA]]
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[V:.*]] = arith.addf %[[B]], %{{.*}}
// CHECK: %[[Q:.*]] = math.sqrt %[[V]]
// CHECK: arith.divf %[[A]], %[[Q]]
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[BI]], %[[ME]], %[[S]]
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[P:.*]] = arith.mulf %[[B]], %[[C]]
// CHECK: arith.subf %[[A]], %[[P]]
// CHECK: tracea.conv2d
// CHECK-SAME: epilogue(%[[S]] by #[[K]], %[[T]] by #[[K]] :
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[S0:.*]]: f32, %[[T0:.*]]: f32):
// CHECK: %[[M:.*]] = arith.mulf %[[ACC]], %[[S0]]
// CHECK: %[[N:.*]] = arith.addf %[[M]], %[[T0]]
// CHECK: %[[R:.*]] = arith.maximumf %[[N]]
// CHECK: tracea.yield %[[R]]
// CHECK-NOT: tracea.batch_norm
func.func @dynamic_parameters(%x: tensor<1x8x8x4xf32>, %w: tensor<16x3x3x4xf32>, %scale: tensor<16xf32>, %bias: tensor<16xf32>, %mean: tensor<16xf32>, %var: tensor<16xf32>) -> tensor<1x6x6x16xf32> {
  %d = tensor.empty() : tensor<1x6x6x16xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x6x6x16xf32>)
  %1 = tracea.batch_norm axis 3 epsilon 1.0e-05 ins(%0, %scale, %bias, %mean, %var : tensor<1x6x6x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%d : tensor<1x6x6x16xf32>) epilogue {
    ^bb0(%acc: f32):
      %zero = arith.constant 0.0 : f32
      %r = arith.maximumf %acc, %zero : f32
      tracea.yield %r : f32
  }
  return %1 : tensor<1x6x6x16xf32>
}

// -----

// Constants: s = scale / sqrt(variance + epsilon) = [2/2, 6/3],
// t = bias - mean * s = [1 - 3*1, 2 - 0.5*2].
// CHECK-LABEL: func.func @constant_parameters
// CHECK-DAG: %[[S:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[T:.*]] = arith.constant dense<[-2.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK-NOT: linalg
// CHECK: tracea.gemm
// CHECK-SAME: epilogue(%[[S]] by {{.*}}, %[[T]] by
func.func @constant_parameters(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %scale = arith.constant dense<[2.0, 6.0]> : tensor<2xf32>
  %bias = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %mean = arith.constant dense<[3.0, 0.5]> : tensor<2xf32>
  %var = arith.constant dense<[3.0, 8.0]> : tensor<2xf32>
  %d = tensor.empty() : tensor<4x2xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%d : tensor<4x2xf32>)
  %1 = tracea.batch_norm axis 1 epsilon 1.0 ins(%0, %scale, %bias, %mean, %var : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<4x2xf32>)
  return %1 : tensor<4x2xf32>
}

// -----

// Low precision: the parameters are widened, the arithmetic is the
// accumulator's. The producer's rounding and its extra operand stay.
// CHECK-LABEL: func.func @bf16
// CHECK: linalg.generic
// CHECK: ^bb0(%{{.*}}: bf16, %{{.*}}: bf16, %{{.*}}: f32):
// CHECK: arith.extf
// CHECK: tracea.conv2d
// CHECK-SAME: outs(%{{.*}} : tensor<1x6x6x16xbf16>)
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: bf16, %[[S:.*]]: f32, %[[T:.*]]: f32):
// CHECK: %[[E:.*]] = arith.extf %[[IN]]
// CHECK: %[[A:.*]] = arith.addf %[[ACC]], %[[E]]
// CHECK: %[[R:.*]] = arith.truncf %[[A]] : f32 to bf16
// CHECK: %[[X:.*]] = arith.extf %[[R]] : bf16 to f32
// CHECK: %[[M:.*]] = arith.mulf %[[X]], %[[S]]
// CHECK: %[[N:.*]] = arith.addf %[[M]], %[[T]]
// CHECK: %[[O:.*]] = arith.truncf %[[N]] : f32 to bf16
// CHECK: tracea.yield %[[O]]
func.func @bf16(%x: tensor<1x8x8x4xbf16>, %w: tensor<16x3x3x4xbf16>, %r: tensor<16xbf16>, %scale: tensor<16xbf16>, %bias: tensor<16xbf16>, %mean: tensor<16xbf16>, %var: tensor<16xbf16>) -> tensor<1x6x6x16xbf16> {
  %d = tensor.empty() : tensor<1x6x6x16xbf16>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xbf16>, tensor<16x3x3x4xbf16>) outs(%d : tensor<1x6x6x16xbf16>)
      epilogue(%r by affine_map<(n, p, q, k) -> (k)> : tensor<16xbf16>) {
    ^bb0(%acc: f32, %in: bf16):
      %e = arith.extf %in : bf16 to f32
      %s = arith.addf %acc, %e : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  %1 = tracea.batch_norm axis 3 epsilon 1.0e-05 ins(%0, %scale, %bias, %mean, %var : tensor<1x6x6x16xbf16>, tensor<16xbf16>, tensor<16xbf16>, tensor<16xbf16>, tensor<16xbf16>) outs(%d : tensor<1x6x6x16xbf16>)
  return %1 : tensor<1x6x6x16xbf16>
}

// -----

// Somebody else reads the convolution: its result must exist as it is.
// REMARK: [Missed] BatchNormNotFolded | Category:tracea-fold-batch-norm | Operation=tracea.batch_norm, Reason="its input has other users"
// CHECK-LABEL: func.func @other_user
// CHECK: tracea.gemm
// CHECK-NOT: epilogue
// CHECK: tracea.batch_norm
func.func @other_user(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %p: tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %d = tensor.empty() : tensor<4x2xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%d : tensor<4x2xf32>)
  %1 = tracea.batch_norm axis 1 epsilon 1.0 ins(%0, %p, %p, %p, %p : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<4x2xf32>)
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// No multiplication in front: the normalization stays an operation.
// CHECK-LABEL: func.func @no_producer
// CHECK: tracea.batch_norm
func.func @no_producer(%x: tensor<4x2xf32>, %p: tensor<2xf32>) -> tensor<4x2xf32> {
  %d = tensor.empty() : tensor<4x2xf32>
  %1 = tracea.batch_norm axis 1 epsilon 1.0 ins(%x, %p, %p, %p, %p : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<4x2xf32>)
  return %1 : tensor<4x2xf32>
}
