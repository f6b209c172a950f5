// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" | FileCheck %s

// Each term once, the last tile cut off.
// CHECK: check = "coverage", claim = "all elements of 1 result written exactly once, 1 sum in them with each term once, {{.*}}, for all sizes
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
    %sum = scf.for %k = %c0 to %K step %c16 iter_args(%acc = %zero) -> (!sum) {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
      %next = tracea_pipe.mma %x, %y, %acc depth(%depth) : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    tracea_pipe.store %sum, %c[%c0, %c0] map #id : !sum, memref<8x16xf32>
  }
  tracea_pipe.end
}

// -----

// The sum rests in memory.
// CHECK: check = "coverage", claim = "all elements of 1 result written exactly once, 1 sum in them with each term once, {{.*}}, for all sizes
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
    scf.for %k = %c0 to %K step %c16 {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
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

// How far a sum runs depends on the tile, as where a mask is causal: it is not
// decided, and the rest is proved.
// CHECK: check = "coverage", claim = "all elements of 1 result written exactly once, {{.*}}, 3 claims about the data not decided, for all sizes
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x?xf32>, %c: memref<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sum
  %K = memref.dim %a, %c1 : memref<16x?xf32>
  tracea_pipe.tiles (%t) in (%c4) {
    %bound = arith.muli %t, %c16 : index
    %end = arith.minsi %bound, %K : index
    %sum = scf.for %k = %c0 to %end step %c16 iter_args(%acc = %zero) -> (!sum) {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
      %next = tracea_pipe.mma %x, %y, %acc depth(%depth) : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    %row = arith.muli %t, %c8 : index
    tracea_pipe.store %sum, %c[%row, %c0] map #id : !sum, memref<32x16xf32>
  }
  tracea_pipe.end
}

// -----


// Two teams write a half each.
// CHECK: check = "coverage", claim = "{{.*}}, 1 slot filled from registers, for all sizes
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
        %at = arith.muli %team, %c8 : index
        tracea_pipe.store %value, %o[%at, %c0] map #id : tensor<8x16xf32, #lanes>, !slot
        tracea_pipe.commit %ring[%p] : !ring, !phase
      }
      tracea_pipe.role "store" warps [2, 3] {
        %o = tracea_pipe.wait %ring[%p] : !ring, !phase -> !slot
        tracea_pipe.copy_out %o to %c[%c0, %c0] map #id : !slot, memref<16x16xf32>
        tracea_pipe.commit_group copy
        tracea_pipe.wait_group copy pending 0
        tracea_pipe.release %ring[%p] : !ring, !phase
      }
    }
  }
  tracea_pipe.end
}
