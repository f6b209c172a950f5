// Loops over an operand without elements, of which there are no windows, stay whole. Those without
// iterations are not launched; that their memory has the extents they expect is still checked.
// RUN: tracea-opt %s --tracea-outline-host | FileCheck %s

#target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 512>
module attributes {tracea.target = #target} {
// CHECK-LABEL: func.func @without_iterations(
// CHECK-SAME:      %[[A:.*]]: memref<2x0x?x8xf64>,
// CHECK:         %[[DIM:.*]] = memref.dim %[[A]], %c2
// CHECK:         %[[HOLDS:.*]] = arith.cmpi eq, %[[DIM]], %c1
// CHECK:         cf.assert %[[HOLDS]], "dimension 2 is expected to be 1"
// CHECK-NOT:     memref.cast
// CHECK-NOT:     tracea_pipe.launch
// CHECK:         return
func.func @without_iterations(%a: memref<2x0x?x8xf64>, %d: memref<2x1x0x8xf64>) {
  %cast = memref.cast %a : memref<2x0x?x8xf64> to memref<2x0x1x8xf64>
  linalg.transpose ins(%cast : memref<2x0x1x8xf64>) outs(%d : memref<2x1x0x8xf64>) permutation = [0, 2, 1, 3]
  return
}

// Nothing is left to check where the type says it, and nothing is said twice of what is launched.
// CHECK-LABEL: func.func @known(
// CHECK-NOT:     is expected to be
// CHECK:         tracea_pipe.launch
// CHECK-NOT:     is expected to be
// CHECK:         return
func.func @known(%a: memref<2x0xf64>, %b: memref<?x3xf64>, %d: memref<2x0xf64>, %e: memref<3x2xf64>) {
  %wider = memref.cast %a : memref<2x0xf64> to memref<2x?xf64>
  linalg.copy ins(%wider : memref<2x?xf64>) outs(%d : memref<2x0xf64>)
  %read = memref.cast %b : memref<?x3xf64> to memref<2x3xf64>
  linalg.transpose ins(%read : memref<2x3xf64>) outs(%e : memref<3x2xf64>) permutation = [1, 0]
  return
}

// CHECK-LABEL: tracea_pipe.kernel @linalg_matmul_0(
// CHECK:         tiles ({{.*}}) in (%c1)
// CHECK-NOT:     memref.subview
// CHECK:         linalg.matmul
func.func @main(%a: memref<?x?xf64>, %b: memref<0x?xf64>, %d: memref<?x47xf64>) {
  linalg.matmul ins(%a, %b : memref<?x?xf64>, memref<0x?xf64>) outs(%d : memref<?x47xf64>)
  return
}
}
