// RUN: tracea-opt %s -split-input-file --tracea-propagate-transposes | FileCheck %s

// Both operands; a generic operation that permutes counts as well.
// CHECK-LABEL: func.func @gemm_operands
// CHECK: tracea.gemm transpose_lhs transpose_rhs ins(%arg0, %arg1 : tensor<8x4xf32>, tensor<16x8xf32>)
// CHECK-NOT: linalg
func.func @gemm_operands(%a: tensor<8x4xf32>, %b: tensor<16x8xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %e0 = tensor.empty() : tensor<4x8xf32>
  %e1 = tensor.empty() : tensor<8x16xf32>
  %x = linalg.transpose ins(%a : tensor<8x4xf32>) outs(%e0 : tensor<4x8xf32>) permutation = [1, 0]
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<16x8xf32>) outs(%e1 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
  } -> tensor<8x16xf32>
  %0 = tracea.gemm ins(%x, %y : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  return %0 : tensor<4x16xf32>
}

// -----

// A flag that is set already is cleared; a permutation of the batch stays.
// CHECK-LABEL: func.func @gemm_batch
// CHECK: %[[T:.*]] = linalg.transpose ins(%arg1
// CHECK: tracea.gemm ins(%arg0, %[[T]] : tensor<2x4x8xf32>, tensor<2x8x16xf32>)
func.func @gemm_batch(%a: tensor<2x4x8xf32>, %b: tensor<8x2x16xf32>, %d: tensor<2x4x16xf32>) -> tensor<2x4x16xf32> {
  %e0 = tensor.empty() : tensor<2x8x4xf32>
  %e1 = tensor.empty() : tensor<2x8x16xf32>
  %x = linalg.transpose ins(%a : tensor<2x4x8xf32>) outs(%e0 : tensor<2x8x4xf32>) permutation = [0, 2, 1]
  %y = linalg.transpose ins(%b : tensor<8x2x16xf32>) outs(%e1 : tensor<2x8x16xf32>) permutation = [1, 0, 2]
  %0 = tracea.gemm transpose_lhs ins(%x, %y : tensor<2x8x4xf32>, tensor<2x8x16xf32>) outs(%d : tensor<2x4x16xf32>)
  return %0 : tensor<2x4x16xf32>
}

// -----

// (A B^T)^T = B A^T, written to the transposition's destination; the bias runs
// along the other dimension now.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @gemm_result
// CHECK: %[[R:.*]] = tracea.gemm transpose_rhs ins(%arg1, %arg0 : tensor<16x8xf32>, tensor<4x8xf32>) outs(%arg3 : tensor<16x4xf32>)
// CHECK-SAME: epilogue(%arg2 by #[[ROW]] : tensor<16xf32>)
// CHECK-NOT: linalg
// CHECK: return %[[R]]
func.func @gemm_result(%a: tensor<4x8xf32>, %b: tensor<16x8xf32>, %c: tensor<16xf32>, %o: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4x8xf32>, tensor<16x8xf32>) outs(%d : tensor<4x16xf32>)
      epilogue(%c by affine_map<(m, n) -> (n)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      tracea.yield %s : f32
  }
  %1 = linalg.transpose ins(%0 : tensor<4x16xf32>) outs(%o : tensor<16x4xf32>) permutation = [1, 0]
  return %1 : tensor<16x4xf32>
}

// -----

// Somebody else reads the product as it is.
// CHECK-LABEL: func.func @gemm_result_twice
// CHECK: tracea.gemm ins(%arg0, %arg1
// CHECK: linalg.transpose
func.func @gemm_result_twice(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>, %o: tensor<16x4xf32>) -> (tensor<4x16xf32>, tensor<16x4xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.transpose ins(%0 : tensor<4x16xf32>) outs(%o : tensor<16x4xf32>) permutation = [1, 0]
  return %0, %1 : tensor<4x16xf32>, tensor<16x4xf32>
}

// -----

