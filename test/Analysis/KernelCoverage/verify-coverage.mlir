// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" | FileCheck %s

// Kernels that are proved for all sizes.

// Tiles with masks: one masked store.
// CHECK-LABEL: tracea_pipe.kernel @k
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, 1 access in bounds
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Sums rest in the result between blocks of k: each block writes everything once.
// CHECK-LABEL: tracea_pipe.kernel @k
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, 1 access in bounds
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x512xf32>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %c, %c0 : memref<?x64xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    scf.for %k = %c0 to %c512 step %c64 {
      scf.for %r = %c0 to %length step %c8 {
        scf.for %s = %c0 to %c64 step %c16 {
          %row = arith.addi %m, %r : index
          %h = arith.subi %length, %r : index
          %w = arith.subi %c64, %s : index
          tracea_pipe.store %zero, %c[%row, %s] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x64xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Panels in slots, with the tail of k.
// CHECK-LABEL: tracea_pipe.kernel @k
// CHECK-SAME: check = "coverage", claim = "no results, 6 accesses in bounds
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x100xf32>, %b: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x100xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.ceildivsi %length, %c8 : index
    scf.for %k = %c0 to %c100 step %c64 {
      %rest = arith.subi %c100, %k : index
      %depth = arith.minsi %rest, %c64 : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %depth, %c8) padded [0] to %fa : memref<?x100xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%depth, %c16) to %fb : memref<100x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel = arith.divui %r, %c8 : index
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        %d = tracea_pipe.mma %v, %sb, %zero depth(%depth) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// Workgroups that walk over tiles in groups of rows; two teams share a tile.
// CHECK-LABEL: tracea_pipe.kernel @k
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, 1 access in bounds
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %workgroups = arith.constant 132 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c16 : index
  %columns = arith.ceildivsi %N, %c16 : index
  %count = arith.muli %rows, %columns : index
  tracea_pipe.tiles (%w) in (%workgroups) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        scf.for %t = %w to %count step %workgroups {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m0 = arith.muli %i, %c16 : index
          %half = arith.muli %team, %c8 : index
          %m = arith.addi %m0, %half : index
          %n = arith.muli %j, %c16 : index
          %h = arith.subi %M, %m : index
          %x = arith.subi %N, %n : index
          tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %x) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Windows into an image.
// CHECK-LABEL: tracea_pipe.kernel @k
// CHECK-SAME: check = "coverage", claim = "no results, 1 access in bounds
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#shift = affine_map<(i, j) -> (i * 2, j)>
tracea_pipe.kernel @k(%a: memref<?x19x16xf32>, %n: memref<9x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %images = memref.dim %a, %c0 : memref<?x19x16xf32>
  tracea_pipe.tiles (%i) in (%images) {
    scf.for %tap = %c0 to %c3 step %c1 {
      %v = tracea_pipe.load %a[%i, %tap, %c0] map affine_map<(i, j) -> (0, i * 2, j)> : memref<?x19x16xf32> -> tensor<8x16xf32, #lanes>
    }
  }
  tracea_pipe.end
}

// -----

// A border that is padded.
// CHECK-LABEL: tracea_pipe.kernel @k
// CHECK-SAME: check = "coverage", claim = "no results, 2 accesses in bounds
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%x: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %H = memref.dim %x, %c0 : memref<?x?xf32>
  %W = memref.dim %x, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %H, %c8 : index
  %columns = arith.ceildivsi %W, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %ring = tracea_pipe.channel : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>
    %p = tracea_pipe.start : <1>
    %r0 = arith.muli %i, %c8 : index
    %s0 = arith.muli %j, %c16 : index
    %r = arith.subi %r0, %c1 : index
    %s = arith.subi %s0, %c1 : index
    %slot = tracea_pipe.acquire %ring[%p] : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>, <1> -> memref<10x18xf32, #tracea_pipe.staged>
    tracea_pipe.copy %x[%r, %s] map #id padded [0, 1] to %slot : memref<?x?xf32>, memref<10x18xf32, #tracea_pipe.staged>
    tracea_pipe.commit %ring[%p] : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>, <1>
  }
  tracea_pipe.end
}

