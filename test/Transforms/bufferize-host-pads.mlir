// RUN: tracea-opt %s --tracea-bufferize-host | FileCheck %s

// Each element of the result is written once: from the source, or by the body of the pad. Dimensions without padding are not asked.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME:    %[[X:.*]]: memref<?x8xf32>, %[[V:.*]]: f32, %[[N:.*]]: index)
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : memref<?x8xf32>)
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[AFTER:.*]] = arith.cmpi sge, %[[I]], %c2
// CHECK:           %[[ROW:.*]] = arith.subi %[[I]], %c2
// CHECK:           %[[BEFORE:.*]] = arith.cmpi slt, %[[ROW]], %dim
// CHECK:           %[[INSIDE:.*]] = arith.andi %[[AFTER]], %[[BEFORE]]
// CHECK:           scf.if %[[INSIDE]] -> (f32) {
// CHECK:             %[[E:.*]] = memref.load %[[X]][%[[ROW]], %[[J]]]
// CHECK:             scf.yield %[[E]]
// CHECK:           } else {
// CHECK:             scf.yield %[[V]]
// CHECK-NOT:     memref.copy
func.func @pad(%x: tensor<?x8xf32>, %v: f32, %n: index) -> tensor<?x8xf32> {
  %y = tensor.pad %x low[2, 0] high[%n, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