// PyTorch's order around a channels-last convolution: both transpositions of
// the activations and that of the filter go.
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-LABEL: func.func @conv_sandwich
// CHECK: %[[R:.*]] = tracea.conv2d layout nchw filter kcrs ins(%arg0, %arg1 : tensor<1x4x8x8xf32>, tensor<16x4x3x3xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<1x16x6x6xf32>)
// CHECK-SAME: epilogue(%arg2 by #[[C]]
// CHECK-NOT: linalg
// CHECK: return %[[R]]
func.func @conv_sandwich(%x: tensor<1x4x8x8xf32>, %w: tensor<16x4x3x3xf32>, %b: tensor<16xf32>) -> tensor<1x16x6x6xf32> {
  %e0 = tensor.empty() : tensor<1x8x8x4xf32>
  %e1 = tensor.empty() : tensor<16x3x3x4xf32>
  %e2 = tensor.empty() : tensor<1x6x6x16xf32>
  %e3 = tensor.empty() : tensor<1x16x6x6xf32>
  %xt = linalg.transpose ins(%x : tensor<1x4x8x8xf32>) outs(%e0 : tensor<1x8x8x4xf32>) permutation = [0, 2, 3, 1]
  %wt = linalg.transpose ins(%w : tensor<16x4x3x3xf32>) outs(%e1 : tensor<16x3x3x4xf32>) permutation = [0, 2, 3, 1]
  %0 = tracea.conv2d layout nhwc filter krsc ins(%xt, %wt : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%e2 : tensor<1x6x6x16xf32>)
      epilogue(%b by affine_map<(n, p, q, k) -> (k)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %in: f32):
      %s = arith.addf %acc, %in : f32
      tracea.yield %s : f32
  }
  %1 = linalg.transpose ins(%0 : tensor<1x6x6x16xf32>) outs(%e3 : tensor<1x16x6x6xf32>) permutation = [0, 3, 1, 2]
  return %1 : tensor<1x16x6x6xf32>
}

// -----

// From rsck to krsc and kcrs there are layouts, to crsk there is none. A
// transposed image alone stays: changing the layout would only move it.
// CHECK-LABEL: func.func @conv_parts
// CHECK: %[[X:.*]] = linalg.transpose ins(%arg0
// CHECK: tracea.conv2d layout nhwc filter rsck ins(%[[X]], %arg1 :
// CHECK: %[[W:.*]] = linalg.transpose ins(%arg2
// CHECK: tracea.conv2d layout nhwc filter krsc ins(%[[X]], %[[W]] :
func.func @conv_parts(%x: tensor<1x4x8x8xf32>, %w: tensor<3x3x4x16xf32>, %v: tensor<4x3x3x16xf32>, %d: tensor<1x6x6x16xf32>) -> (tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>) {
  %e0 = tensor.empty() : tensor<1x8x8x4xf32>
  %e1 = tensor.empty() : tensor<16x3x3x4xf32>
  %xt = linalg.transpose ins(%x : tensor<1x4x8x8xf32>) outs(%e0 : tensor<1x8x8x4xf32>) permutation = [0, 2, 3, 1]
  %wt = linalg.transpose ins(%w : tensor<3x3x4x16xf32>) outs(%e1 : tensor<16x3x3x4xf32>) permutation = [3, 0, 1, 2]
  %0 = tracea.conv2d layout nhwc filter krsc ins(%xt, %wt : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x6x6x16xf32>)
  %vt = linalg.transpose ins(%v : tensor<4x3x3x16xf32>) outs(%e1 : tensor<16x3x3x4xf32>) permutation = [3, 1, 2, 0]
  %1 = tracea.conv2d layout nhwc filter krsc ins(%xt, %vt : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x6x6x16xf32>)
  return %0, %1 : tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>
}

// -----

