// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

// Rows of a tile walk through images, rows and columns of pixels, and each takes what its row of pixels has, whatever
// its column of the tile: neighbours there are no neighbours in memory. 37 is no power of two: one is divided by.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>

// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME:    %[[E:[^:]*]]: !llvm.ptr<1>
// CHECK-NOT:     llvm.ptrtoint %[[E]]
// CHECK:         %[[ROW:.*]] = arith.divui %{{.*}}, %c37 : index
// CHECK:         %[[IN:.*]] = arith.remui %[[ROW]], %c8 : index
// CHECK:         %[[AT:.*]] = arith.index_cast %[[IN]] : index to i64
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %[[E]][%[[AT]]]
// CHECK:         llvm.load %[[PLACE]] {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NOT:     llvm.load
// CHECK:         llvm.return
tracea_pipe.kernel @rows(%e: memref<8xf32>, %y: memref<8x16xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c37 = arith.constant 37 : index
  tiles (%t) in (%c1) {
    %walk = tracea_pipe.delinearize %t into(%c8, %c37) : <3>
    %x = tracea_pipe.load %e[%c0] map affine_map<(n, p, q, j) -> (p)> along [0](%walk : !tracea_pipe.walk<3>) : memref<8xf32> -> tensor<8x16xf32, #lanes>
    tracea_pipe.store %x, %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<8x16xf32, #lanes>, memref<8x16xf32>
  }
  end
}
