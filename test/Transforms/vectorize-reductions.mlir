// Rows are reduced to four vectors, these to one, and its lanes to a number.
// RUN: tracea-opt %s --tracea-vectorize-reductions --canonicalize --cse | FileCheck %s

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: memref<?x37xf32>, %[[S:[a-z0-9]+]]: memref<?xf32>
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<4xf32>
// CHECK:         scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK:           %[[SUMS:.*]]:4 = scf.for %[[J:.*]] = %c0 to %c32 step %c16 iter_args(%[[A:.*]] = %[[NONE]], %{{.*}} = %[[NONE]], %{{.*}} = %[[NONE]], %{{.*}} = %[[NONE]])
// CHECK:             %[[X:.*]] = vector.load %[[M]][%[[I]], %[[J]]]
// CHECK:             arith.addf %[[A]], %[[X]]
// CHECK-COUNT-3:     vector.load
// The one vector that is left, then the last element of 37 beside three zeros.
// CHECK:           vector.load %[[M]][%[[I]], %c32]
// CHECK:           %[[MASK:.*]] = vector.constant_mask [1] : vector<4xi1>
// CHECK:           %[[REST:.*]] = vector.maskedload %[[M]][%[[I]], %c36], %[[MASK]]
// CHECK:           arith.select %[[MASK]], %[[REST]], %[[NONE]]
// CHECK:           arith.addf %{{.*}}, %[[SUMS]]#1
// CHECK:           arith.addf %[[SUMS]]#2, %[[SUMS]]#3
// CHECK:           vector.shuffle %[[ALL:.*]], %[[ALL]] [0, 1]
// CHECK:           vector.shuffle %[[ALL]], %[[ALL]] [2, 3]
// CHECK:           vector.shuffle %[[TWO:.*]], %[[TWO]] [0]
// CHECK:           vector.shuffle %[[TWO]], %[[TWO]] [1]
// CHECK:           %[[TOTAL:.*]] = vector.extract
// CHECK:           %[[INIT:.*]] = memref.load %[[S]][%[[I]]]
// CHECK:           %[[RESULT:.*]] = arith.addf %[[INIT]], %[[TOTAL]]
// CHECK:           memref.store %[[RESULT]], %[[S]][%[[I]]]
func.func @sum(%m: memref<?x37xf32>, %s: memref<?xf32>) {
  linalg.reduce { arith.addf } ins(%m : memref<?x37xf32>) outs(%s : memref<?xf32>) dimensions = [1]
  return
}

// Two dimensions are reduced; terms are computed in vectors, of what is the same
// along the row as well; the greatest keeps NaN.
// CHECK-LABEL: func.func @terms(
// CHECK:         scf.for
// CHECK:           scf.for %{{.*}} = %c0 to %c5 step %c1 iter_args
// CHECK:             scf.for %{{.*}} step %c16 iter_args
// CHECK:               vector.load %{{.*}} : memref<?x5x?xbf16>, vector<4xbf16>
// CHECK:               arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK:               vector.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK:               arith.mulf %{{.*}} : vector<4xf32>
// CHECK:               arith.maximumf %{{.*}} : vector<4xf32>
// CHECK:             vector.create_mask
func.func @terms(%m: memref<?x5x?xbf16>, %f: memref<?xf32>, %s: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i)>],
                  iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%m, %f : memref<?x5x?xbf16>, memref<?xf32>) outs(%s : memref<?xf32>) {
  ^bb0(%x: bf16, %y: f32, %most: f32):
    %wide = arith.extf %x : bf16 to f32
    %term = arith.mulf %wide, %y : f32
    %next = arith.maximumf %term, %most : f32
    linalg.yield %next : f32
  }
  return
}

// Nothing is done of columns, of short rows, of two results, and of what a lane
// beyond the row might fail in.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     vector
// CHECK:         return
func.func @others(%m: memref<64x64xi32>, %short: memref<64x7xi32>, %s: memref<64xi32>, %t: memref<64xi32>) {
  linalg.reduce { arith.addi } ins(%m : memref<64x64xi32>) outs(%s : memref<64xi32>) dimensions = [0]
  linalg.reduce { arith.addi } ins(%short : memref<64x7xi32>) outs(%s : memref<64xi32>) dimensions = [1]
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%m : memref<64x64xi32>) outs(%s, %t : memref<64xi32>, memref<64xi32>) {
  ^bb0(%x: i32, %a: i32, %b: i32):
    %0 = arith.addi %a, %x : i32
    %1 = arith.maxsi %b, %x : i32
    linalg.yield %0, %1 : i32, i32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%m, %t : memref<64x64xi32>, memref<64xi32>) outs(%s : memref<64xi32>) {
  ^bb0(%x: i32, %y: i32, %a: i32):
    %q = arith.divsi %x, %y : i32
    %0 = arith.addi %a, %q : i32
    linalg.yield %0 : i32
  }
  return
}
}
