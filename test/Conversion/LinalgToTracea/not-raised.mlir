// RUN: tracea-opt %s --convert-linalg-to-tracea --split-input-file | FileCheck %s --implicit-check-not=tracea.

// Unsigned widening is not the accumulator's.
// CHECK-LABEL: func @unsigned(
// CHECK:         linalg.matmul
func.func @unsigned(%a: tensor<3x8xi8>, %b: tensor<8x4xi8>, %c: tensor<3x4xi32>) -> tensor<3x4xi32> {
  %y = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<3x8xi8>, tensor<8x4xi8>) outs(%c : tensor<3x4xi32>) -> tensor<3x4xi32>
  return %y : tensor<3x4xi32>
}

// -----

// Products of i32 have no accumulator.
// CHECK-LABEL: func @wide_integers(
// CHECK:         linalg.matmul
func.func @wide_integers(%a: tensor<3x8xi32>, %b: tensor<8x4xi32>, %c: tensor<3x4xi32>) -> tensor<3x4xi32> {
  %y = linalg.matmul ins(%a, %b : tensor<3x8xi32>, tensor<8x4xi32>) outs(%c : tensor<3x4xi32>) -> tensor<3x4xi32>
  return %y : tensor<3x4xi32>
}

// -----

// The product is rounded to bf16 before the sum.
// CHECK-LABEL: func @narrow_product(
// CHECK:         linalg.generic
func.func @narrow_product(%a: tensor<3x8xbf16>, %b: tensor<8x4xbf16>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x8xbf16>, tensor<8x4xbf16>) outs(%c : tensor<3x4xf32>) {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %m = arith.mulf %p, %q : bf16
      %w = arith.extf %m : bf16 to f32
      %t = arith.addf %s, %w : f32
      linalg.yield %t : f32
  } -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Another semiring.
// CHECK-LABEL: func @maximum(
// CHECK:         linalg.generic
func.func @maximum(%a: tensor<3x8xf32>, %b: tensor<8x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x8xf32>, tensor<8x4xf32>) outs(%c : tensor<3x4xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.maximumf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// The square of one input alone.
// CHECK-LABEL: func @square(
// CHECK:         linalg.generic
func.func @square(%a: tensor<3x8xf32>, %b: tensor<8x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x8xf32>, tensor<8x4xf32>) outs(%c : tensor<3x4xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %m = arith.mulf %p, %p : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Two reductions, an outer product without one, and a dot product.
// CHECK-LABEL: func @other_ranks(
// CHECK:         linalg.generic
// CHECK:         linalg.generic
// CHECK:         linalg.dot
func.func @other_ranks(%a: tensor<3x8x2xf32>, %b: tensor<8x2x4xf32>, %c: tensor<3x4xf32>, %u: tensor<3xf32>, %v: tensor<4xf32>, %d: tensor<f32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>) {
  %x = linalg.generic {
      indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (k, l, n)>, affine_map<(m, n, k, l) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<3x8x2xf32>, tensor<8x2x4xf32>) outs(%c : tensor<3x4xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<3x4xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%u, %v : tensor<3xf32>, tensor<4xf32>) outs(%c : tensor<3x4xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<3x4xf32>
  %z = linalg.dot ins(%u, %u : tensor<3xf32>, tensor<3xf32>) outs(%d : tensor<f32>) -> tensor<f32>
  return %x, %y, %z : tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>
}

// -----

// Pooling multiplies by nothing; a quantized convolution subtracts first.
// CHECK-LABEL: func @other_windows(
// CHECK:         linalg.pooling_nhwc_sum
// CHECK:         linalg.conv_2d_nhwc_hwcf_q
func.func @other_windows(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3xf32>, %e: tensor<1x4x4x2xf32>, %i: tensor<1x6x6x2xi8>, %f: tensor<3x3x2x5xi8>, %n: i32, %g: tensor<1x4x4x5xi32>) -> (tensor<1x4x4x2xf32>, tensor<1x4x4x5xi32>) {
  %y = linalg.pooling_nhwc_sum ins(%x, %w : tensor<1x6x6x2xf32>, tensor<3x3xf32>) outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %z = linalg.conv_2d_nhwc_hwcf_q ins(%i, %f, %n, %n : tensor<1x6x6x2xi8>, tensor<3x3x2x5xi8>, i32, i32) outs(%g : tensor<1x4x4x5xi32>) -> tensor<1x4x4x5xi32>
  return %y, %z : tensor<1x4x4x2xf32>, tensor<1x4x4x5xi32>
}

// -----

// linalg allows a result that leaves out rows of the image; conv2d does not.
// CHECK-LABEL: func @cut(
// CHECK:         linalg.conv_2d_nhwc_hwcf
func.func @cut(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x2x5xf32>, %e: tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32> {
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x6x2xf32>, tensor<3x3x2x5xf32>) outs(%e : tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  return %y : tensor<1x3x4x5xf32>
}

// -----

// The number of groups is an attribute: it must be known.
// CHECK-LABEL: func @dynamic_groups(
// CHECK:         linalg.depthwise_conv_2d_nhwc_hwc
func.func @dynamic_groups(%x: tensor<1x6x6x?xf32>, %w: tensor<3x3x?xf32>, %e: tensor<1x4x4x?xf32>) -> tensor<1x4x4x?xf32> {
  %y = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : tensor<1x6x6x?xf32>, tensor<3x3x?xf32>) outs(%e : tensor<1x4x4x?xf32>) -> tensor<1x4x4x?xf32>
  return %y : tensor<1x4x4x?xf32>
}

// -----

// Transposes and buffers stay.
// CHECK-LABEL: func @others(
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
func.func @others(%x: tensor<3x4xf32>, %e: tensor<4x3xf32>, %a: memref<3x8xf32>, %b: memref<8x4xf32>, %c: memref<3x4xf32>) -> tensor<4x3xf32> {
  %y = linalg.transpose ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]
  linalg.matmul ins(%a, %b : memref<3x8xf32>, memref<8x4xf32>) outs(%c : memref<3x4xf32>)
  return %y : tensor<4x3xf32>
}
