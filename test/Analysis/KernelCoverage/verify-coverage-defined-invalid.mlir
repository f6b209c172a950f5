// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics

// Products that add up each term once, of other elements than their operation
// names.

// The row below.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#definition = #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
// expected-error@+1 {{'tracea_pipe.kernel' op reads what its operation does not: index 0 of argument 0 is r0+1, where the operation has r0}}
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
      %x = tracea_pipe.view %a[%c1, %k] map #id : memref<16x64xf32> -> !rows
      %y = tracea_pipe.view %b[%c0, %k] map #transposed : memref<32x64xf32> -> !columns
      %next = tracea_pipe.mma %x, %y, %acc : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// Columns further on.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#definition = #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
// expected-error@+1 {{'tracea_pipe.kernel' op reads what its operation does not: index 0 of argument 1 is r1+16, where the operation has r1}}
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
      %y = tracea_pipe.view %b[%c16, %k] map #transposed : memref<32x64xf32> -> !columns
      %next = tracea_pipe.mma %x, %y, %acc : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// One operand is walked along backwards, block by block.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#definition = #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
// expected-error@+1 {{reads what its operation does not: index 1 of argument 1 is -16*k1+k2+48, where the operation has 16*k1+k2}}
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
      %y = tracea_pipe.view %b[%c0, %back] map #transposed : memref<32x64xf32> -> !columns
      // expected-error@+1 {{multiplies what does not belong together: its operands are at different places of the sum}}
      %next = tracea_pipe.mma %x, %y, %acc : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// A product that nobody stores.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#definition = #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
// expected-error@+1 {{argument 2 has nothing of the sum that the operation defines}}
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
    tracea_pipe.store %zero, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// Nothing of a sum, which may have terms.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#definition = #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>]>
!sum = tensor<8x16xf32, #lanes>
func.func @main(%a: memref<8x?xf32>, %b: memref<16x?xf32>, %c: memref<8x16xf32>) {
  tracea_pipe.launch @k ins(%a, %b : memref<8x?xf32>, memref<16x?xf32>) outs(%c : memref<8x16xf32>)
  return
}
tracea_pipe.kernel @k(%a: memref<8x?xf32>, %b: memref<16x?xf32>, %c: memref<8x16xf32>) attributes {definitions = [#definition]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !sum
  tracea_pipe.tiles (%t) in (%c1) {
    // expected-error@+1 {{loses terms of a sum: with dimension 1 of argument #0 = 1, index 0 of dimension 1 of argument #0 is in no step of the sum that is stored}}
    tracea_pipe.store %zero, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}
