// RUN: tracea-opt %s --split-input-file --tracea-bufferize-host | FileCheck %s

// What many read is hidden from the analysis of bufferization where nobody else
// writes it, and only there.

tracea_pipe.kernel @k(%a: memref<8x4xf32>, %d: memref<8x4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// The value, and all that is made of it, have memory of their own; nothing is
// copied, and nothing of the detour is left.
// CHECK-LABEL: func.func @read_by_many(
// CHECK-NOT:     bufferization
// CHECK-NOT:     memref.copy
// CHECK-COUNT-18: memref.alloc
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @read_by_many(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %v = tracea_pipe.launch @k ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r0 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r1 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r2 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r3 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r4 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r5 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r6 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r7 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r8 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r9 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r10 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r11 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r12 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r13 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r14 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r15 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r16 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %v, %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

tracea_pipe.kernel @k(%a: memref<8x4xf32>, %d: memref<8x4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// Overwritten before it is read: the writer works on a copy.
// CHECK-LABEL: func.func @written_between(
// CHECK:         tracea_pipe.launch @k ins(%{{.*}}) outs(%[[V:.*]] :
// CHECK:         memref.copy %[[V]], %[[COPY:.*]] :
// CHECK:         memref.store %{{.*}}, %[[COPY]]
// CHECK:         tracea_pipe.launch @k ins(%[[V]] :
func.func @written_between(%a: tensor<8x4xf32>, %f: f32) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8x4xf32>
  %v = tracea_pipe.launch @k ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %w = tensor.insert %f into %v[%c0, %c0] : tensor<8x4xf32>
  %r0 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r1 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r2 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r3 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r4 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r5 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r6 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r7 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r8 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r9 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r10 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r11 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r12 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r13 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r14 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r15 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r16 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

tracea_pipe.kernel @k(%a: memref<8x4xf32>, %d: memref<8x4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// A part of another tensor, which is overwritten before the part is read.
// CHECK-LABEL: func.func @part_of_another(
// CHECK:         memref.copy
// CHECK:         memref.store
// CHECK:         tracea_pipe.launch @k
func.func @part_of_another(%a: tensor<16x4xf32>, %f: f32) -> (tensor<16x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8x4xf32>
  %big = tensor.empty() : tensor<16x4xf32>
  %all = linalg.copy ins(%a : tensor<16x4xf32>) outs(%big : tensor<16x4xf32>) -> tensor<16x4xf32>
  %v = tensor.extract_slice %all[0, 0] [8, 4] [1, 1] : tensor<16x4xf32> to tensor<8x4xf32>
  %w = tensor.insert %f into %all[%c0, %c0] : tensor<16x4xf32>
  %r0 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r1 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r2 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r3 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r4 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r5 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r6 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r7 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r8 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r9 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r10 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r11 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r12 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r13 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r14 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r15 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r16 = tracea_pipe.launch @k ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16 : tensor<16x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
