// Long sums whose terms are no rows of vectors are taken in blocks of 32, each loop over terms
// beginning a sum of its own: in one order, that of the extents.
// RUN: tracea-opt %s --tracea-vectorize-reductions --canonicalize --cse | FileCheck %s

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 512>
module attributes {tracea.target = #cpu} {
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: memref<?x1025x4xf64>, %[[F:[a-z0-9]+]]: memref<?xf64>, %[[S:[a-z0-9]+]]: memref<?xf64>
// CHECK-DAG:     %[[NONE:.*]] = arith.constant -0.000000e+00 : f64
// CHECK:         scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK:           %[[FIRST:.*]] = memref.load %[[S]][%[[I]]]
// CHECK:           %[[WHOLE:.*]] = scf.for %[[FROM:.*]] = %c0 to %c1024 step %c32 iter_args(%[[TOTAL:.*]] = %[[NONE]])
// CHECK:             %[[BLOCK:.*]] = scf.for %[[AT:.*]] = %c0 to %c32 step %c1 iter_args(%[[PART:.*]] = %[[NONE]])
// CHECK:               %[[J:.*]] = arith.addi %[[FROM]], %[[AT]]
// CHECK:               %[[ROW:.*]] = scf.for %[[K:.*]] = %c0 to %c4 step %c1 iter_args(%[[SUM:.*]] = %[[NONE]])
// CHECK:                 %[[X:.*]] = memref.load %[[M]][%[[I]], %[[J]], %[[K]]]
// CHECK:                 %[[TERM:.*]] = arith.maximumf %[[X]]
// CHECK:                 arith.addf %[[SUM]], %[[TERM]]
// CHECK:               arith.addf %[[PART]], %[[ROW]]
// CHECK:             arith.addf %[[TOTAL]], %[[BLOCK]]
// The last of 1025, by itself.
// CHECK:           %[[REST:.*]] = scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args(%{{.*}} = %[[NONE]])
// CHECK:             memref.load %[[M]][%[[I]], %c1024,
// CHECK:           %[[ALL:.*]] = arith.addf %[[WHOLE]], %[[REST]]
// CHECK:           %[[RESULT:.*]] = arith.addf %[[FIRST]], %[[ALL]]
// CHECK:           memref.store %[[RESULT]], %[[S]][%[[I]]]
func.func @nested(%m: memref<?x1025x4xf64>, %f: memref<?xf64>, %s: memref<?xf64>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i)>],
                  iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%m, %f : memref<?x1025x4xf64>, memref<?xf64>) outs(%s : memref<?xf64>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %term = arith.maximumf %x, %y : f64
    %next = arith.addf %sum, %term : f64
    linalg.yield %next : f64
  }
  return
}

// Columns, of a number that the run knows: terms see where they stand.
// CHECK-LABEL: func.func @columns(
// CHECK-DAG:     %[[REM:.*]] = arith.remui %[[N:.*]], %c32
// CHECK-DAG:     %[[WHOLE:.*]] = arith.subi %[[N]], %[[REM]]
// CHECK:           scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c32 iter_args
// CHECK:             scf.for %[[AT:.*]] = %c0 to %c32 step %c1 iter_args
// CHECK:               arith.index_cast
// CHECK:           scf.for %{{.*}} = %[[WHOLE]] to %[[N]] step %c1 iter_args
// CHECK:             arith.index_cast
func.func @columns(%m: memref<?x8xf32>, %s: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%m : memref<?x8xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %j = linalg.index 1 : index
    %whole = arith.index_cast %j : index to i32
    %place = arith.sitofp %whole : i32 to f32
    %term = arith.mulf %x, %place : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  }
  return
}

// Nothing is done of short sums, of loops that go through all results for each term, of what is no
// sum, and of what goes on from the sum otherwise.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @others(%m: memref<64x8xf32>, %n: memref<100x8xf32>, %s: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%m : memref<64x8xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %next = arith.addf %sum, %x : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [affine_map<(j, i) -> (j, i)>, affine_map<(j, i) -> (i)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%n : memref<100x8xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %next = arith.addf %sum, %x : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%n : memref<100x8xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %product: f32):
    %next = arith.mulf %product, %x : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%n : memref<100x8xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %more = arith.addf %sum, %x : f32
    %next = arith.mulf %more, %x : f32
    linalg.yield %next : f32
  }
  return
}
}
