// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-banks{require-proof=true}))" | FileCheck %s
// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-banks{require-proof=true},tracea-verify-banks{require-proof=true}))" | FileCheck %s

// What is free of conflicts is certified; the certificate says how it was
// decided. Twice gives it once.

#id = affine_map<(i, j) -> (i, j)>
// The A operand of mma m16n8k16: eight rows of four words an instruction.
#fragment = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]],
                               lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
// 16 bytes a lane along rows of 128 bytes.
#rows = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]],
                           lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]],
                           warp = [[4, 0], [8, 0]], outer = [1, 1]>
#mode128 = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  // Written by rows, read as fragments at any step of 16 columns.
  // CHECK-LABEL: tracea_pipe.kernel @swizzled
  // CHECK-SAME:  tracea_pipe.certificates = [#tracea_pipe.certificate<check = "banks", claim = "2 accesses to staged memory take at most 1 cycle a phase on sm_90a, 1 by rank, 1 by enumeration of a period", model = "banks/1 sm_90a access 1 write 2 16,64 1,1 0,1;0,2;0,4 0,8;0,16;0,32;1,0;2,0 4,0;8,0 - 128,2 0 0 {{[0-9a-f,]+}} access 1 read 2 16,16 1,1 0,1;8,0;0,8 0,2;0,4;1,0;2,0;4,0 - - 128,2 0 32 {{[0-9a-f,]+}}"
  tracea_pipe.kernel @swizzled(%n: index) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<64x64xbf16, #mode128>
      %x = arith.constant dense<0.0> : tensor<16x64xbf16, #rows>
      tracea_pipe.store %x, %s[%c0, %c0] map #id : tensor<16x64xbf16, #rows>, memref<64x64xbf16, #mode128>
      scf.for %k = %c0 to %c64 step %c16 {
        %a = tracea_pipe.load %s[%c0, %k] map #id : memref<64x64xbf16, #mode128> -> tensor<16x16xbf16, #fragment>
      }
    }
    tracea_pipe.end
  }

  // Pixels that cross the rows of a window: digits that are bits of the tile are dimensions of its own.
  // CHECK-LABEL: tracea_pipe.kernel @pixels
  // CHECK-SAME:  claim = "1 accesses to staged memory take at most 1 cycle a phase on sm_90a, 0 by rank, 1 by enumeration of a period", model = "banks/1 sm_90a access 1 read 2 4,4,16 1,1,1 0,0,1;2,0,0;0,0,8 0,0,2;0,0,4;0,1,0;0,2,0;1,0,0 - - 1536,128,2
  tracea_pipe.kernel @pixels(%n: index) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    tracea_pipe.tiles (%i) in (%n) {
      %walk = tracea_pipe.delinearize %c0 into(%c4) : <2>
      %s = tracea_pipe.scratch : memref<52x64xbf16, #mode128>
      %a = tracea_pipe.load %s[%c0, %c0] map affine_map<(p, q, c) -> (p * 12 + q, c)> along [0](%walk : !tracea_pipe.walk<2>)
           : memref<52x64xbf16, #mode128> -> tensor<16x16xbf16, #fragment>
    }
    tracea_pipe.end
  }

  // Nothing staged, nothing to say but that.
  // CHECK-LABEL: tracea_pipe.kernel @global_only
  // CHECK-SAME:  check = "banks", claim = "no accesses to staged memory", model = "banks/1 -"
  tracea_pipe.kernel @global_only(%m: memref<64x64xbf16>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %a = tracea_pipe.load %m[%c0, %c0] map #id : memref<64x64xbf16> -> tensor<16x16xbf16, #fragment>
    }
    tracea_pipe.end
  }

  // Padded rows of 33 words: not linear, enumerated.
  // CHECK-LABEL: tracea_pipe.kernel @padded
  // CHECK-SAME:  tracea_pipe.certificates = [#tracea_pipe.certificate<check = "banks", claim = "1 accesses to staged memory take at most 1 cycle a phase on sm_90a, 0 by rank, 1 by enumeration of a period"
  tracea_pipe.kernel @padded(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<32x33xf32, #tracea_pipe.staged>
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<32x33xf32, #tracea_pipe.staged>
           -> tensor<32x32xf32, #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]],
                                                   lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], outer = [1, 1]>>
    }
    tracea_pipe.end
  }

  // Slots of a channel and views into them; a transposed view reads columns of
  // the swizzled tile. The window moves by whole tiles.
  // CHECK-LABEL: tracea_pipe.kernel @views
  // CHECK-SAME:  take at most 1 cycle a phase on sm_90a, 1 by rank, 0
  tracea_pipe.kernel @views(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %ch = tracea_pipe.channel : !tracea_pipe.channel<2 x (memref<128x32xf32, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>)>
      %p = tracea_pipe.start : !tracea_pipe.phase<2>
      %f = tracea_pipe.wait %ch[%p] : !tracea_pipe.channel<2 x (memref<128x32xf32, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>)>,
           !tracea_pipe.phase<2> -> memref<128x32xf32, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>
      %row = affine.apply affine_map<(d) -> (d * 32)>(%i)
      %v = tracea_pipe.view %f[%row, %c0] map affine_map<(i, j) -> (j, i)>
           : memref<128x32xf32, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>
           -> memref<32x32xf32, strided<[1, 32], offset: ?>, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>
      %a = tracea_pipe.load %v[%c0, %c0] map #id
           : memref<32x32xf32, strided<[1, 32], offset: ?>, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>
           -> tensor<32x32xf32, #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]],
                                                   lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], outer = [1, 1]>>
    }
    tracea_pipe.end
  }
}

// -----

// AMD: 64 lanes, reads of 16 bytes that pair lanes 0..3 with 20..23.
#id = affine_map<(i, j) -> (i, j)>
#operand = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]],
                              lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = rocm, name = "gfx942", triple = "amdgcn-amd-amdhsa", cpu = "gfx942">} {
  // CHECK-LABEL: tracea_pipe.kernel @gfx942
  // CHECK-SAME:  check = "banks", claim = "1 accesses to staged memory take at most 1 cycle a phase on gfx942, 1 by rank
  tracea_pipe.kernel @gfx942(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x32xf16, #operand>
    }
    tracea_pipe.end
  }
}

// -----

// A CPU has no banks: nothing is counted.
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "znver4", triple = "x86_64-unknown-linux-gnu", cpu = "znver4">} {
  // CHECK-LABEL: tracea_pipe.kernel @cpu
  // CHECK-SAME:  check = "banks", claim = "the memory of a CPU has no banks", model = "banks/1 cpu"
  tracea_pipe.kernel @cpu(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<32x32xf32, #tracea_pipe.staged>
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<32x32xf32, #tracea_pipe.staged>
           -> tensor<8x16xf32, #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>>
    }
    tracea_pipe.end
  }
}
