// Prologues: their text, their tiles and their meaning.
// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --convert-tracea-to-linalg | FileCheck %s --check-prefix=LINALG

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @kept(
// CHECK:         %{{.*}}:2 = tracea.layer_norm axis 1 epsilon 1.000000e-05 ins(%{{.*}} : tensor<?x64xf16>)
// CHECK-SAME:      prologue(%{{.*}} by #{{.*}} : tensor<64xf16>) {
// CHECK-NEXT:    ^bb0(%[[X:x]]: f16, %[[IN:in]]: f16):
// CHECK:           tracea.yield %{{.*}}, %[[X]] : f32, f16
// CHECK-NEXT:    } scale(%{{.*}} : tensor<64xf32>) outs(%{{.*}} : tensor<?x64xf32>) keeps(%{{.*}} : tensor<?x64xf16>)

// The row first, and what is kept with it; then the sums of the row.
// LINALG-LABEL: func.func @kept(
// LINALG-SAME:    %[[X:[a-z0-9]+]]: tensor<?x64xf16>, %[[B:[a-z0-9]+]]: tensor<64xf16>
// LINALG:         %[[H:.*]]:2 = linalg.generic {{.*}} ins(%[[X]], %[[B]] : {{.*}}) outs(%{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<?x64xf16>)
// LINALG:           linalg.yield %{{.*}}, %{{.*}} : f32, f16
// LINALG:         linalg.generic {{.*}} ins(%[[H]]#0 : tensor<?x64xf32>)
// LINALG:         return %{{.*}}, %[[H]]#1
func.func @kept(%x: tensor<?x64xf16>, %b: tensor<64xf16>, %s: tensor<64xf32>, %d: tensor<?x64xf32>, %e: tensor<?x64xf16>)
    -> (tensor<?x64xf32>, tensor<?x64xf16>) {
  %y:2 = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x64xf16>) prologue(%b by #row : tensor<64xf16>) {
    ^bb0(%a: f16, %c: f16):
      %h = arith.addf %a, %c : f16
      %w = arith.extf %h : f16 to f32
      tracea.yield %w, %a : f32, f16
  } scale(%s : tensor<64xf32>) outs(%d : tensor<?x64xf32>) keeps(%e : tensor<?x64xf16>)
  return %y#0, %y#1 : tensor<?x64xf32>, tensor<?x64xf16>
}

// Without operands, before an epilogue.
// CHECK-LABEL: func.func @plain(
// CHECK:         tracea.softmax dim 1 ins(%{{.*}} : tensor<4x8xi8>) prologue {
// CHECK:         } outs(%{{.*}} : tensor<4x8xf32>) epilogue {
func.func @plain(%x: tensor<4x8xi8>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xi8>) prologue {
    ^bb0(%a: i8):
      %f = arith.sitofp %a : i8 to f32
      tracea.yield %f : f32
  } outs(%d : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      %n = arith.negf %acc : f32
      tracea.yield %n : f32
  }
  return %y : tensor<4x8xf32>
}
