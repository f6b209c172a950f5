// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

// One lane divides for each row of the tile and keeps its coordinates in shared memory; after all have met, each lane
// loads those of the rows that it loads elements of. Four warps have lanes for all 8 rows, so that some have none.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>

// CHECK-LABEL: llvm.func @kept(
// CHECK:         %[[SOME:.*]] = arith.cmpi ult, %{{.*}}, %c8 : index
// CHECK:         scf.if %[[SOME]]
// CHECK:           arith.remui %{{.*}}, %c37
// CHECK:           arith.divui %{{.*}}, %c37
// CHECK-COUNT-2:   llvm.store %{{.*}} : i64, !llvm.ptr<3>
// CHECK-NOT:     {{divui|remui}} %{{.*}}, %c37
// CHECK:         nvvm.barrier
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> i64
// CHECK-NOT:     {{divui|remui}} %{{.*}}, %c37
// CHECK:         llvm.return
tracea_pipe.kernel @kept(%e: memref<?x64xf32>, %y: memref<?x16xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c37 = arith.constant 37 : index
  %rows = memref.dim %y, %c0 : memref<?x16xf32>
  %tiles = arith.ceildivsi %rows, %c8 : index
  tiles (%t) in (%tiles) {
    %first = arith.muli %t, %c8 : index
    %left = arith.subi %rows, %first : index
    %table = tracea_pipe.scratch : memref<2x8xi64, #tracea_pipe.staged>
    %walk = tracea_pipe.delinearize %first into(%c37) kept in %table : memref<2x8xi64, #tracea_pipe.staged> : <2>
    %x = tracea_pipe.load %e[%c0, %c0] map affine_map<(n, p, j) -> (n, p)> along [0](%walk : !tracea_pipe.walk<2>) : memref<?x64xf32> -> tensor<8x16xf32, #lanes>
    tracea_pipe.store %x, %y[%first, %c0] map affine_map<(i, j) -> (i, j)> limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  end
}
