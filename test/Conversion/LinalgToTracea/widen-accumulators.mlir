// RUN: tracea-opt %s --convert-linalg-to-tracea | FileCheck %s --check-prefix=EXACT
// RUN: tracea-opt %s --convert-linalg-to-tracea=widen-accumulators | FileCheck %s --check-prefix=WIDE

// Sums in bf16 round at every step: no semantic operation does.
// EXACT-LABEL: func @matmul(
// EXACT:         linalg.matmul
// WIDE-LABEL:  func @matmul(
// WIDE:          tracea.gemm ins({{.*}}) outs({{.*}} : tensor<3x4xbf16>)
// WIDE:          ^bb0(%[[ACC:.*]]: f32, %[[C:.*]]: bf16):
// WIDE:            %[[W:.*]] = arith.extf %[[C]] : bf16 to f32
// WIDE:            %[[S:.*]] = arith.addf %[[ACC]], %[[W]] : f32
// WIDE:            %[[N:.*]] = arith.truncf %[[S]] : f32 to bf16
// WIDE:            tracea.yield %[[N]] : bf16
func.func @matmul(%a: tensor<3x8xbf16>, %b: tensor<8x4xbf16>, %c: tensor<3x4xbf16>) -> tensor<3x4xbf16> {
  %y = linalg.matmul ins(%a, %b : tensor<3x8xbf16>, tensor<8x4xbf16>) outs(%c : tensor<3x4xbf16>) -> tensor<3x4xbf16>
  return %y : tensor<3x4xbf16>
}

// EXACT-LABEL: func @softmax(
// EXACT:         linalg.softmax
// WIDE-LABEL:  func @softmax(
// WIDE:          tracea.softmax dim 1 ins(
func.func @softmax(%x: tensor<2x4xf16>, %e: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x4xf16>) outs(%e : tensor<2x4xf16>) -> tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}
