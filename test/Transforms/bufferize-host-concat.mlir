// RUN: tracea-opt %s --split-input-file --tracea-bufferize-host | FileCheck %s

// On a GPU each element of the result is written once, in one loop, from the operand that it is in.
// CHECK-LABEL: func.func @lanes(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x3xf32>, %[[B:[^:]*]]: memref<?x5xf32>, %[[C:[^:]*]]: memref<?x?xf32>
// CHECK:         cf.assert %{{.*}}, "tensor.concat: expected dimension 0 of operand #1 to be as long as that of operand #0"
// CHECK:         cf.assert %{{.*}}, "tensor.concat: expected dimension 0 of operand #2 to be as long as that of operand #0"
// CHECK:         linalg.generic
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[FIRST:.*]] = arith.cmpi slt, %[[J]], %c3
// CHECK:           scf.if %[[FIRST]] -> (f32) {
// CHECK:             memref.load %[[A]][%[[I]], %[[J]]]
// CHECK:           } else {
// CHECK:             %[[PAST:.*]] = arith.subi %[[J]], %c3
// CHECK:             %[[SECOND:.*]] = arith.cmpi slt, %[[PAST]], %c5
// CHECK:             scf.if %[[SECOND]] -> (f32) {
// CHECK:               memref.load %[[B]][%[[I]], %[[PAST]]]
// CHECK:             } else {
// CHECK:               %[[LAST:.*]] = arith.subi %[[J]], %c8
// CHECK:               memref.load %[[C]][%[[I]], %[[LAST]]]
// CHECK-NOT:     memref.copy
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @lanes(%a: tensor<?x3xf32>, %b: tensor<?x5xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %y = tensor.concat dim(1) %a, %b, %c : (tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  }
}

// -----

// What lies in one piece of the result is copied.
// CHECK-LABEL: func.func @pieces(
// CHECK-NOT:     linalg.generic
// CHECK:         memref.copy
// CHECK:         memref.copy
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @pieces(%a: tensor<1x3x4xf32>, %b: tensor<1x5x4xf32>) -> tensor<1x8x4xf32> {
    %y = tensor.concat dim(1) %a, %b : (tensor<1x3x4xf32>, tensor<1x5x4xf32>) -> tensor<1x8x4xf32>
    return %y : tensor<1x8x4xf32>
  }
}

// -----

// A core copies runs of memory, behind the same checks.
// CHECK-LABEL: func.func @core(
// CHECK:         cf.assert %{{.*}}, "tensor.concat: expected dimension 0 of operand #1 to be as long as that of operand #0"
// CHECK-NOT:     linalg.generic
// CHECK:         memref.copy
// CHECK:         memref.copy
func.func @core(%a: tensor<4x3xf32>, %b: tensor<?x5xf32>) -> tensor<4x8xf32> {
  %y = tensor.concat dim(1) %a, %b : (tensor<4x3xf32>, tensor<?x5xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
