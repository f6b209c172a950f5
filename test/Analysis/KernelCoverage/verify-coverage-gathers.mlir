// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics | FileCheck %s

// Of the numbers of a table nothing is known but their type: what they index is padded.
// CHECK: tracea_pipe.kernel @padded(
// CHECK-SAME: claim = "all elements of 1 result written exactly once
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @padded(%x: memref<?x16xf32>, %table: memref<?xi32>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %m = memref.dim %y, %c0 : memref<?x16xf32>
  %tiles = arith.ceildivsi %m, %c8 : index
  tracea_pipe.tiles (%tile) in (%tiles) {
    %first = arith.muli %tile, %c8 : index
    %left = arith.subi %m, %first : index
    %walk = tracea_pipe.gather %table[%first] : memref<?xi32> -> <1>
    %a = tracea_pipe.stage %x[%c0, %c0] map #id along [0](%walk : !tracea_pipe.walk<1>) padded [0] : memref<?x16xf32> -> tensor<8x16xf32, #tracea_pipe.staged>
    %b = tracea_pipe.load %a[%c0, %c0] map #id : tensor<8x16xf32, #tracea_pipe.staged> -> tensor<8x16xf32, #lanes>
    tracea_pipe.store %b, %y[%first, %c0] map #id limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// Without it they may be anywhere.
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @far(%x: memref<?x16xf32>, %table: memref<?xi32>, %y: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%tile) in (%c1) {
    %walk = tracea_pipe.gather %table[%c0] : memref<?xi32> -> <1>
    // expected-remark @+1 {{may not happen, since it depends on a number that memory holds}}
    %a = tracea_pipe.load %x[%c0, %c0] map #id along [0](%walk : !tracea_pipe.walk<1>) : memref<?x16xf32> -> tensor<8x16xf32, #lanes>
    tracea_pipe.store %a, %y[%c0, %c0] map #id : tensor<8x16xf32, #lanes>, memref<8x16xf32>
  }
  tracea_pipe.end
}
