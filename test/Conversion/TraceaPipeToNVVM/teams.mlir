// Rings inside of a team, turns, registers as operands, reshaped slots.
// RUN: tracea-opt %s --split-input-file --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
!slot = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
!ring = !tracea_pipe.channel<2 x (!slot)>
!phase = !tracea_pipe.phase<2>

// A workgroup without roles fills and reads its ring itself: all of it waits,
// one thread acts. The lanes that read meet before the slot goes back.
// CHECK-LABEL: llvm.func @alone(
// CHECK-SAME:    nvvm.reqntid = array<i32: 128, 1, 1>
#rows = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
tracea_pipe.kernel @alone(%X: memref<?x?xbf16>, %Y: memref<?x?xbf16>, %n: index) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %h = memref.dim %Y, %c0 : memref<?x?xbf16>
  // The number of the workgroup is its tile.
  // CHECK: nvvm.read.ptx.sreg.ctaid.x
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c64 : index
    // CHECK:      scf.if %[[FIRST:.*]] {
    // CHECK:        nvvm.mbarrier.try_wait.parity %{{.*}}, %c1_i32
    // CHECK:        nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c8192_i32
    // CHECK:        nvvm.cp.async.bulk.tensor.shared.cluster.global
    // CHECK:      }
    %s = tracea_pipe.acquire %ring[%p] : !ring, !phase -> !slot
    tracea_pipe.copy %X[%m, %c0] map #id padded [0, 1] to %s : memref<?x?xbf16>, !slot
    tracea_pipe.commit %ring[%p] : !ring, !phase
    // CHECK:      nvvm.mbarrier.try_wait.parity %{{.*}}, %c0_i32
    %f = tracea_pipe.wait %ring[%p] : !ring, !phase -> !slot
    // CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4
    %x = tracea_pipe.load %f[%c0, %c0] map #id : !slot -> tensor<64x64xbf16, #rows>
    // CHECK:      nvvm.barrier id = %c0_i32 number_of_threads = %c128_i32
    // CHECK:      scf.if %[[FIRST]]
    // CHECK:        nvvm.mbarrier.arrive
    tracea_pipe.release %ring[%p] : !ring, !phase
    // CHECK:      llvm.store %{{.*}} : bf16, !llvm.ptr<1>
    %rest = arith.subi %h, %m : index
    tracea_pipe.store %x, %Y[%m, %c0] map #id limits(%rest, %c64) : tensor<64x64xbf16, #rows>, memref<?x?xbf16>
  }
  tracea_pipe.end
}

// -----

#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                          warp = [[16, 0], [32, 0]], outer = [1, 1]>
#a = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                        warp = [[16, 0], [32, 0]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
!b = memref<8x16xbf16, #tracea_pipe.staged<panel = 8>>
!bt = memref<16x8xbf16, strided<[1, 16], offset: ?>, #tracea_pipe.staged<panel = 8>>
!sum = tensor<64x8xf32, #acc>
!flight = !tracea_pipe.in_flight<!sum>

// Team 0 gets the first turn from the last team, and takes the one that is left
// in the end. Without a swizzle columns of K lie in panels of 16 bytes.
// CHECK-LABEL: llvm.func @turns(
// CHECK-SAME:    tracea_pipe.interface = #tracea_pipe.interface<(index), threads = {{[0-9]+}}, shared = 256{{[,>]}}
tracea_pipe.kernel @turns(%n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %turns = tracea_pipe.order_barrier : !tracea_pipe.order_barrier<2>
    %b = tracea_pipe.scratch : !b
    %bt = tracea_pipe.view %b[%c0, %c0] map #transposed : !b -> !bt
    tracea_pipe.roles {
      // CHECK:      %[[TEAM:.*]] = arith.divui
      // CHECK:      %[[LAST:.*]] = arith.cmpi eq, %[[TEAM]], %c1_i32
      // CHECK-NEXT: scf.if %[[LAST]]
      // CHECK-NEXT:   nvvm.barrier.arrive id = %c1_i32 number_of_threads = %c256_i32
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        %x = arith.constant dense<1.0> : tensor<64x16xbf16, #a>
        %c = arith.constant dense<0.0> : !sum
        // CHECK:      %[[MINE:.*]] = arith.addi %[[TEAM]], %c1_i32
        // CHECK:      nvvm.barrier id = %[[MINE]] number_of_threads = %c256_i32
        tracea_pipe.order_wait %turns[%team] : !tracea_pipe.order_barrier<2>
        // What the unit reads in registers passes its fence: four accumulators and
        // four words.
        // CHECK:      llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,=r,=r,=r,=r,0,1,2,3,4,5,6,7"
        // CHECK:      wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1, 0;
        // CHECK-SAME: "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l"
        %d = tracea_pipe.mma_async %x, %bt onto %c : tensor<64x16xbf16, #a>, !bt, !sum -> !flight
        tracea_pipe.commit_group mma
        // CHECK:      arith.select
        // CHECK:      nvvm.barrier.arrive
        tracea_pipe.order_arrive %turns[%team] : !tracea_pipe.order_barrier<2>
        %s = tracea_pipe.wait_group mma pending 0 (%d : !flight)
      }
      // CHECK:      %[[LEFT:.*]] = arith.cmpi eq, %[[TEAM]], %c0_i32
      // CHECK:      scf.if %[[LEFT]]
      // CHECK-NEXT:   nvvm.barrier id = %c1_i32 number_of_threads = %c256_i32
    }
  }
  tracea_pipe.end
}

// -----

// Two dimensions of a grid in groups of four rows.
// CHECK-LABEL: llvm.func @grid(
// CHECK:       arith.mului_extended
// CHECK:       %[[BAND:.*]] = arith.index_castui %{{.*}} : i64 to index
// CHECK:       %[[FIRST:.*]] = arith.muli %[[BAND]], %c4
// CHECK:       %[[BELOW:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK:       arith.minsi %[[BELOW]], %c4
#one = #tracea_pipe.lanes<reg = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], outer = [1, 1]>
tracea_pipe.kernel @grid(%X: memref<?x?xf32>, %a: index, %b: index) {
  %x = arith.constant dense<1.0> : tensor<1x32xf32, #one>
  tracea_pipe.tiles (%i, %j) in (%a, %b) group 4 {
    %c32 = arith.constant 32 : index
    %n = arith.muli %j, %c32 : index
    tracea_pipe.store %x, %X[%i, %n] map affine_map<(i, j) -> (i, j)> : tensor<1x32xf32, #one>, memref<?x?xf32>
  }
  tracea_pipe.end
}
