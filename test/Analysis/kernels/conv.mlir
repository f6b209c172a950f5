// A 3x3 convolution with channels last: the filters of a tap and a patch of the
// image come through rings of their own. One patch serves nine multiplies, each
// on a window that begins elsewhere: pixels are numbered through rows of the
// patch, and the columns past a row of the result are not stored.
// RUN: tracea-opt %s --pass-pipeline="%kernel_proofs" | FileCheck %s

// CHECK: tracea_pipe.kernel @conv
// CHECK-SAME: check = "protocol", claim = "4 roles, 2 channels, every trip count

#swizzle = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
// An accumulator of 64 x 144.
#acc = #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
  warp = [[16, 0], [32, 0]], outer = [1, 9]>
!filter = memref<128x64xbf16, #swizzle>
!f_team = memref<64x64xbf16, strided<[64, 1], offset: ?>, #swizzle>
// 10 rows of 18 pixels, and one row that only windows past the result look into.
!patch = memref<11x18x64xbf16, #swizzle>
!pixels = memref<198x64xbf16, #swizzle>
!window = memref<64x144xbf16, strided<[1, 64], offset: ?>, #swizzle>
!staging = memref<8x18x64xbf16, #swizzle>
!flat = memref<144x64xbf16, #swizzle>
!f_ring = !tracea_pipe.channel<4 x (!filter)>
!p_ring = !tracea_pipe.channel<2 x (!patch)>
!f_phase = !tracea_pipe.phase<4>
!p_phase = !tracea_pipe.phase<2>
!sum = tensor<64x144xf32, #acc>
!flight = !tracea_pipe.in_flight<!sum>

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a",
                                                  triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @launch_conv(%X: memref<?x?x?x?xbf16>, %W: memref<?x3x3x?xbf16>, %Y: memref<?x?x?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a0 = memref.dim %X, %c0 : memref<?x?x?x?xbf16>
  %b0 = memref.dim %Y, %c0 : memref<?x?x?x?xbf16>
  %same0 = arith.cmpi eq, %a0, %b0 : index
  cf.assert %same0, "as many images"
  %a1 = memref.dim %X, %c1 : memref<?x?x?x?xbf16>
  %b1 = memref.dim %Y, %c1 : memref<?x?x?x?xbf16>
  %same1 = arith.cmpi eq, %a1, %b1 : index
  cf.assert %same1, "as many rows"
  %a2 = memref.dim %X, %c2 : memref<?x?x?x?xbf16>
  %b2 = memref.dim %Y, %c2 : memref<?x?x?x?xbf16>
  %same2 = arith.cmpi eq, %a2, %b2 : index
  cf.assert %same2, "as many columns"
  %a3 = memref.dim %X, %c3 : memref<?x?x?x?xbf16>
  %b3 = memref.dim %W, %c3 : memref<?x3x3x?xbf16>
  %same3 = arith.cmpi eq, %a3, %b3 : index
  cf.assert %same3, "as many channels"
  %a4 = memref.dim %W, %c0 : memref<?x3x3x?xbf16>
  %b4 = memref.dim %Y, %c3 : memref<?x?x?x?xbf16>
  %same4 = arith.cmpi eq, %a4, %b4 : index
  cf.assert %same4, "as many filters"
  tracea_pipe.launch @conv ins(%X, %W : memref<?x?x?x?xbf16>, memref<?x3x3x?xbf16>) outs(%Y : memref<?x?x?x?xbf16>)
  return
}
tracea_pipe.kernel @conv(%X: memref<?x?x?x?xbf16>, %W: memref<?x3x3x?xbf16>, %Y: memref<?x?x?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %c18 = arith.constant 18 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %images = memref.dim %Y, %c0 : memref<?x?x?x?xbf16>
  %P = memref.dim %Y, %c1 : memref<?x?x?x?xbf16>
  %Q = memref.dim %Y, %c2 : memref<?x?x?x?xbf16>
  %K = memref.dim %Y, %c3 : memref<?x?x?x?xbf16>
  %C = memref.dim %X, %c3 : memref<?x?x?x?xbf16>
  %k_tiles = arith.ceildivsi %K, %c128 : index
  %p_tiles = arith.ceildivsi %P, %c8 : index
  %q_tiles = arith.ceildivsi %Q, %c16 : index
  %steps = arith.ceildivsi %C, %c64 : index
  tracea_pipe.tiles (%image, %pt, %qt, %kt) in (%images, %p_tiles, %q_tiles, %k_tiles) {
    %filters = tracea_pipe.channel : !f_ring
    %patches = tracea_pipe.channel : !p_ring
    %f_start = tracea_pipe.start : !f_phase
    %p_start = tracea_pipe.start : !p_phase
    %p0 = arith.muli %pt, %c8 : index
    %q0 = arith.muli %qt, %c16 : index
    %k0 = arith.muli %kt, %c128 : index
    tracea_pipe.roles {
      tracea_pipe.role "filters" warps [0, 1] registers 40 {
        scf.for %step = %c0 to %steps step %c1 iter_args(%o = %f_start) -> (!f_phase) {
          %c = arith.muli %step, %c64 : index
          %e = scf.for %tap = %c0 to %c9 step %c1 iter_args(%f = %o) -> (!f_phase) {
            %r = arith.divui %tap, %c3 : index
            %s = arith.remui %tap, %c3 : index
            %slot = tracea_pipe.acquire %filters[%f] : !f_ring, !f_phase -> !filter
            tracea_pipe.copy %W[%k0, %r, %s, %c] map affine_map<(i, j) -> (i, 0, 0, j)> padded [0, 3] to %slot
              : memref<?x3x3x?xbf16>, !filter
            tracea_pipe.commit %filters[%f] : !f_ring, !f_phase
            %f1 = tracea_pipe.advance %f : !f_phase
            scf.yield %f1 : !f_phase
          }
          scf.yield %e : !f_phase
        }
      }
      tracea_pipe.role "patches" warps [1, 2] registers 40 {
        %top = arith.subi %p0, %c1 : index
        %left = arith.subi %q0, %c1 : index
        scf.for %step = %c0 to %steps step %c1 iter_args(%p = %p_start) -> (!p_phase) {
          %c = arith.muli %step, %c64 : index
          %slot = tracea_pipe.acquire %patches[%p] : !p_ring, !p_phase -> !patch
          tracea_pipe.copy %X[%image, %top, %left, %c] map affine_map<(h, w, c) -> (0, h, w, c)> padded [1, 2, 3]
            to %slot : memref<?x?x?x?xbf16>, !patch
          tracea_pipe.commit %patches[%p] : !p_ring, !p_phase
          %p1 = tracea_pipe.advance %p : !p_phase
          scf.yield %p1 : !p_phase
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 200 (%team) {
        %staging = tracea_pipe.scratch : !staging
        %kt0 = arith.muli %team, %c64 : index
        %zero = arith.constant dense<0.0> : !sum
        %sum, %f_end, %p_end = scf.for %step = %c0 to %steps step %c1
            iter_args(%acc = %zero, %o = %f_start, %p = %p_start) -> (!sum, !f_phase, !p_phase) {
          %slot = tracea_pipe.wait %patches[%p] : !p_ring, !p_phase -> !patch
          %pixels = memref.collapse_shape %slot [[0, 1], [2]] : !patch into !pixels
          %taps:2 = scf.for %tap = %c0 to %c9 step %c1 iter_args(%a = %acc, %f = %o) -> (!sum, !f_phase) {
            %w = tracea_pipe.wait %filters[%f] : !f_ring, !f_phase -> !filter
            %wt = tracea_pipe.view %w[%kt0, %c0] map #id : !filter -> !f_team
            %r = arith.divui %tap, %c3 : index
            %s = arith.remui %tap, %c3 : index
            %rows = arith.muli %r, %c18 : index
            %at = arith.addi %rows, %s : index
            %x = tracea_pipe.view %pixels[%at, %c0] map #transposed : !pixels -> !window
            %d = tracea_pipe.mma_async %wt, %x onto %a : !f_team, !window, !sum -> !flight
            tracea_pipe.commit_group mma
            %next = tracea_pipe.wait_group mma pending 0 (%d : !flight)
            tracea_pipe.release %filters[%f] : !f_ring, !f_phase
            %f1 = tracea_pipe.advance %f : !f_phase
            scf.yield %next, %f1 : !sum, !f_phase
          }
          tracea_pipe.release %patches[%p] : !p_ring, !p_phase
          %p1 = tracea_pipe.advance %p : !p_phase
          scf.yield %taps#0, %taps#1, %p1 : !sum, !f_phase, !p_phase
        }
        %h = arith.truncf %sum : !sum to tensor<64x144xbf16, #acc>
        %flat = memref.collapse_shape %staging [[0, 1], [2]] : !staging into !flat
        tracea_pipe.store %h, %flat[%c0, %c0] map #transposed : tensor<64x144xbf16, #acc>, !flat
        tracea_pipe.sync
        %k = arith.addi %k0, %kt0 : index
        %rows = arith.subi %P, %p0 : index
        %columns = arith.subi %Q, %q0 : index
        %sixteen = arith.minsi %columns, %c16 : index
        %channels = arith.subi %K, %k : index
        tracea_pipe.copy_out %staging to %Y[%image, %p0, %q0, %k] map affine_map<(h, w, c) -> (0, h, w, c)>
          limits(%rows, %sixteen, %channels) : !staging, memref<?x?x?x?xbf16>
        tracea_pipe.commit_group copy
        tracea_pipe.wait_group copy pending 0
      }
    }
  }
  tracea_pipe.end
}
}
