// Loops over an operand without elements, of which there are no windows, stay whole.
// RUN: tracea-opt %s --tracea-outline-host | FileCheck %s

#target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 512>
module attributes {tracea.target = #target} {
// CHECK-LABEL: tracea_pipe.kernel @linalg_matmul_0(
// CHECK:         tiles ({{.*}}) in (%c1)
// CHECK-NOT:     memref.subview
// CHECK:         linalg.matmul
func.func @main(%a: memref<?x?xf64>, %b: memref<0x?xf64>, %d: memref<?x47xf64>) {
  linalg.matmul ins(%a, %b : memref<?x?xf64>, memref<0x?xf64>) outs(%d : memref<?x47xf64>)
  return
}
}
