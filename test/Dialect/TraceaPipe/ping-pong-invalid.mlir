// What two teams cannot take in turn.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-ping-pong))"

#swap = affine_map<(i, j) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>
#block = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [2, 1]>

// expected-error @+1 {{expects one role of one team that multiplies in a loop over tiles, which 2 teams could take in turn}}
tracea_pipe.kernel @two_teams(%tiles: index, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>)
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
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 240 (%team) {
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

// -----

#swap = affine_map<(i, j) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>
#block = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [2, 1]>

tracea_pipe.kernel @chosen_phase(%tiles: index, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>)
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
          %one = tracea_pipe.advance %p : <3>
          %isFirst = arith.cmpi eq, %t, %c0 : index
          // expected-error @+1 {{gives a phase: teams cannot advance past it to take turns}}
          %next = arith.select %isFirst, %one, %p : !tracea_pipe.phase<3>
          scf.yield %next : !tracea_pipe.phase<3>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

#swap = affine_map<(i, j) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>
#block = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [2, 1]>

tracea_pipe.kernel @loaded_condition(%tiles: index, %flags: memref<?xi1>, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>)
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
          %flag = memref.load %flags[%t] : memref<?xi1>
          // expected-error @+1 {{depends on what one team computes: other teams cannot advance past it to take turns}}
          %next = scf.if %flag -> (!tracea_pipe.phase<3>) {
            %one = tracea_pipe.advance %p : <3>
            scf.yield %one : !tracea_pipe.phase<3>
          } else {
            scf.yield %p : !tracea_pipe.phase<3>
          }
          scf.yield %next : !tracea_pipe.phase<3>
        }
      }
    }
  }
  tracea_pipe.end
}
