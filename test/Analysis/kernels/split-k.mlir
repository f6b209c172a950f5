// A product whose sum over k is split: each part writes what it has, in single
// precision, and another kernel adds the parts up in their order.
// RUN: tracea-opt %s --pass-pipeline="%kernel_proofs" | FileCheck %s

// CHECK: tracea_pipe.kernel @split_k
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count
// CHECK-SAME: check = "coverage", claim = "{{[^"]*}}, 1 sum in them with each term once, {{[^"]*}}, for all sizes

#swizzle = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#acc = #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
!a = memref<128x64xbf16, #swizzle>
!b = memref<256x64xbf16, #swizzle>
!a_team = memref<64x64xbf16, strided<[64, 1], offset: ?>, #swizzle>
!b_t = memref<64x256xbf16, strided<[1, 64], offset: ?>, #swizzle>
!ring = !tracea_pipe.channel<4 x (!a, !b)>
!phase = !tracea_pipe.phase<4>
!sum = tensor<64x256xf32, #acc>
!flight = !tracea_pipe.in_flight<!sum>

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a",
                                                  triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @launch_split_k(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %P: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a0 = memref.dim %A, %c0 : memref<?x?xbf16>
  %b0 = memref.dim %P, %c1 : memref<?x?x?xf32>
  %same0 = arith.cmpi eq, %a0, %b0 : index
  cf.assert %same0, "as many rows"
  %a1 = memref.dim %B, %c0 : memref<?x?xbf16>
  %b1 = memref.dim %P, %c2 : memref<?x?x?xf32>
  %same1 = arith.cmpi eq, %a1, %b1 : index
  cf.assert %same1, "as many columns"
  %a2 = memref.dim %A, %c1 : memref<?x?xbf16>
  %b2 = memref.dim %B, %c1 : memref<?x?xbf16>
  %same2 = arith.cmpi eq, %a2, %b2 : index
  cf.assert %same2, "sums of one length"
  %parts = memref.dim %P, %c0 : memref<?x?x?xf32>
  %some3 = arith.cmpi sge, %parts, %c1 : index
  cf.assert %some3, "a part"
  tracea_pipe.launch @split_k ins(%A, %B : memref<?x?xbf16>, memref<?x?xbf16>) outs(%P : memref<?x?x?xf32>)
  return
}
tracea_pipe.kernel @split_k(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %P: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c2 = arith.constant 2 : index
  %parts = memref.dim %P, %c0 : memref<?x?x?xf32>
  %M = memref.dim %P, %c1 : memref<?x?x?xf32>
  %N = memref.dim %P, %c2 : memref<?x?x?xf32>
  %K = memref.dim %A, %c1 : memref<?x?xbf16>
  %rows = arith.ceildivsi %M, %c128 : index
  %columns = arith.ceildivsi %N, %c256 : index
  %steps = arith.ceildivsi %K, %c64 : index
  %share = arith.ceildivsi %steps, %parts : index
  tracea_pipe.tiles (%part, %i, %j) in (%parts, %rows, %columns) group 16 {
    %first = arith.muli %part, %share : index
    %rest = arith.subi %steps, %first : index
    %mine = arith.minsi %rest, %share : index
    %m = arith.muli %i, %c128 : index
    %n = arith.muli %j, %c256 : index
    %ring = tracea_pipe.channel : !ring
    %start = tracea_pipe.start : !phase
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        scf.for %step = %c0 to %mine step %c1 iter_args(%q = %start) -> (!phase) {
          %at = arith.addi %first, %step : index
          %k = arith.muli %at, %c64 : index
          %s:2 = tracea_pipe.acquire %ring[%q] : !ring, !phase -> !a, !b
          tracea_pipe.copy %A[%m, %k] map #id padded [0, 1] to %s#0 : memref<?x?xbf16>, !a
          tracea_pipe.copy %B[%n, %k] map #id padded [0, 1] to %s#1 : memref<?x?xbf16>, !b
          tracea_pipe.commit %ring[%q] : !ring, !phase
          %next = tracea_pipe.advance %q : !phase
          scf.yield %next : !phase
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %mt = arith.muli %team, %c64 : index
        %zero = arith.constant dense<0.0> : !sum
        %sum, %e = scf.for %step = %c0 to %mine step %c1 iter_args(%c = %zero, %q = %start) -> (!sum, !phase) {
          %s:2 = tracea_pipe.wait %ring[%q] : !ring, !phase -> !a, !b
          %a = tracea_pipe.view %s#0[%mt, %c0] map #id : !a -> !a_team
          %b = tracea_pipe.view %s#1[%c0, %c0] map #transposed : !b -> !b_t
          %d = tracea_pipe.mma_async %a, %b onto %c : !a_team, !b_t, !sum -> !flight
          tracea_pipe.commit_group mma
          %next = tracea_pipe.wait_group mma pending 0 (%d : !flight)
          tracea_pipe.release %ring[%q] : !ring, !phase
          %q1 = tracea_pipe.advance %q : !phase
          scf.yield %next, %q1 : !sum, !phase
        }
        %m1 = arith.addi %m, %mt : index
        %h = arith.subi %M, %m1 : index
        %w = arith.subi %N, %n : index
        tracea_pipe.store %sum, %P[%part, %m1, %n] map affine_map<(i, j) -> (0, i, j)> limits(%h, %w)
          : !sum, memref<?x?x?xf32>
      }
    }
  }
  tracea_pipe.end
}
}
