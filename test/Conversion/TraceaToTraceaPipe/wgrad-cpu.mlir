// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// What pixels see is a matrix, and the gradient a product with it.
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", vector_bits = 256, cores = 2>} {
// CHECK-DAG: #[[WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 * 2 + d4, d3 * 2 + d5, d6)>
// CHECK-LABEL: func.func @windows
// CHECK: %[[PIXELS:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1, 2], [3]] : tensor<2x4x4x16xf32> into tensor<32x16xf32>
// CHECK: tensor.pad %arg0
// CHECK: linalg.generic {indexing_maps = [#[[WINDOWS]],
// CHECK: %[[MATRIX:.*]] = tensor.collapse_shape
// CHECK-SAME: into tensor<32x72xf32>
// CHECK: %[[PRODUCT:.*]] = tracea_pipe.launch @gemm_0 ins(%[[PIXELS]], %[[MATRIX]]
// CHECK: tensor.expand_shape %[[PRODUCT]]
// CHECK-SAME: into tensor<16x3x3x8xf32>
func.func @windows(%x: tensor<2x8x8x8xf32>, %dy: tensor<2x4x4x16xf32>, %d: tensor<16x3x3x8xf32>) -> tensor<16x3x3x8xf32> {
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%x, %dy : tensor<2x8x8x8xf32>, tensor<2x4x4x16xf32>) outs(%d : tensor<16x3x3x8xf32>)
         schedule <variant = "wgrad.windows", unit = vector, tile = [16, 80, 32, 16], registers = [4, 16]>
  return %0 : tensor<16x3x3x8xf32>
}

// One tap without strides and borders sees the image as it is.
// CHECK-LABEL: func.func @point
// CHECK-NOT: tensor.empty() : tensor<1x
// CHECK: %[[IMAGE:.*]] = tensor.collapse_shape %arg0
// CHECK: tracea_pipe.launch @gemm_1 ins(%{{.*}}, %[[IMAGE]]
func.func @point(%x: tensor<2x4x4x8xf32>, %dy: tensor<2x4x4x16xf32>, %d: tensor<16x1x1x8xf32>) -> tensor<16x1x1x8xf32> {
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc ins(%x, %dy : tensor<2x4x4x8xf32>, tensor<2x4x4x16xf32>) outs(%d : tensor<16x1x1x8xf32>)
         schedule <variant = "wgrad.windows", unit = vector, tile = [16, 16, 32, 16], registers = [4, 16]>
  return %0 : tensor<16x1x1x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", vector_bits = 256, cores = 2>} {
func.func @taps(%x: tensor<2x8x8x8xf32>, %dy: tensor<2x4x4x16xf32>, %d: tensor<16x?x3x8xf32>) -> tensor<16x?x3x8xf32> {
  // expected-error @+1 {{'tracea.conv2d_wgrad' op expects a result of static height and width, and of static channels of groups, for the variant 'wgrad.windows', found 'tensor<16x?x3x8xf32>'}}
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%x, %dy : tensor<2x8x8x8xf32>, tensor<2x4x4x16xf32>) outs(%d : tensor<16x?x3x8xf32>)
         schedule <variant = "wgrad.windows", unit = vector, tile = [16, 80, 32, 16], registers = [4, 16]>
  return %0 : tensor<16x?x3x8xf32>
}
}
