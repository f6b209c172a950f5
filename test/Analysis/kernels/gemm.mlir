// A matrix product C = A * B^T for a matrix unit that runs beside its warps: one
// role copies, two teams multiply 64 rows each, and give back the slot before the
// one that they read. A workgroup walks over tiles in groups of 16 rows; the last
// tile leaves through staged memory while the next one begins.
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' %s \
// RUN:   | tracea-opt --pass-pipeline="%kernel_proofs" | FileCheck %s

// Any number of slots (with more than four the memory of this target is too
// small) but one: the slot that is given back is not the last one.
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' \
// RUN:     -e 's/<4 x/<2 x/; s/phase<4>/phase<2>/' %s | tracea-opt --pass-pipeline="%kernel_proofs" | FileCheck %s
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' \
// RUN:     -e 's/<4 x/<3 x/; s/phase<4>/phase<3>/' %s | tracea-opt --pass-pipeline="%kernel_proofs" | FileCheck %s
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' \
// RUN:     -e 's/<4 x/<5 x/; s/phase<4>/phase<5>/' %s | tracea-opt --pass-pipeline="%kernel_order" | FileCheck %s
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' \
// RUN:     -e 's/<4 x/<6 x/; s/phase<4>/phase<6>/' %s | tracea-opt --pass-pipeline="%kernel_order" | FileCheck %s
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' \
// RUN:     -e 's/<4 x/<7 x/; s/phase<4>/phase<7>/' %s | tracea-opt --pass-pipeline="%kernel_order" | FileCheck %s
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' \
// RUN:     -e 's/<4 x/<8 x/; s/phase<4>/phase<8>/' %s | tracea-opt --pass-pipeline="%kernel_order" | FileCheck %s
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' \
// RUN:     -e 's/<4 x/<1 x/; s/phase<4>/phase<1>/' %s \
// RUN:   | not tracea-opt --pass-pipeline="%kernel_proofs" 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: 'tracea_pipe.acquire' op breaks the protocol (deadlock)

// CHECK: tracea_pipe.kernel @gemm
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count

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
!ring = !tracea_pipe.channel<4 x (!a, !b)>
!phase = !tracea_pipe.phase<4>
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
    %start = tracea_pipe.start : !phase
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        scf.for %t = %w to %count step %workgroups iter_args(%p = %start) -> (!phase) {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m = arith.muli %i, %c128 : index
          %n = arith.muli %j, %c256 : index
          %e = scf.for %step = %c0 to %steps step %c1 iter_args(%q = %p) -> (!phase) {
            %k = arith.muli %step, %c64 : index
            %s:2 = tracea_pipe.acquire %ring[%q] : !ring, !phase -> !a, !b
            tracea_pipe.copy %A[%m, %k] map #id padded [0, 1] to %s#0 : memref<?x?xbf16>, !a
            tracea_pipe.copy %B[%n, %k] map #id padded [0, 1] to %s#1 : memref<?x?xbf16>, !b
            tracea_pipe.commit %ring[%q] : !ring, !phase
            %next = tracea_pipe.advance %q : !phase
            scf.yield %next : !phase
          }
          scf.yield %e : !phase
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %staging = tracea_pipe.scratch : !staging
        %mt = arith.muli %team, %c64 : index
        scf.for %t = %w to %count step %workgroups iter_args(%p = %start) -> (!phase) {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %some = arith.cmpi slt, %c0, %steps : index
          %sum, %e = scf.if %some -> (!sum, !phase) {
            %s:2 = tracea_pipe.wait %ring[%p] : !ring, !phase -> !a, !b
            %a = tracea_pipe.view %s#0[%mt, %c0] map #id : !a -> !a_team
            %b = tracea_pipe.view %s#1[%c0, %c0] map #transposed : !b -> !b_t
            %d = tracea_pipe.mma_async %a, %b : !a_team, !b_t -> !flight
            tracea_pipe.commit_group mma
            %p1 = tracea_pipe.advance %p : !phase
            %l:3 = scf.for %step = %c1 to %steps step %c1 iter_args(%dl = %d, %old = %p, %q = %p1)
                -> (!flight, !phase, !phase) {
              %sl:2 = tracea_pipe.wait %ring[%q] : !ring, !phase -> !a, !b
              %al = tracea_pipe.view %sl#0[%mt, %c0] map #id : !a -> !a_team
              %bl = tracea_pipe.view %sl#1[%c0, %c0] map #transposed : !b -> !b_t
              %dn = tracea_pipe.mma_async %al, %bl onto %dl : !a_team, !b_t, !flight -> !flight
              tracea_pipe.commit_group mma
              tracea_pipe.wait_group mma pending 1
              tracea_pipe.release %ring[%old] : !ring, !phase
              %q1 = tracea_pipe.advance %q : !phase
              scf.yield %dn, %q, %q1 : !flight, !phase, !phase
            }
            %done = tracea_pipe.wait_group mma pending 0 (%l#0 : !flight)
            tracea_pipe.release %ring[%l#1] : !ring, !phase
            scf.yield %done, %l#2 : !sum, !phase
          } else {
            %zero = arith.constant dense<0.0> : !sum
            scf.yield %zero, %p : !sum, !phase
          }
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
          scf.yield %e : !phase
        }
        tracea_pipe.wait_group copy pending 0
      }
    }
  }
  tracea_pipe.end
}
}
