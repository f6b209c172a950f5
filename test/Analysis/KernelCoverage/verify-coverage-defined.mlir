// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" | FileCheck %s

// What a kernel sums up is what its operation reads: rows, columns and steps.

// CHECK: check = "coverage", claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once, 3 accesses in bounds, 1 condition, for all sizes
// CHECK-SAME: sum in argument 2 of 0 and 1, as its operation defines it
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#definition = #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x64xf32>, %b: memref<32x64xf32>, %c: memref<8x16xf32>) attributes {definitions = [#definition]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sum
  tracea_pipe.tiles (%t) in (%c1) {
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (!sum) {
      %back = arith.subi %c48, %k : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x64xf32> -> !rows
      %y = tracea_pipe.view %b[%c0, %k] map #transposed : memref<32x64xf32> -> !columns
      %next = tracea_pipe.mma %x, %y, %acc : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// The order of the steps makes no difference.
// CHECK: check = "coverage", claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#definition = #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x64xf32>, %b: memref<32x64xf32>, %c: memref<8x16xf32>) attributes {definitions = [#definition]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sum
  tracea_pipe.tiles (%t) in (%c1) {
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (!sum) {
      %back = arith.subi %c48, %k : index
      %x = tracea_pipe.view %a[%c0, %back] map #id : memref<16x64xf32> -> !rows
      %y = tracea_pipe.view %b[%c0, %back] map #transposed : memref<32x64xf32> -> !columns
      %next = tracea_pipe.mma %x, %y, %acc : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// A sum over nothing is zero.
// CHECK: check = "coverage", claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#definition = #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>]>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<8x0xf32>, %b: memref<16x0xf32>, %c: memref<8x16xf32>) attributes {definitions = [#definition]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !sum
  tracea_pipe.tiles (%t) in (%c1) {
    tracea_pipe.store %zero, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}
