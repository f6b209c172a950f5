// RUN: tracea-opt %s --pass-pipeline="builtin.module(func.func(tracea-elementwise-to-linalg,tracea-gather-to-linalg))" | FileCheck %s

// The destination is no operand: the sum would be one of its own destination's
// users, and could not be fused.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>)
// CHECK:         %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[A]], %[[B]] :
// CHECK-SAME:      outs(%[[E]] :
// CHECK:           arith.addf
func.func @sum(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Constants and operations on scalars stay.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT:     linalg
// CHECK:         return
func.func @stays(%a: f32) -> (f32, tensor<4xf32>) {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %0 = arith.addf %a, %a : f32
  return %0, %c : f32, tensor<4xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME:    %[[A:.*]]: tensor<8x?xf32>, %[[I:.*]]: tensor<?x1xi32>)
// CHECK:         linalg.generic
// CHECK:           %[[ROW:.*]] = linalg.index 0
// CHECK:           %[[COLUMN:.*]] = linalg.index 1
// CHECK:           %[[K:.*]] = tensor.extract %[[I]][%[[ROW]], %{{.*}}]
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[K]] : i32 to index
// CHECK:           tensor.extract %[[A]][%[[INDEX]], %[[COLUMN]]]
func.func @gather(%a: tensor<8x?xf32>, %i: tensor<?x1xi32>) -> tensor<?x?xf32> {
  %0 = tensor.gather %a[%i] gather_dims([0]) : (tensor<8x?xf32>, tensor<?x1xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
