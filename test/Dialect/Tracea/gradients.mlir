// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s

// CHECK-LABEL: @image
// CHECK: tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<?x28x28x64xf32>, tensor<64x3x3x32xf32>) outs(%{{.*}} : tensor<?x56x56x32xf32>)
func.func @image(%dy: tensor<?x28x28x64xf32>, %w: tensor<64x3x3x32xf32>, %d: tensor<?x56x56x32xf32>) -> tensor<?x56x56x32xf32> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<?x28x28x64xf32>, tensor<64x3x3x32xf32>) outs(%d : tensor<?x56x56x32xf32>)
  return %0 : tensor<?x56x56x32xf32>
}

// A transposed convolution of a framework: [in, out/groups, height, width].
// CHECK-LABEL: @transposed
// CHECK: tracea.conv2d_dgrad layout nchw filter kcrs strides [2, 2] groups 2
// CHECK: epilogue(%{{.*}} by
func.func @transposed(%x: tensor<1x8x5x5xf32>, %w: tensor<8x3x2x2xf32>, %b: tensor<6xf32>, %d: tensor<1x6x10x10xf32>) -> tensor<1x6x10x10xf32> {
  %0 = tracea.conv2d_dgrad layout nchw filter kcrs strides [2, 2] groups 2 ins(%x, %w : tensor<1x8x5x5xf32>, tensor<8x3x2x2xf32>) outs(%d : tensor<1x6x10x10xf32>)
         epilogue(%b by affine_map<(n, c, h, w) -> (c)> : tensor<6xf32>) {
    ^bb0(%acc: f32, %bias: f32):
      %s = arith.addf %acc, %bias : f32
      tracea.yield %s : f32
  }
  return %0 : tensor<1x6x10x10xf32>
}

// CHECK-LABEL: @filter
// CHECK: tracea.conv2d_wgrad layout nhwc filter krsc dilations [2, 1] acc f64
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<2x9x9x4xf32>, tensor<2x5x7x8xf32>) outs(%{{.*}} : tensor<8x3x3x4xf32>)
func.func @filter(%x: tensor<2x9x9x4xf32>, %dy: tensor<2x5x7x8xf32>, %d: tensor<8x3x3x4xf32>) -> tensor<8x3x3x4xf32> {
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc dilations [2, 1] acc f64 ins(%x, %dy : tensor<2x9x9x4xf32>, tensor<2x5x7x8xf32>) outs(%d : tensor<8x3x3x4xf32>)
  return %0 : tensor<8x3x3x4xf32>
}