// result[i, j, k] = b[k, i, j] where b[x, y, z] = a[z, x, y], hence a[j, k, i]:
// one transposition; the other pair cancels.
// CHECK-LABEL: func.func @twice
// CHECK: %[[T:.*]] = linalg.transpose ins(%arg0 : tensor<2x3x4xf32>) outs(%{{.*}} : tensor<4x2x3xf32>) permutation = [2, 0, 1]
// CHECK-NOT: linalg
// CHECK: return %[[T]], %arg0
func.func @twice(%a: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %e0 = tensor.empty() : tensor<3x4x2xf32>
  %e1 = tensor.empty() : tensor<4x2x3xf32>
  %e2 = tensor.empty() : tensor<2x3x4xf32>
  %0 = linalg.transpose ins(%a : tensor<2x3x4xf32>) outs(%e0 : tensor<3x4x2xf32>) permutation = [1, 2, 0]
  %1 = linalg.transpose ins(%0 : tensor<3x4x2xf32>) outs(%e1 : tensor<4x2x3xf32>) permutation = [1, 2, 0]
  %2 = linalg.transpose ins(%1 : tensor<4x2x3xf32>) outs(%e2 : tensor<2x3x4xf32>) permutation = [1, 2, 0]
  return %1, %2 : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// -----

// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @extra
// CHECK-NOT: linalg
// CHECK: tracea.gemm
// CHECK-SAME: epilogue(%arg2 by #[[SWAP]] : tensor<16x4xf32>)
func.func @extra(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16x4xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %t = linalg.transpose ins(%c : tensor<16x4xf32>) outs(%d : tensor<4x16xf32>) permutation = [1, 0]
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
      epilogue(%t by affine_map<(m, n) -> (m, n)> : tensor<4x16xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      tracea.yield %s : f32
  }
  return %0 : tensor<4x16xf32>
}

// -----

// Gradients: a filter that is transposed before, or whose gradient is transposed after, is of another layout. The gradient
// stays where it is, and what its epilogue reads follows the result.
// CHECK-LABEL: func.func @filter_gradients(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x8x4xf32>, %[[DY:.*]]: tensor<2x6x6x16xf32>, %[[W:.*]]: tensor<16x3x3x4xf32>, %[[S:.*]]: tensor<16xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[DX:.*]] = tracea.conv2d_dgrad layout nhwc filter krsc ins(%[[DY]], %[[W]] :
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[DW:.*]] = tracea.conv2d_wgrad layout nhwc filter krsc ins(%[[X]], %[[DY]] : {{.*}}) outs(%{{.*}} : tensor<16x3x3x4xf32>) epilogue(%[[S]] by #[[K:.*]] : tensor<16xf32>)
// CHECK:         math.exp
// CHECK-NOT:     linalg.transpose
// CHECK:         return %[[DX]], %[[DW]]
func.func @filter_gradients(%x: tensor<2x8x8x4xf32>, %dy: tensor<2x6x6x16xf32>, %w: tensor<16x3x3x4xf32>, %s: tensor<16xf32>) -> (tensor<2x8x8x4xf32>, tensor<16x3x3x4xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16x4x3x3xf32>
  %wt = linalg.transpose ins(%w : tensor<16x3x3x4xf32>) outs(%e : tensor<16x4x3x3xf32>) permutation = [0, 3, 1, 2]
  %ex = tensor.empty() : tensor<2x8x8x4xf32>
  %dx = tracea.conv2d_dgrad layout nhwc filter kcrs ins(%dy, %wt : tensor<2x6x6x16xf32>, tensor<16x4x3x3xf32>) outs(%ex : tensor<2x8x8x4xf32>)
  %dw = tracea.conv2d_wgrad layout nhwc filter kcrs ins(%x, %dy : tensor<2x8x8x4xf32>, tensor<2x6x6x16xf32>) outs(%e : tensor<16x4x3x3xf32>) epilogue(%s by affine_map<(k, c, r, t) -> (k)> : tensor<16xf32>) {
  ^bb0(%acc: f32, %scale: f32):
    %m = arith.mulf %acc, %scale : f32
    tracea.yield %m : f32
  }
  %es = tensor.empty() : tensor<16xf32>
  %other = linalg.generic {indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>], iterator_types = ["parallel"]} ins(%s : tensor<16xf32>) outs(%es : tensor<16xf32>) {
  ^bb0(%a: f32, %old: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %ew = tensor.empty() : tensor<16x3x3x4xf32>
  %dwt = linalg.transpose ins(%dw : tensor<16x4x3x3xf32>) outs(%ew : tensor<16x3x3x4xf32>) permutation = [0, 2, 3, 1]
  return %dx, %dwt, %other : tensor<2x8x8x4xf32>, tensor<16x3x3x4xf32>, tensor<16xf32>
}

// -----

// No filter has its taps in between, and what others read as it is stays so.
// CHECK-LABEL: func.func @other_filter_gradients(
// CHECK:         tracea.conv2d_wgrad layout nhwc filter krsc
// CHECK:         linalg.transpose
// CHECK:         tracea.conv2d_wgrad layout nhwc filter kcrs
// CHECK:         linalg.transpose
func.func @other_filter_gradients(%x: tensor<2x8x8x4xf32>, %dy: tensor<2x6x6x16xf32>) -> (tensor<16x3x4x3xf32>, tensor<16x4x3x3xf32>, tensor<16x3x3x4xf32>) {
  %e0 = tensor.empty() : tensor<16x3x3x4xf32>
  %e1 = tensor.empty() : tensor<16x4x3x3xf32>
  %e2 = tensor.empty() : tensor<16x3x4x3xf32>
  %a = tracea.conv2d_wgrad layout nhwc filter krsc ins(%x, %dy : tensor<2x8x8x4xf32>, tensor<2x6x6x16xf32>) outs(%e0 : tensor<16x3x3x4xf32>)
  %at = linalg.transpose ins(%a : tensor<16x3x3x4xf32>) outs(%e2 : tensor<16x3x4x3xf32>) permutation = [0, 1, 3, 2]
  %b = tracea.conv2d_wgrad layout nhwc filter kcrs ins(%x, %dy : tensor<2x8x8x4xf32>, tensor<2x6x6x16xf32>) outs(%e1 : tensor<16x4x3x3xf32>)
  %bt = linalg.transpose ins(%b : tensor<16x4x3x3xf32>) outs(%e0 : tensor<16x3x3x4xf32>) permutation = [0, 2, 3, 1]
  return %at, %b, %bt : tensor<16x3x4x3xf32>, tensor<16x4x3x3xf32>, tensor<16x3x3x4xf32>
}
