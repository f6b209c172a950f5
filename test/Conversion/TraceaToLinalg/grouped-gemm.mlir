// RUN: tracea-opt %s --convert-tracea-to-linalg | FileCheck %s

// The group of a row is the first whose end lies beyond it; a row without one
// has no terms.
// CHECK-LABEL: func @grouped(
// CHECK-SAME: %[[A:.*]]: tensor<?x8xbf16>, %[[B:.*]]: tensor<3x4x8xbf16>, %[[E:.*]]: tensor<3xi32>, %[[D:.*]]: tensor<?x4xbf16>)
// CHECK: %[[NONE:.*]] = linalg.fill ins(%{{.*}} : i64) outs(%{{.*}} : tensor<?xi64>)
// CHECK: %[[GROUPS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[E]] : tensor<3xi32>) outs(%[[NONE]] : tensor<?xi64>)
// CHECK: ^bb0(%[[END:.*]]: i32, %[[BEST:.*]]: i64):
// CHECK: %[[WIDE:.*]] = arith.extsi %[[END]] : i32 to i64
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %{{.*}}, %[[WIDE]] : i64
// CHECK: %[[LEAST:.*]] = arith.minsi %[[BEST]], %{{.*}} : i64
// CHECK: arith.select %[[BELOW]], %[[LEAST]], %[[BEST]] : i64
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[GROUPS]], %[[A]] : tensor<?xi64>, tensor<?x8xbf16>) outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: ^bb0(%[[GROUP:.*]]: i64, %[[LHS:.*]]: bf16, %[[ACC:.*]]: f32):
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[GROUP]] : i64 to index
// CHECK: %[[G:.*]] = arith.maxsi %[[NUMBER]], %{{.*}} : index
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[G]], %{{.*}} : index
// CHECK: %[[N:.*]] = linalg.index 1
// CHECK: %[[K:.*]] = linalg.index 2
// CHECK: scf.if %[[HAS]] -> (f32) {
// CHECK: tensor.extract %[[B]][%[[G]], %[[N]], %[[K]]] : tensor<3x4x8xbf16>
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ACC]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<?x4xf32>) outs(%[[D]] : tensor<?x4xbf16>)
func.func @grouped(%a: tensor<?x8xbf16>, %b: tensor<3x4x8xbf16>, %e: tensor<3xi32>, %d: tensor<?x4xbf16>) -> tensor<?x4xbf16> {
  %0 = tracea.grouped_gemm transpose_rhs ins(%a, %b, %e : tensor<?x8xbf16>, tensor<3x4x8xbf16>, tensor<3xi32>)
                           outs(%d : tensor<?x4xbf16>)
  return %0 : tensor<?x4xbf16>
}
