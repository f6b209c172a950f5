// RUN: tracea-opt %s --convert-linalg-to-tracea | FileCheck %s

// CHECK-LABEL: func @softmax(
// CHECK-SAME:    %[[X:.*]]: tensor<2x?x4xf32>, %[[E:.*]]: tensor<2x?x4xf32>
// CHECK:         tracea.softmax dim 1 ins(%[[X]] : {{.*}}) outs(%[[E]] : tensor<2x?x4xf32>)
func.func @softmax(%x: tensor<2x?x4xf32>, %e: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x?x4xf32>) outs(%e : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
