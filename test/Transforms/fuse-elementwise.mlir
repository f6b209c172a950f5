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

// What several loops read is computed in each of them where it changes one tensor by numbers of rows: nothing is written.
// What it finds in its destination is read as well.
// CHECK-LABEL: func.func @recomputed(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x64xf32>, %[[I:[a-z0-9]+]]: tensor<8xi64>, %[[J:[a-z0-9]+]]: tensor<8xi64>
// CHECK:         linalg.generic {{.*}}"reduction"]} ins(%[[I]], %[[X]] : tensor<8xi64>, tensor<8x64xf32>)
// CHECK:           arith.select
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.*}}"reduction"]} ins(%[[J]], %[[I]], %[[X]] : tensor<8xi64>, tensor<8xi64>, tensor<8x64xf32>)
// CHECK-COUNT-2:   arith.select
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         return
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @recomputed(%x: tensor<8x64xf32>, %i: tensor<8xi64>, %j: tensor<8xi64>, %d: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<8xi64>) outs(%x : tensor<8x64xf32>) {
  ^bb0(%n: i64, %o: f32):
    %k = linalg.index 1 : index
    %l = arith.index_cast %k : index to i64
    %c = arith.cmpi eq, %l, %n : i64
    %s = arith.select %c, %zero, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x64xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%j : tensor<8xi64>) outs(%0 : tensor<8x64xf32>) {
  ^bb0(%n: i64, %o: f32):
    %k = linalg.index 1 : index
    %l = arith.index_cast %k : index to i64
    %c = arith.cmpi eq, %l, %n : i64
    %s = arith.select %c, %zero, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %3 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<8x64xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// Not what reads two tensors, computes functions, widens its result or is read by others: it would be read more, or computed
// in vain.
// CHECK-LABEL: func.func @stored(
// CHECK-COUNT-4: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK-COUNT-8: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @stored(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>, %w: tensor<8x64xf32>, %e: tensor<8x64xf32>, %z: tensor<8x64xf16>, %d: tensor<8xf32>, %h: tensor<8xf16>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>, tensor<8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8x64xf32>) {
  %two = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x64xf32>, tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %function = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %narrow = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%z : tensor<8x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %s = arith.truncf %a : f32 to f16
    linalg.yield %s : f16
  } -> tensor<8x64xf16>
  %returned = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %0 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%two : tensor<8x64xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%two : tensor<8x64xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%function : tensor<8x64xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%function : tensor<8x64xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %4 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%narrow : tensor<8x64xf16>) outs(%h : tensor<8xf16>) {
  ^bb0(%a: f16, %o: f16):
    %s = arith.addf %a, %o : f16
    linalg.yield %s : f16
  } -> tensor<8xf16>
  %5 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%narrow : tensor<8x64xf16>) outs(%h : tensor<8xf16>) {
  ^bb0(%a: f16, %o: f16):
    %s = arith.maximumf %a, %o : f16
    linalg.yield %s : f16
  } -> tensor<8xf16>
  %6 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%returned : tensor<8x64xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %7 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%returned : tensor<8x64xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %returned : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>, tensor<8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8x64xf32>
}
