// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

// Rows of a tile walk through images, rows and columns of pixels, and each takes what its row of pixels has, whatever
// its column of the tile: neighbours there are no neighbours in memory. 37 is no power of two: one is divided by,
// in 32 bits where the loops that count the rows are known to end below.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>

// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME:    %[[E:[^:]*]]: !llvm.ptr<1>
// CHECK-NOT:     llvm.ptrtoint %[[E]]
// CHECK:         %[[NUMBER:.*]] = arith.index_castui %{{.*}} : index to i32
// CHECK:         %[[ROW:.*]] = arith.divui %[[NUMBER]], %c37{{.*}} : i32
// CHECK:         %[[IN:.*]] = arith.remui %[[ROW]], %c8{{.*}} : i32
// CHECK:         %[[INDEX:.*]] = arith.index_castui %[[IN]] : i32 to index
// CHECK:         %[[AT:.*]] = arith.index_cast %[[INDEX]] : index to i64
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

// Of rows that only the run counts, and of more than 32 bits hold, each is divided as wide as it is.
// CHECK-LABEL: llvm.func @open_rows(
// CHECK:         %[[ROW:.*]] = arith.divui %{{.*}}, %c37 : index
// CHECK:         arith.remui %[[ROW]], %c8 : index
// CHECK:         llvm.return
tracea_pipe.kernel @open_rows(%e: memref<8xf32>, %y: memref<?x8x16xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c37 = arith.constant 37 : index
  %dim = memref.dim %y, %c0 : memref<?x8x16xf32>
  tiles (%t) in (%dim) {
    %walk = tracea_pipe.delinearize %t into(%c8, %c37) : <3>
    %x = tracea_pipe.load %e[%c0] map affine_map<(n, p, q, j) -> (p)> along [0](%walk : !tracea_pipe.walk<3>) : memref<8xf32> -> tensor<8x16xf32, #lanes>
    tracea_pipe.store %x, %y[%t, %c0, %c0] map affine_map<(i, j) -> (0, i, j)> : tensor<8x16xf32, #lanes>, memref<?x8x16xf32>
  }
  end
}

// CHECK-LABEL: llvm.func @many_rows(
// CHECK:         %[[ROW:.*]] = arith.divui %{{.*}}, %c37 : index
// CHECK:         arith.remui %[[ROW]], %c8 : index
// CHECK:         llvm.return
tracea_pipe.kernel @many_rows(%e: memref<8xf32>, %y: memref<8x16xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c37 = arith.constant 37 : index
  %c100 = arith.constant 100 : index
  %far = arith.constant 100000000 : index
  tiles (%t) in (%c100) {
    %first = arith.muli %t, %far : index
    %walk = tracea_pipe.delinearize %first into(%c8, %c37) : <3>
    %x = tracea_pipe.load %e[%c0] map affine_map<(n, p, q, j) -> (p)> along [0](%walk : !tracea_pipe.walk<3>) : memref<8xf32> -> tensor<8x16xf32, #lanes>
    tracea_pipe.store %x, %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<8x16xf32, #lanes>, memref<8x16xf32>
  }
  end
}
