// Finishes: their text, their tiles and their meaning.
// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --convert-tracea-to-linalg | FileCheck %s --check-prefix=LINALG

// CHECK-LABEL: func.func @quantised(
// CHECK:         %{{.*}}:3 = tracea.rms_norm axis 1 epsilon 1.000000e-05 ins(%{{.*}} : tensor<?x64xbf16>) prologue
// CHECK:           tracea.yield %{{.*}}, %{{.*}} : bf16, bf16
// CHECK-NEXT:    } outs(%{{.*}} : tensor<?x64xf8E4M3FN>) keeps(%{{.*}} : tensor<?x64xbf16>) rows(%{{.*}} : tensor<?xf32>) epilogue {
// CHECK-NEXT:    ^bb0(%[[ACC:acc]]: f32):
// CHECK:           tracea.yield %[[ACC]], %{{.*}} : f32, f32
// CHECK-NEXT:    } finish [max] {
// CHECK-NEXT:    ^bb0(%[[Y:y]]: f32, %[[ROW:row]]: f32):
// CHECK:           tracea.yield %{{.*}}, %{{.*}} : f8E4M3FN, f32

// The element and what is reduced as whole tensors; then the row's maximum, from -inf on; then the result of both, and
// what a row has one of, without what only elements need.
// LINALG-DAG:   #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// LINALG-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// LINALG-DAG:   #[[ONE:.*]] = affine_map<(d0) -> (d0)>
// LINALG-LABEL: func.func @quantised(
// LINALG-SAME:    %[[X:[a-z0-9]+]]: tensor<?x64xbf16>, %[[D:[a-z0-9]+]]: tensor<?x64xf8E4M3FN>, %[[E:[a-z0-9]+]]: tensor<?x64xbf16>, %[[F:[a-z0-9]+]]: tensor<?xf32>
// LINALG:         %[[H:.*]]:2 = linalg.generic {{.*}} ins(%[[X]] :
// LINALG:         %[[Y:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<?x64xf32>)
// LINALG:           math.absf
// LINALG:         %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// LINALG:         %[[START:.*]] = linalg.fill ins(%[[NONE]]
// LINALG:         %[[MAX:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]} ins(%[[Y]]#1 : tensor<?x64xf32>) outs(%[[START]]
// LINALG:           arith.maximumf
// LINALG:         %[[Q:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROWS]], #[[ALL]]], {{.*}}} ins(%[[Y]]#0, %[[MAX]] : {{.*}}) outs(%[[D]]
// LINALG-COUNT-2:   arith.divf
// LINALG:           arith.truncf
// LINALG:         %[[S:.*]] = linalg.generic {indexing_maps = [#[[ONE]], #[[ONE]]], {{.*}}} ins(%[[MAX]] : tensor<?xf32>) outs(%[[F]]
// LINALG:           arith.divf
// LINALG-NOT:       arith
// LINALG:           linalg.yield
// LINALG:         return %[[Q]], %[[H]]#1, %[[S]]
func.func @quantised(%x: tensor<?x64xbf16>, %d: tensor<?x64xf8E4M3FN>, %e: tensor<?x64xbf16>, %f: tensor<?xf32>)
    -> (tensor<?x64xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>) {
  %y:3 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x64xbf16>) prologue {
    ^bb0(%a: bf16):
      %n = arith.negf %a : bf16
      tracea.yield %n, %n : bf16, bf16
  } outs(%d : tensor<?x64xf8E4M3FN>) keeps(%e : tensor<?x64xbf16>) rows(%f : tensor<?xf32>) epilogue {
    ^bb0(%acc: f32):
      %m = math.absf %acc : f32
      tracea.yield %acc, %m : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      %most = arith.constant 448.0 : f32
      %s = arith.divf %m, %most : f32
      %w = arith.divf %v, %s : f32
      %q = arith.truncf %w : f32 to f8E4M3FN
      tracea.yield %q, %s : f8E4M3FN, f32
  }
  return %y#0, %y#1, %y#2 : tensor<?x64xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>
}

// Several reductions, none of which is a result; rows lie along the dimension in the middle.
// CHECK-LABEL: func.func @strips(
// CHECK:         tracea.softmax dim 1 ins(%{{.*}} : tensor<4x?x8xf32>) outs(%{{.*}} : tensor<4x?x8xf32>) epilogue {
// CHECK:         } finish [add, min] {
// LINALG-LABEL: func.func @strips(
// LINALG:         arith.constant 0.000000e+00 : f32
// LINALG:         iterator_types = ["parallel", "reduction", "parallel"]
// LINALG:           arith.addf
// LINALG:         arith.constant 0x7F800000 : f32
// LINALG:         iterator_types = ["parallel", "reduction", "parallel"]
// LINALG:           arith.minimumf
// LINALG:         iterator_types = ["parallel", "parallel", "parallel"]
// LINALG:         return
func.func @strips(%x: tensor<4x?x8xf32>, %d: tensor<4x?x8xf32>) -> tensor<4x?x8xf32> {
  %y = tracea.softmax dim 1 ins(%x : tensor<4x?x8xf32>) outs(%d : tensor<4x?x8xf32>) epilogue {
    ^bb0(%acc: f32):
      %m = arith.mulf %acc, %acc : f32
      tracea.yield %acc, %m, %acc : f32, f32, f32
  } finish [add, min] {
    ^bb0(%v: f32, %s: f32, %m: f32):
      %a = arith.subf %v, %m : f32
      %b = arith.divf %a, %s : f32
      tracea.yield %b : f32
  }
  return %y : tensor<4x?x8xf32>
}

// A row by itself has one element of each result of rows.
// CHECK-LABEL: func.func @one(
// CHECK:         rows(%{{.*}} : tensor<i32>)
// LINALG-LABEL: func.func @one(
// LINALG:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = []} ins(%{{.*}} : tensor<i32>)
func.func @one(%x: tensor<8xf32>, %d: tensor<8xf32>, %e: tensor<i32>) -> (tensor<8xf32>, tensor<i32>) {
  %y:2 = tracea.softmax dim 0 ins(%x : tensor<8xf32>) outs(%d : tensor<8xf32>) rows(%e : tensor<i32>) epilogue {
    ^bb0(%acc: f32):
      %n = arith.fptosi %acc : f32 to i32
      tracea.yield %acc, %n : f32, i32
  } finish [add] {
    ^bb0(%v: f32, %s: i32):
      tracea.yield %v, %s : f32, i32
  }
  return %y#0, %y#1 : tensor<8xf32>, tensor<i32>
}
