// Copies in bulk say how long the second-level cache is to keep what they read;
// copies that say nothing of it leave that to the cache.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#rows = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
!slot = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
!ring = !tracea_pipe.channel<2 x (!slot, !slot, !slot)>
!phase = !tracea_pipe.phase<2>

// CHECK-LABEL: llvm.func @hints(
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 1364590687093260288 : i64
// CHECK-DAG: %[[LAST:.*]] = arith.constant 1508705875169116160 : i64
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} l2_cache_hint = %[[FIRST]] :
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} l2_cache_hint = %[[LAST]] :
// CHECK-NOT: l2_cache_hint
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: l2_cache_hint
// CHECK: llvm.return
tracea_pipe.kernel @hints(%X: memref<?x?xbf16>, %W: memref<?x?xbf16>, %V: memref<?x?xbf16>, %Y: memref<?x?xbf16>, %n: index) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c64 : index
    %s:3 = tracea_pipe.acquire %ring[%p] : !ring, !phase -> !slot, !slot, !slot
    tracea_pipe.copy %W[%m, %c0] map #id padded [0, 1] reuse once to %s#0 : memref<?x?xbf16>, !slot
    tracea_pipe.copy %X[%c0, %c0] map #id padded [0, 1] reuse often to %s#1 : memref<?x?xbf16>, !slot
    tracea_pipe.copy %V[%m, %c0] map #id padded [0, 1] to %s#2 : memref<?x?xbf16>, !slot
    tracea_pipe.commit %ring[%p] : !ring, !phase
    %f:3 = tracea_pipe.wait %ring[%p] : !ring, !phase -> !slot, !slot, !slot
    %w = tracea_pipe.load %f#0[%c0, %c0] map #id : !slot -> tensor<64x64xbf16, #rows>
    %x = tracea_pipe.load %f#1[%c0, %c0] map #id : !slot -> tensor<64x64xbf16, #rows>
    %v = tracea_pipe.load %f#2[%c0, %c0] map #id : !slot -> tensor<64x64xbf16, #rows>
    tracea_pipe.release %ring[%p] : !ring, !phase
    %wx = arith.addf %w, %x : tensor<64x64xbf16, #rows>
    %sum = arith.addf %wx, %v : tensor<64x64xbf16, #rows>
    tracea_pipe.store %sum, %Y[%m, %c0] map #id : tensor<64x64xbf16, #rows>, memref<?x?xbf16>
  }
  tracea_pipe.end
}
