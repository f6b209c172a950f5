// Rows that are one element longer than a multiple of the vector: one byte is stored behind the last whole vector, not the
// four that it was narrowed from.
// RUN: tracea compile %s --target x86-64-v4 --emit asm -o %t.s
// RUN: FileCheck %s < %t.s
// CHECK-LABEL: softmax_0.tiles:
// CHECK-NOT:   vmovd %xmm{{[0-9]+}}, {{[0-9]*}}(
// CHECK-NOT:   vmovss %xmm{{[0-9]+}}, {{[0-9]*}}(
// CHECK:       {{vpextrb|movb}}
// CHECK-NOT:   vmovd %xmm{{[0-9]+}}, {{[0-9]*}}(
// CHECK-NOT:   vmovss %xmm{{[0-9]+}}, {{[0-9]*}}(
// CHECK:       retq
func.func @bytes(%x: tensor<63x17xf32>) -> tensor<63x17xf8E4M3FN> {
  %d = tensor.empty() : tensor<63x17xf8E4M3FN>
  %y = tracea.softmax dim 1 ins(%x : tensor<63x17xf32>) outs(%d : tensor<63x17xf8E4M3FN>)
  return %y : tensor<63x17xf8E4M3FN>
}
