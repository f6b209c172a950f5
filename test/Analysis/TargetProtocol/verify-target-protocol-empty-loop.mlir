// A tile that is staged once, before a loop that may have no iterations: who has
// waited for it and gives it back has looked, whether it read or not.
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" \
// RUN:   | tracea-opt --pass-pipeline="builtin.module(tracea-lower-to-target{require-proof=true})" | FileCheck %s
// The lanes of a team have to meet before one of them gives it back: no multiply says
// that all of them have seen it come.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm | FileCheck %s --check-prefix=MEETS
// MEETS-COUNT-2: nvvm.mbarrier.try_wait.parity
// MEETS: wgmma.wait_group
// MEETS: nvvm.barrier id = %{{.*}} number_of_threads = %c128
// MEETS-NEXT: scf.if
// MEETS: nvvm.mbarrier.arrive
// CHECK: llvm.func @gemm
// CHECK-SAME: tracea_pipe.certificates = [#tracea_pipe.certificate<check = "target-protocol", claim = "4 roles, 2 rings, every trip count"

// Without the wait behind it, nobody has.
// RUN: sed -e "/tracea_pipe.release %once/d" %s | not tracea-opt -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol))" 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: breaks the protocol


#swizzle = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
#panels = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#acc = #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#half = #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
!a = memref<128x64xbf16, #swizzle>
!b = memref<256x64xbf16, #swizzle>
!a_team = memref<64x64xbf16, strided<[64, 1], offset: ?>, #swizzle>
!b_t = memref<64x256xbf16, strided<[1, 64], offset: ?>, #swizzle>
!staging = memref<64x128xbf16, #panels>
!ring = !tracea_pipe.channel<1 x (!b)>
!aring = !tracea_pipe.channel<1 x (!a)>
!phase = !tracea_pipe.phase<1>
!sum = tensor<64x256xf32, #acc>
!out = tensor<64x256xbf16, #acc>
!out_half = tensor<64x128xbf16, #half>
!flight = !tracea_pipe.in_flight<!sum>

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a",
                                                  triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
tracea_pipe.kernel @gemm(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %workgroups: index, %C: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %M = memref.dim %C, %c0 : memref<?x?xbf16>
  %N = memref.dim %C, %c1 : memref<?x?xbf16>
  %K = memref.dim %A, %c1 : memref<?x?xbf16>
  %rows = arith.ceildivsi %M, %c128 : index
  %columns = arith.ceildivsi %N, %c256 : index
  %steps = arith.ceildivsi %K, %c64 : index
  %count = arith.muli %rows, %columns : index
  tracea_pipe.tiles (%w) in (%workgroups) {
    %ring = tracea_pipe.channel : !ring
    %once = tracea_pipe.channel : !aring
    %start = tracea_pipe.start : !phase
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        scf.for %t = %w to %count step %workgroups iter_args(%p = %start, %ap = %start) -> (!phase, !phase) {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m = arith.muli %i, %c128 : index
          %n = arith.muli %j, %c256 : index
          %as = tracea_pipe.acquire %once[%ap] : !aring, !phase -> !a
          tracea_pipe.copy %A[%m, %c0] map #id padded [0, 1] to %as : memref<?x?xbf16>, !a
          tracea_pipe.commit %once[%ap] : !aring, !phase
          %e = scf.for %step = %c0 to %steps step %c1 iter_args(%q = %p) -> (!phase) {
            %k = arith.muli %step, %c64 : index
            %s = tracea_pipe.acquire %ring[%q] : !ring, !phase -> !b
            tracea_pipe.copy %B[%n, %k] map #id padded [0, 1] to %s : memref<?x?xbf16>, !b
            tracea_pipe.commit %ring[%q] : !ring, !phase
            %next = tracea_pipe.advance %q : !phase
            scf.yield %next : !phase
          }
          %an = tracea_pipe.advance %ap : !phase
          scf.yield %e, %an : !phase, !phase
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %staging = tracea_pipe.scratch : !staging
        %mt = arith.muli %team, %c64 : index
        scf.for %t = %w to %count step %workgroups iter_args(%p = %start, %ap = %start) -> (!phase, !phase) {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %zero = arith.constant dense<0.0> : !sum
          %as = tracea_pipe.wait %once[%ap] : !aring, !phase -> !a
          %sum, %e = scf.for %step = %c0 to %steps step %c1 iter_args(%c = %zero, %q = %p) -> (!sum, !phase) {
            %s = tracea_pipe.wait %ring[%q] : !ring, !phase -> !b
            %a = tracea_pipe.view %as[%mt, %c0] map #id : !a -> !a_team
            %b = tracea_pipe.view %s[%c0, %c0] map #transposed : !b -> !b_t
            %d = tracea_pipe.mma_async %a, %b onto %c : !a_team, !b_t, !sum -> !flight
            tracea_pipe.commit_group mma
            %next = tracea_pipe.wait_group mma pending 0 (%d : !flight)
            tracea_pipe.release %ring[%q] : !ring, !phase
            %q1 = tracea_pipe.advance %q : !phase
            scf.yield %next, %q1 : !sum, !phase
          }
          tracea_pipe.release %once[%ap] : !aring, !phase
          %m0 = arith.muli %i, %c128 : index
          %m = arith.addi %m0, %mt : index
          %n = arith.muli %j, %c256 : index
          %h0 = arith.subi %M, %m : index
          %h = arith.truncf %sum : !sum to !out
          // In two halves. Before the staging is written again, the copy out of it
          // has been read.
          tracea_pipe.wait_group copy pending 0
          %left = tracea_pipe.slice %h[0, 0] : !out -> !out_half
          tracea_pipe.store %left, %staging[%c0, %c0] map #id : !out_half, !staging
          tracea_pipe.sync
          %w0 = arith.subi %N, %n : index
          tracea_pipe.copy_out %staging to %C[%m, %n] map #id limits(%h0, %w0) : !staging, memref<?x?xbf16>
          tracea_pipe.commit_group copy
          tracea_pipe.wait_group copy pending 0
          %right = tracea_pipe.slice %h[0, 128] : !out -> !out_half
          tracea_pipe.store %right, %staging[%c0, %c0] map #id : !out_half, !staging
          tracea_pipe.sync
          %n1 = arith.addi %n, %c128 : index
          %w1 = arith.subi %N, %n1 : index
          tracea_pipe.copy_out %staging to %C[%m, %n1] map #id limits(%h0, %w1) : !staging, memref<?x?xbf16>
          tracea_pipe.commit_group copy
          %an = tracea_pipe.advance %ap : !phase
          scf.yield %e, %an : !phase, !phase
        }
        tracea_pipe.wait_group copy pending 0
      }
    }
  }
  tracea_pipe.end
}
}
