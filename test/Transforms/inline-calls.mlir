// RUN: tracea-opt %s --tracea-inline-calls | FileCheck %s

// CHECK-NOT: private
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[A:.*]] = math.exp %[[X]]
// CHECK-NEXT:    %[[B:.*]] = arith.addf %[[A]], %[[X]]
// CHECK-NEXT:    %[[C:.*]] = math.exp %[[B]]
// CHECK-NEXT:    return %[[C]], %[[X]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y, %same = call @outer(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %z = call @inner(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z, %same : tensor<4xf32>, tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = arith.addf %y, %x : tensor<4xf32>
  return %z, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
