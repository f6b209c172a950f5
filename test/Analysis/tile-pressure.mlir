// What tiles take of the registers: slices are the registers of the tile that they are
// cut from, and elements that several registers would hold are loaded once.
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-resources))" | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#wide = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                           warp = [[16, 0], [32, 0]], outer = [1, 1]>
#half = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                           warp = [[16, 0], [32, 0]], outer = [1, 1]>
!wide = tensor<64x128xf32, #wide>
!half = tensor<64x64xf32, #half>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {

// A tile of 64 registers. While its second half is stored the first is done with: the
// halves are no tiles of their own.
// CHECK-LABEL: kernel @slices(
// CHECK-SAME: registers 64 live of
tracea_pipe.kernel @slices(%n: index, %d: memref<64x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !wide
  tracea_pipe.tiles (%i) in (%n) {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (!wide) {
      %t = arith.addf %s, %s : !wide
      scf.yield %t : !wide
    }
    %a = tracea_pipe.slice %sum[0, 0] : !wide -> !half
    %b = tracea_pipe.slice %sum[0, 64] : !wide -> !half
    tracea_pipe.store %a, %d[%c0, %c0] map #id : !half, memref<64x128xf32>
    tracea_pipe.store %b, %d[%c0, %c64] map #id : !half, memref<64x128xf32>
  }
  tracea_pipe.end
}

// A bias is the same for all rows: 32 of the 64 registers are distinct, and wait for
// the sum beside it.
// CHECK-LABEL: kernel @repeated(
// CHECK-SAME: registers 96 live of
tracea_pipe.kernel @repeated(%n: index, %x: memref<128xf32>, %d: memref<64x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !wide
  tracea_pipe.tiles (%i) in (%n) {
    %bias = tracea_pipe.load %x[%c0] map affine_map<(i, j) -> (j)> : memref<128xf32> -> !wide
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (!wide) {
      %t = arith.addf %s, %s : !wide
      scf.yield %t : !wide
    }
    %y = arith.addf %sum, %bias : !wide
    tracea_pipe.store %y, %d[%c0, %c0] map #id : !wide, memref<64x128xf32>
  }
  tracea_pipe.end
}

// With an element of its own for each row all 64 are.
// CHECK-LABEL: kernel @distinct(
// CHECK-SAME: registers 128 live of
tracea_pipe.kernel @distinct(%n: index, %x: memref<64x128xf32>, %d: memref<64x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !wide
  tracea_pipe.tiles (%i) in (%n) {
    %other = tracea_pipe.load %x[%c0, %c0] map #id : memref<64x128xf32> -> !wide
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (!wide) {
      %t = arith.addf %s, %s : !wide
      scf.yield %t : !wide
    }
    %y = arith.addf %sum, %other : !wide
    tracea_pipe.store %y, %d[%c0, %c0] map #id : !wide, memref<64x128xf32>
  }
  tracea_pipe.end
}
}
