// RUN: tracea-opt %s --convert-linalg-to-tracea --split-input-file | FileCheck %s

// CHECK-LABEL: func @matmul(
// CHECK-SAME:    %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8x4xf32>, %[[E:.*]]: tensor<?x4xf32>
// CHECK-NOT:     linalg.fill
// CHECK:         %[[Y:.*]] = tracea.gemm ins(%[[A]], %[[B]] : {{.*}}) outs(%[[E]] : tensor<?x4xf32>)
// CHECK-NEXT:    return %[[Y]]
func.func @matmul(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>, %e: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%z : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// The transposes are in the maps of linalg and in the flags of gemm.
// CHECK-LABEL: func @transposed(
// CHECK:         tracea.gemm transpose_lhs transpose_rhs ins(
func.func @transposed(%a: tensor<8x3xf32>, %b: tensor<4x8xf32>) -> tensor<3x4xf32> {
  %z = arith.constant dense<0.0> : tensor<3x4xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<8x3xf32>, tensor<4x8xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// The widening of the inputs is that of the accumulator.
// CHECK-LABEL: func @widening(
// CHECK:         tracea.gemm ins({{.*}} : tensor<3x8xbf16>, tensor<8x4xbf16>) outs({{.*}} : tensor<3x4xf32>)
func.func @widening(%a: tensor<3x8xbf16>, %b: tensor<8x4xbf16>, %e: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<3x8xbf16>, tensor<8x4xbf16>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func @explicit_accumulator(
// CHECK:         tracea.gemm acc f64 ins({{.*}} : tensor<3x8xf32>
func.func @explicit_accumulator(%a: tensor<3x8xf32>, %b: tensor<8x4xf32>, %e: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %zero = arith.constant 0.0 : f64
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<3x4xf64>) -> tensor<3x4xf64>
  %y = linalg.matmul ins(%a, %b : tensor<3x8xf32>, tensor<8x4xf32>) outs(%z : tensor<3x4xf64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

// -----

// CHECK-LABEL: func @integers(
// CHECK:         tracea.gemm ins({{.*}} : tensor<3x8xi8>, tensor<8x4xi8>) outs({{.*}} : tensor<3x4xi32>)
func.func @integers(%a: tensor<3x8xi8>, %b: tensor<8x4xi8>, %e: tensor<3x4xi32>) -> tensor<3x4xi32> {
  %zero = arith.constant 0 : i32
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<3x4xi32>) -> tensor<3x4xi32>
  %y = linalg.matmul ins(%a, %b : tensor<3x8xi8>, tensor<8x4xi8>) outs(%z : tensor<3x4xi32>) -> tensor<3x4xi32>
  return %y : tensor<3x4xi32>
}

// -----

// A sum that does not start from zero gets its start added at the end.
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func @accumulating(
// CHECK-SAME:    %[[C:[a-z0-9]*]]: tensor<2x3x4xf32>)
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<2x3x4xf32>
// CHECK:         tracea.gemm ins({{.*}}) outs(%[[E]] : {{.*}}) epilogue(%[[C]] by #[[ID]] : tensor<2x3x4xf32>)
// CHECK:         ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f32):
// CHECK:           %[[S:.*]] = arith.addf %[[ACC]], %[[IN]] : f32
// CHECK:           tracea.yield %[[S]] : f32
func.func @accumulating(%a: tensor<2x3x8xf32>, %b: tensor<2x8x4xf32>, %c: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = linalg.batch_matmul ins(%a, %b : tensor<2x3x8xf32>, tensor<2x8x4xf32>) outs(%c : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// A negative zero is not what an empty sum starts from.
// CHECK-LABEL: func @negative_zero(
// CHECK:         tracea.gemm {{.*}} epilogue
func.func @negative_zero(%a: tensor<3x8xf32>, %b: tensor<8x4xf32>, %e: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant -0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.matmul ins(%a, %b : tensor<3x8xf32>, tensor<8x4xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// A bias is read through its broadcast.
// CHECK:       #[[BIAS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @bias(
// CHECK-SAME:    %[[C:[a-z0-9]*]]: tensor<4xf32>,
// CHECK-NOT:     linalg.broadcast
// CHECK:         tracea.gemm {{.*}} epilogue(%[[C]] by #[[BIAS]] : tensor<4xf32>)
func.func @bias(%a: tensor<3x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4xf32>, %e: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %z = linalg.broadcast ins(%c : tensor<4xf32>) outs(%e : tensor<3x4xf32>) dimensions = [0]
  %y = linalg.matmul ins(%a, %b : tensor<3x8xf32>, tensor<8x4xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// A generic is a contraction as much as a named operation; here the second
// input gives the rows, and the first is shared by the batch.
// CHECK-LABEL: func @generic(
// CHECK-SAME:    %[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<2x3x8xf32>
// CHECK:         tracea.gemm ins(%[[B]], %[[A]] : tensor<2x3x8xf32>, tensor<8x4xf32>)
func.func @generic(%a: tensor<8x4xf32>, %b: tensor<2x3x8xf32>, %e: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x4xf32>, tensor<2x3x8xf32>) outs(%z : tensor<2x3x4xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %m = arith.mulf %q, %p : f32
      %t = arith.addf %m, %s : f32
      linalg.yield %t : f32
  } -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Vectors are matrices with one row or one column.
// CHECK-LABEL: func @vectors(
// CHECK-SAME:    %[[A:[a-z0-9]*]]: tensor<?x8xf32>, %[[X:[a-z0-9]*]]: tensor<8xf32>
// CHECK:         %[[COLUMN:.*]] = tensor.expand_shape %[[X]] {{\[}}[0, 1]] output_shape [8, 1]
// CHECK:         %[[P:.*]] = tracea.gemm ins(%[[A]], %[[COLUMN]] : tensor<?x8xf32>, tensor<8x1xf32>) outs({{.*}} : tensor<?x1xf32>)
// CHECK:         %[[V:.*]] = tensor.collapse_shape %[[P]] {{\[}}[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
// CHECK:         %[[ROW:.*]] = tensor.expand_shape %[[V]] {{\[}}[0, 1]] output_shape [1, %{{.*}}]
// CHECK:         %[[Q:.*]] = tracea.gemm ins(%[[ROW]], %[[A]] : tensor<1x?xf32>, tensor<?x8xf32>) outs({{.*}} : tensor<1x8xf32>)
// CHECK:         tensor.collapse_shape %[[Q]] {{\[}}[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
func.func @vectors(%a: tensor<?x8xf32>, %x: tensor<8xf32>, %e: tensor<?xf32>, %f: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %v = linalg.matvec ins(%a, %x : tensor<?x8xf32>, tensor<8xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  %u = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %w = linalg.vecmat ins(%v, %a : tensor<?xf32>, tensor<?x8xf32>) outs(%u : tensor<8xf32>) -> tensor<8xf32>
  return %w : tensor<8xf32>
}
