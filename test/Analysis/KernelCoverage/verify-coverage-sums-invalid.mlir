// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics

// Sums that lose terms or have them twice, operands that do not meet, slots that
// are not full. The error names a term that is lost.
// The last steps are lost: the loop ends at a multiple of the tile.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x?xf32>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sum
  %K = memref.dim %a, %c1 : memref<16x?xf32>
  %whole = arith.floordivsi %K, %c16 : index
  %end = arith.muli %whole, %c16 : index
  tracea_pipe.tiles (%t) in (%c1) {
    // expected-note@+1 {{its steps are counted here}}
    %sum = scf.for %k = %c0 to %end step %c16 iter_args(%acc = %zero) -> (!sum) {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
      // expected-error-re@+1 {{loses terms of a sum: with dimension 1 of argument #0 = {{-?[0-9]+}}, index {{-?[0-9]+}} of dimension 1 of argument #0 is multiplied in no step}}
      %next = tracea_pipe.mma %x, %y, %acc depth(%depth) : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// Tiles of 16 in steps of 8.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x?xf32>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sum
  %K = memref.dim %a, %c1 : memref<16x?xf32>
  tracea_pipe.tiles (%t) in (%c1) {
    // expected-note@+1 {{its steps are counted here}}
    %sum = scf.for %k = %c0 to %K step %c8 iter_args(%acc = %zero) -> (!sum) {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
      // expected-error-re@+1 {{adds a term to a sum twice: with dimension 1 of argument #0 = {{-?[0-9]+}}, index {{-?[0-9]+}} of dimension 1 of argument #0 comes where}}
      %next = tracea_pipe.mma %x, %y, %acc depth(%depth) : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// Only 15 of 16 terms of a tile are added up.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x?xf32>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sum
  %K = memref.dim %a, %c1 : memref<16x?xf32>
  tracea_pipe.tiles (%t) in (%c1) {
    // expected-note@+1 {{its steps are counted here}}
    %sum = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %zero) -> (!sum) {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %short = arith.minsi %left, %c15 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
      // expected-error-re@+1 {{loses terms of a sum: with dimension 1 of argument #0 = {{-?[0-9]+}}, index {{-?[0-9]+}} of dimension 1 of argument #0 is multiplied in no step}}
      %next = tracea_pipe.mma %x, %y, %acc depth(%short) : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// Every step adds the first tile again.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x?xf32>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sum
  %K = memref.dim %a, %c1 : memref<16x?xf32>
  tracea_pipe.tiles (%t) in (%c1) {
    // expected-note@+1 {{its steps are counted here}}
    %sum = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %zero) -> (!sum) {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %c0] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %c0] map #transposed : memref<16x?xf32> -> !columns
      // expected-error-re@+1 {{loses terms of a sum: with dimension 1 of argument #0 = {{-?[0-9]+}}, index {{-?[0-9]+}} of dimension 1 of argument #0 is multiplied in no step}}
      %next = tracea_pipe.mma %x, %y, %acc depth(%depth) : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// One operand from the end, the other from the beginning: each has all terms, but
// of different places. Tiles are whole.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x64xf32>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sum
  tracea_pipe.tiles (%t) in (%c1) {
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (!sum) {
      %back = arith.subi %c48, %k : index
      %x = tracea_pipe.view %a[%c0, %back] map #id : memref<16x64xf32> -> memref<8x16xf32, strided<[64, 1], offset: ?>>
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x64xf32> -> memref<16x16xf32, strided<[1, 64], offset: ?>>
      // expected-error-re@+1 {{multiplies what does not belong together: its operands are at different places of the sum, {{-?[0-9]+}} apart, where}}
      %next = tracea_pipe.mma %x, %y, %acc : memref<8x16xf32, strided<[64, 1], offset: ?>>, memref<16x16xf32, strided<[1, 64], offset: ?>>, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// The sum rests in memory; its first tile is skipped.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x?xf32>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sum
  %K = memref.dim %a, %c1 : memref<16x?xf32>
  tracea_pipe.tiles (%t) in (%c1) {
    %s = tracea_pipe.scratch : memref<8x16xf32, #tracea_pipe.staged>
    tracea_pipe.store %zero, %s[%c0, %c0] map #id : !sum, memref<8x16xf32, #tracea_pipe.staged>
    // expected-note@+1 {{its steps are counted here}}
    scf.for %k = %c16 to %K step %c16 {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
      // expected-error-re@+1 {{loses terms of a sum: with dimension 1 of argument #0 = {{-?[0-9]+}}, index {{-?[0-9]+}} of dimension 1 of argument #0 is multiplied in no step}}
      %next = tracea_pipe.mma %x, %y, %zero depth(%depth) : !rows, !columns, !sum
      %old = tracea_pipe.load %s[%c0, %c0] map #id : memref<8x16xf32, #tracea_pipe.staged> -> !sum
      %new = arith.addf %old, %next : !sum
      tracea_pipe.store %new, %s[%c0, %c0] map #id : !sum, memref<8x16xf32, #tracea_pipe.staged>
    }
    %all = tracea_pipe.load %s[%c0, %c0] map #id : memref<8x16xf32, #tracea_pipe.staged> -> !sum
    tracea_pipe.store %all, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// Both teams write the first half of the slot.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 0]], outer = [1, 1]>
!slot = memref<16x16xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<1 x (!slot)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tracea_pipe.tiles (%t) in (%c1) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : !phase
    tracea_pipe.roles {
      tracea_pipe.role "compute" warps [0, 2] copies 2 (%team) {
        %value = arith.constant dense<1.0> : tensor<8x16xf32, #lanes>
        %o = tracea_pipe.acquire %ring[%p] : !ring, !phase -> !slot
        %at = arith.muli %team, %c0 : index
        // expected-note@+1 {{it is written here}}
        tracea_pipe.store %value, %o[%at, %c0] map #id : tensor<8x16xf32, #lanes>, !slot
        tracea_pipe.commit %ring[%p] : !ring, !phase
      }
      tracea_pipe.role "store" warps [2, 3] {
        %o = tracea_pipe.wait %ring[%p] : !ring, !phase -> !slot
        // expected-error-re@+1 {{reads what nobody has written: element [{{-?[0-9]+}}, {{-?[0-9]+}}] of the slot is written by no team}}
        tracea_pipe.copy_out %o to %c[%c0, %c0] map #id : !slot, memref<16x16xf32>
        tracea_pipe.commit_group copy
        tracea_pipe.wait_group copy pending 0
        tracea_pipe.release %ring[%p] : !ring, !phase
      }
    }
  }
  tracea_pipe.end
}

// -----

// Each team writes half of the part of the other.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 0]], outer = [1, 1]>
!slot = memref<16x16xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<1 x (!slot)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tracea_pipe.tiles (%t) in (%c1) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : !phase
    tracea_pipe.roles {
      tracea_pipe.role "compute" warps [0, 2] copies 2 (%team) {
        %value = arith.constant dense<1.0> : tensor<8x16xf32, #lanes>
        %o = tracea_pipe.acquire %ring[%p] : !ring, !phase -> !slot
        %at = arith.muli %team, %c4 : index
        // expected-note@+1 {{it is written here}}
        tracea_pipe.store %value, %o[%at, %c0] map #id : tensor<8x16xf32, #lanes>, !slot
        tracea_pipe.commit %ring[%p] : !ring, !phase
      }
      tracea_pipe.role "store" warps [2, 3] {
        %o = tracea_pipe.wait %ring[%p] : !ring, !phase -> !slot
        // expected-error-re@+1 {{reads what}}
        tracea_pipe.copy_out %o to %c[%c0, %c0] map #id : !slot, memref<16x16xf32>
        tracea_pipe.commit_group copy
        tracea_pipe.wait_group copy pending 0
        tracea_pipe.release %ring[%p] : !ring, !phase
      }
    }
  }
  tracea_pipe.end
}

// -----

// A condition on sizes chooses between two multiplies, of which the second one
// takes the first sixteen terms alone.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x?xf32>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sum
  %K = memref.dim %a, %c1 : memref<16x?xf32>
  %rest = arith.remui %K, %c16 : index
  tracea_pipe.tiles (%t) in (%c1) {
    %fits = arith.cmpi eq, %rest, %c0 : index
    %sum = scf.if %fits -> (!sum) {
    %all = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %zero) -> (!sum) {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
      // expected-error-re@+1 {{loses terms of a sum: with dimension 1 of argument #0 = {{[0-9]+}}, index {{[0-9]+}} of dimension 1 of argument #0 is in no step of the sum that is stored}}
      %next = tracea_pipe.mma %x, %y, %acc : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    scf.yield %all : !sum
    } else {
      %v = tracea_pipe.view %a[%c0, %c0] map #id : memref<16x?xf32> -> !rows
      %w = tracea_pipe.view %a[%c0, %c0] map #transposed : memref<16x?xf32> -> !columns
      %d = arith.minsi %K, %c16 : index
      %only = tracea_pipe.mma %v, %w, %zero depth(%d) : !rows, !columns, !sum
      scf.yield %only : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}
