// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea-fuse-elementwise)" | FileCheck %s
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea-fuse-elementwise{max-operations=1})" | FileCheck %s --check-prefix=LIMIT

// LIMIT-COUNT-2: linalg.generic

// What is computed element by element, and read once, becomes one loop.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @chain
// CHECK:       linalg.generic
// CHECK:         arith.addf
// CHECK:         arith.mulf
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @chain(%x: tensor<?xf32>, %y: tensor<?xf32>, %d: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
    ins(%0, %y : tensor<?xf32>, tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