// -----

// Chunks whose extent only the run knows.
// CHECK-LABEL: tracea_pipe.kernel @k
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, 1 access in bounds
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @k(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %least = arith.minsi %n, %c256 : index
  %chunk = arith.maxsi %least, %c1 : index
  %grid = arith.ceildivsi %n, %chunk : index
  tracea_pipe.tiles (%i) in (%grid) {
    %from = arith.muli %i, %chunk : index
    %left = arith.subi %n, %from : index
    %rows = arith.minsi %chunk, %left : index
    %part = memref.subview %x[%from, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%part : memref<?x64xf32, strided<[64, 1], offset: ?>>)
  }
  tracea_pipe.end
}

// -----

// The extent of a chunk is itself the least of two numbers.
// CHECK-LABEL: tracea_pipe.kernel @least
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, 1 access in bounds
tracea_pipe.kernel @least(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c300 = arith.constant 300 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %part = arith.ceildivsi %n, %c256 : index
  %more = arith.maxsi %part, %c256 : index
  %chunk = arith.minsi %more, %c300 : index
  %grid = arith.ceildivsi %n, %chunk : index
  tracea_pipe.tiles (%i) in (%grid) {
    %from = arith.muli %i, %chunk : index
    %left = arith.subi %n, %from : index
    %rows = arith.minsi %chunk, %left : index
    %window = memref.subview %x[%from, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%window : memref<?x64xf32, strided<[64, 1], offset: ?>>)
  }
  tracea_pipe.end
}

// -----

// Rows of one argument as many as of another: the host has compared them. The
// number of workgroups is taken to be at least 1.
// CHECK-LABEL: tracea_pipe.kernel @rows
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, 2 accesses in bounds
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
func.func @main(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x16xf32>
  %n = memref.dim %y, %c0 : memref<?x16xf32>
  %same = arith.cmpi eq, %m, %n : index
  cf.assert %same, "as many rows"
  tracea_pipe.launch @rows ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
  return
}
tracea_pipe.kernel @rows(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  tracea_pipe.tiles (%i) in (%n) {
    %v = tracea_pipe.load %x[%i, %c0] map #id : memref<?x16xf32> -> tensor<1x16xf32, #lanes>
    tracea_pipe.store %v, %y[%i, %c0] map #id : tensor<1x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// A store that only the last repetition makes; before it the sums are elsewhere.
// CHECK-LABEL: tracea_pipe.kernel @last
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @last(%y: memref<?x16xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<1x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x16xf32>
  %blocks = arith.maxsi %k, %c1 : index
  tracea_pipe.tiles (%i) in (%n) {
    scf.for %b = %c0 to %blocks step %c64 {
      %next = arith.addi %b, %c64 : index
      %isLast = arith.cmpi sge, %next, %k : index
      scf.if %isLast {
        tracea_pipe.store %zero, %y[%i, %c0] map #id : tensor<1x16xf32, #lanes>, memref<?x16xf32>
      }
    }
  }
  tracea_pipe.end
}

// -----

// First zeros, then the sums: each writes everything, in the same tile.
// CHECK-LABEL: tracea_pipe.kernel @twice
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, again by 1 store after, 2 accesses
tracea_pipe.kernel @twice(%x: memref<?x8xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %y, %c0 : memref<?xf32>
  tracea_pipe.tiles (%i) in (%n) {
    %part = memref.subview %y[%i] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%part : memref<1xf32, strided<[1], offset: ?>>)
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%part : memref<1xf32, strided<[1], offset: ?>>) {
    ^bb0(%out: f32):
      %next = arith.addf %out, %out : f32
      linalg.yield %next : f32
    }
  }
  tracea_pipe.end
}
