// RUN: tracea-opt %s --convert-tracea-to-linalg --split-input-file | FileCheck %s

// The factors are widened to the accumulator's type before the product; the
// result is narrowed once, at the end.
// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @epilogue(
// CHECK-SAME:    %[[A:.*]]: tensor<?x8xbf16>, %[[B:.*]]: tensor<4x8xbf16>, %[[C:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<?x4xbf16>
// CHECK:         %[[M:.*]] = tensor.dim %[[D]]
// CHECK:         %[[E:.*]] = tensor.empty(%[[M]]) : tensor<?x4xf32>
// CHECK:         %[[Z:.*]] = linalg.fill ins({{.*}} : f32) outs(%[[E]]
// CHECK:         %[[S:.*]] = linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]],
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME:      ins(%[[A]], %[[B]] {{.*}} outs(%[[Z]]
// CHECK:           arith.extf {{.*}} : bf16 to f32
// CHECK:           arith.extf {{.*}} : bf16 to f32
// CHECK:           %[[P:.*]] = arith.mulf {{.*}} : f32
// CHECK:           arith.addf %{{.*}}, %[[P]] : f32
// CHECK:         %[[Y:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[ROW]], #{{.*}}]
// CHECK-SAME:      ins(%[[S]], %[[C]] {{.*}} outs(%[[D]]
// CHECK:           %[[T:.*]] = arith.addf {{.*}} : f32
// CHECK:           %[[N:.*]] = arith.truncf %[[T]] : f32 to bf16
// CHECK:           linalg.yield %[[N]]
// CHECK:         return %[[Y]]
func.func @epilogue(%a: tensor<?x8xbf16>, %b: tensor<4x8xbf16>, %c: tensor<4xf32>, %d: tensor<?x4xbf16>) -> tensor<?x4xbf16> {
  %y = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x8xbf16>, tensor<4x8xbf16>) outs(%d : tensor<?x4xbf16>)
    epilogue(%c by affine_map<(m, n) -> (n)> : tensor<4xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %y : tensor<?x4xbf16>
}

// -----

// An operand without batch dimensions is read by the whole batch.
// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-LABEL: func @shared(
// CHECK:         linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #{{.*}}],
func.func @shared(%a: tensor<2x4x3xf32>, %b: tensor<4x5xf32>, %d: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %y = tracea.gemm transpose_lhs ins(%a, %b : tensor<2x4x3xf32>, tensor<4x5xf32>) outs(%d : tensor<2x3x5xf32>)
  return %y : tensor<2x3x5xf32>
}

// -----

// Integers are signed; the sum is of i32.
// CHECK-LABEL: func @integers(
// CHECK:         arith.extsi {{.*}} : i8 to i32
// CHECK:         arith.extsi {{.*}} : i8 to i32
// CHECK:         arith.muli {{.*}} : i32
// CHECK:         arith.addi {{.*}} : i32
// CHECK:         arith.sitofp {{.*}} : i32 to f32
func.func @integers(%a: tensor<2x3xi8>, %b: tensor<3x4xi8>, %d: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = tracea.gemm ins(%a, %b : tensor<2x3xi8>, tensor<3x4xi8>) outs(%d : tensor<2x4xf32>)
  return %y : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func @wide_accumulator(
// CHECK:         arith.extf {{.*}} : f32 to f64
// CHECK:         arith.truncf {{.*}} : f64 to f32
func.func @wide_accumulator(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %d: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = tracea.gemm acc f64 ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%d : tensor<2x4xf32>)
  return %y : tensor<2x4xf32>
}

// -----

// Auxiliary results: what is reduced is computed whole, in one pass with the
// others, and reduced from nothing; the old contents are not read.
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[NM:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[M:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[N:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @aux(
// CHECK-SAME:    %[[D:[a-z0-9]+]]: tensor<?x4xf32>, %[[T:[a-z0-9]+]]: tensor<4x?xbf16>, %[[R:[a-z0-9]+]]: tensor<?xf32>, %[[C:[a-z0-9]+]]: tensor<4xi32>
// CHECK:         %[[Y:.*]]:4 = linalg.generic {indexing_maps = [#[[MN]], #[[MN]], #[[NM]], #[[MN]], #[[MN]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      outs(%[[D]], %[[T]], %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<4x?xbf16>, tensor<?x4xf32>, tensor<?x4xi32>)
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[R]]
// CHECK:         %[[ROWS:.*]] = linalg.generic {indexing_maps = [#[[MN]], #[[M]]], iterator_types = ["parallel", "reduction"]} ins(%[[Y]]#2 {{.*}} outs(%[[START]]
// CHECK:           arith.addf
// CHECK:         %[[LEAST:.*]] = arith.constant -2147483648 : i32
// CHECK:         %[[FROM:.*]] = linalg.fill ins(%[[LEAST]] : i32) outs(%[[C]]
// CHECK:         %[[COLUMNS:.*]] = linalg.generic {indexing_maps = [#[[MN]], #[[N]]], iterator_types = ["reduction", "parallel"]} ins(%[[Y]]#3 {{.*}} outs(%[[FROM]]
// CHECK:           arith.maxsi
// CHECK:         return %[[Y]]#0, %[[Y]]#1, %[[ROWS]], %[[COLUMNS]]
func.func @aux(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>, %d: tensor<?x4xf32>, %t: tensor<4x?xbf16>, %r: tensor<?xf32>, %c: tensor<4xi32>) -> (tensor<?x4xf32>, tensor<4x?xbf16>, tensor<?xf32>, tensor<4xi32>) {
  %y:4 = tracea.gemm ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%d : tensor<?x4xf32>)
    aux(%t by affine_map<(m, n) -> (n, m)>, add %r by affine_map<(m, n) -> (m)>, max %c by affine_map<(m, n) -> (n)>
        : tensor<4x?xbf16>, tensor<?xf32>, tensor<4xi32>) epilogue {
    ^bb0(%acc: f32):
      %h = arith.truncf %acc : f32 to bf16
      %q = arith.mulf %acc, %acc : f32
      %i = arith.fptosi %acc : f32 to i32
      tracea.yield %acc, %h, %q, %i : f32, bf16, f32, i32
    }
  return %y#0, %y#1, %y#2, %y#3 : tensor<?x4xf32>, tensor<4x?xbf16>, tensor<?xf32>, tensor<4xi32>
}
