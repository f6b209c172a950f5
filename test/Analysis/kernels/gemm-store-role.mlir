// The product of gemm.mlir with a role of its own for stores: both teams write
// their half of a slot, a warp beside the producer copies it out.
// RUN: sed -e '/^ *triple/r %S/Inputs/launch-gemm.mlir' %s \
// RUN:   | tracea-opt --pass-pipeline="%kernel_proofs" | FileCheck %s

// CHECK: tracea_pipe.kernel @gemm
// CHECK-SAME: check = "protocol", claim = "4 roles, 2 channels, every trip count

#swizzle = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
#panels = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#acc = #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
!a = memref<128x64xbf16, #swizzle>
!b = memref<256x64xbf16, #swizzle>
!a_team = memref<64x64xbf16, strided<[64, 1], offset: ?>, #swizzle>
!b_t = memref<64x256xbf16, strided<[1, 64], offset: ?>, #swizzle>
!out = memref<128x256xbf16, #panels>
!half = memref<64x256xbf16, strided<[256, 1], offset: ?>, #panels>
!outs = !tracea_pipe.channel<1 x (!out)>
!ring = !tracea_pipe.channel<3 x (!a, !b)>
!phase = !tracea_pipe.phase<3>
!sum = tensor<64x256xf32, #acc>
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
    %outs = tracea_pipe.channel : !outs
    %start = tracea_pipe.start : !phase
    %start_out = tracea_pipe.start : !tracea_pipe.phase<1>
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 1] registers 40 {
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
        %mt = arith.muli %team, %c64 : index
        scf.for %t = %w to %count step %workgroups iter_args(%p = %start, %po = %start_out) -> (!phase, !tracea_pipe.phase<1>) {
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
          %o = tracea_pipe.acquire %outs[%po] : !outs, !tracea_pipe.phase<1> -> !out
          %half = tracea_pipe.view %o[%mt, %c0] map #id : !out -> !half
          %h = arith.truncf %sum : !sum to tensor<64x256xbf16, #acc>
          tracea_pipe.store %h, %half[%c0, %c0] map #id : tensor<64x256xbf16, #acc>, !half
          tracea_pipe.commit %outs[%po] : !outs, !tracea_pipe.phase<1>
          %pn = tracea_pipe.advance %po : !tracea_pipe.phase<1>
          scf.yield %e, %pn : !phase, !tracea_pipe.phase<1>
        }
      }
      tracea_pipe.role "store" warps [1, 2] registers 40 {
        scf.for %t = %w to %count step %workgroups iter_args(%po = %start_out) -> (!tracea_pipe.phase<1>) {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m = arith.muli %i, %c128 : index
          %n = arith.muli %j, %c256 : index
          %h0 = arith.subi %M, %m : index
          %w0 = arith.subi %N, %n : index
          %o = tracea_pipe.wait %outs[%po] : !outs, !tracea_pipe.phase<1> -> !out
          tracea_pipe.copy_out %o to %C[%m, %n] map #id limits(%h0, %w0) : !out, memref<?x?xbf16>
          tracea_pipe.commit_group copy
          tracea_pipe.wait_group copy pending 0
          tracea_pipe.release %outs[%po] : !outs, !tracea_pipe.phase<1>
          %pn = tracea_pipe.advance %po : !tracea_pipe.phase<1>
          scf.yield %pn : !tracea_pipe.phase<1>
        }
      }
    }
  }
  tracea_pipe.end
}
}
