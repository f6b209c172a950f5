// Staged rows that lanes carry to memory whose rows begin anywhere. What limits do
// not cut leaves without conditions; of the rest each lane goes down its columns.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=convert-tracea-pipe-to-nvvm 2>&1 | FileCheck %s --check-prefix=REMARK

#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
!tile = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
!narrow = memref<64x16xbf16, #tracea_pipe.staged<swizzle = [4, 7]>>
!wide = memref<8x96xf32, #tracea_pipe.staged<swizzle = []>>

// Four warps, a row each at a time: 16 rows of a lane, two elements of each. The
// next row of a warp is four rows on.
// REMARK: lane-copy{{.*}}rows of its memory are no multiples of 16 bytes
// CHECK-LABEL: llvm.func @rows(
// CHECK: %[[TALL:.*]] = arith.cmpi sge, %{{.*}}, %c64
// CHECK: %[[BROAD:.*]] = arith.cmpi sge, %{{.*}}, %c64
// CHECK: %[[WHOLE:.*]] = arith.andi %[[TALL]], %[[BROAD]]
// CHECK: scf.if %[[WHOLE]] {
// CHECK-NOT: arith.cmpi
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> i16
// CHECK: llvm.getelementptr %{{.*}}[1604] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i16
// CHECK-COUNT-14: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> i16
// CHECK-NOT: llvm.load
// CHECK-COUNT-16: llvm.store %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<1>
// CHECK-COUNT-16: llvm.load
// CHECK-COUNT-16: llvm.store
// CHECK-NOT: llvm.load
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c4
// CHECK-NOT: arith.divui
// CHECK-NOT: arith.remui
// CHECK-COUNT-2: scf.if
// CHECK: llvm.return
tracea_pipe.kernel @rows(%n: index, %d: memref<?x401xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c401 = arith.constant 401 : index
  %h = memref.dim %d, %c0 : memref<?x401xbf16>
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : !tile
    %m = arith.muli %i, %c64 : index
    %k = arith.muli %j, %c64 : index
    %rows = arith.subi %h, %m : index
    %columns = arith.subi %c401, %k : index
    tracea_pipe.copy_out %s to %d[%m, %k] map #id limits(%rows, %columns) : !tile, memref<?x401xbf16>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}

// Rows of 16 elements: two of them a warp. Nothing is cut.
// CHECK-LABEL: llvm.func @narrow(
// CHECK-NOT: scf.if
// CHECK-NOT: scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3> -> i16
// CHECK-NOT: llvm.load
// CHECK: llvm.return
tracea_pipe.kernel @narrow(%n: index, %d: memref<64x401xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : !narrow
    tracea_pipe.copy_out %s to %d[%c0, %i] map #id : !narrow, memref<64x401xbf16>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}

// Three elements of a row of 96, of 32 bits.
// CHECK-LABEL: llvm.func @wide(
// CHECK-COUNT-6: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK-NOT: llvm.load
// CHECK: llvm.return
tracea_pipe.kernel @wide(%n: index, %d: memref<8x401xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : !wide
    tracea_pipe.copy_out %s to %d[%c0, %i] map #id : !wide, memref<8x401xf32>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}

// Columns of memory are rows of the tile: one element at a time, as before.
// CHECK-LABEL: llvm.func @turned(
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> bf16
// CHECK: llvm.return
tracea_pipe.kernel @turned(%n: index, %d: memref<401x401xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : !tile
    tracea_pipe.copy_out %s to %d[%c0, %i] map #turned : !tile, memref<401x401xbf16>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}
