// The role that multiplies becomes two teams: each computes the tiles of its turn and
// walks past what the other reads.
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-ping-pong))" | FileCheck %s
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-ping-pong,tracea-verify-protocol))" -o /dev/null

#swap = affine_map<(i, j) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>
#block = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [2, 1]>

// CHECK-LABEL: kernel @walks_past(
// CHECK: %[[RING:.*]] = tracea_pipe.channel in_turns : <3 x
// CHECK: %[[TURNS:.*]] = tracea_pipe.order_barrier : <2>
// CHECK: role "producer" warps [0, 4] registers 24 {
// CHECK-NOT: turn
// CHECK: role "consumer" warps [4, 12] copies 2 registers 240 (%[[TEAM:.*]]) {
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TEAM]],
// CHECK: %[[WALK:.*]]:2 = scf.for {{.*}} iter_args(%[[PHASE:.*]] = %{{.*}}, %[[MINE:.*]] = %[[FIRST]])
// CHECK-NEXT: %[[NEXT:.*]] = scf.if %[[MINE]] -> (!tracea_pipe.phase<3>) {
// CHECK-NEXT: tracea_pipe.order_wait %[[TURNS]][%[[TEAM]]]
// CHECK-NEXT: tracea_pipe.wait %[[RING]][%[[PHASE]]]
// CHECK: tracea_pipe.mma_async
// CHECK-NEXT: tracea_pipe.commit_group mma
// CHECK-NEXT: tracea_pipe.order_arrive %[[TURNS]][%[[TEAM]]]
// CHECK-NEXT: tracea_pipe.wait_group mma pending 0
// CHECK-NEXT: tracea_pipe.release %[[RING]][%[[PHASE]]]
// CHECK: } else {
// CHECK-NEXT: %[[PAST:.*]] = tracea_pipe.advance %[[PHASE]]
// CHECK-NEXT: scf.yield %[[PAST]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[OTHERS:.*]] = arith.xori %[[MINE]], %true
// CHECK-NEXT: scf.yield %[[NEXT]], %[[OTHERS]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[SECOND:.*]] = arith.cmpi ne, %[[TEAM]],
// CHECK-NEXT: %[[LEFT:.*]] = arith.andi %[[WALK]]#1, %[[SECOND]]
// CHECK-NEXT: scf.if %[[LEFT]] {
// CHECK-NEXT: tracea_pipe.order_wait %[[TURNS]][%[[TEAM]]]
// CHECK-NEXT: tracea_pipe.order_arrive %[[TURNS]][%[[TEAM]]]
tracea_pipe.kernel @walks_past(%tiles: index, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>)
    attributes {pipeline = #tracea_pipe.pipeline<registers = [24, 240], workgroups = 132, ping_pong = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    %ring = tracea_pipe.channel : <3 x (memref<128x64xbf16, #block>, memref<128x64xbf16, #block>)>
    %start = tracea_pipe.start : <3>
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 24 {
        %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%p = %start) -> (!tracea_pipe.phase<3>) {
          %slot:2 = tracea_pipe.acquire %ring[%p] : <3 x (memref<128x64xbf16, #block>, memref<128x64xbf16, #block>)>, <3> -> memref<128x64xbf16, #block>, memref<128x64xbf16, #block>
          tracea_pipe.copy %a[%t, %c0] map #id padded [0, 1] to %slot#0 : memref<?x?xbf16>, memref<128x64xbf16, #block>
          tracea_pipe.copy %b[%t, %c0] map #id padded [0, 1] to %slot#1 : memref<?x?xbf16>, memref<128x64xbf16, #block>
          tracea_pipe.commit %ring[%p] : <3 x (memref<128x64xbf16, #block>, memref<128x64xbf16, #block>)>, <3>
          %next = tracea_pipe.advance %p : <3>
          scf.yield %next : !tracea_pipe.phase<3>
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] registers 240 {
        %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%p = %start) -> (!tracea_pipe.phase<3>) {
          %slot:2 = tracea_pipe.wait %ring[%p] : <3 x (memref<128x64xbf16, #block>, memref<128x64xbf16, #block>)>, <3> -> memref<128x64xbf16, #block>, memref<128x64xbf16, #block>
          %rhs = tracea_pipe.view %slot#1[%c0, %c0] map #swap : memref<128x64xbf16, #block> -> memref<64x128xbf16, strided<[1, 64], offset: ?>, #block>
          %sum = tracea_pipe.mma_async %slot#0, %rhs : memref<128x64xbf16, #block>, memref<64x128xbf16, strided<[1, 64], offset: ?>, #block> -> !tracea_pipe.in_flight<tensor<128x128xf32, #acc>>
          tracea_pipe.commit_group mma
          %whole = tracea_pipe.wait_group mma pending 0 (%sum : !tracea_pipe.in_flight<tensor<128x128xf32, #acc>>)
          tracea_pipe.release %ring[%p] : <3 x (memref<128x64xbf16, #block>, memref<128x64xbf16, #block>)>, <3>
          %next = tracea_pipe.advance %p : <3>
          scf.yield %next : !tracea_pipe.phase<3>
        }
      }
    }
  }
  tracea_pipe.end
}

// A kernel without turns stays as it is.
// CHECK-LABEL: kernel @alone(
// CHECK-NOT: turn
// CHECK: {{^ *}}end
tracea_pipe.kernel @alone(%n: index) attributes {pipeline = #tracea_pipe.pipeline<>} {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}
