// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-banks))" -verify-diagnostics

// Conflicts are errors at the access, with a note at the buffer that names the
// lanes that wait for each other.

#id = affine_map<(i, j) -> (i, j)>
#fragment = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]],
                               lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @no_swizzle(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      // expected-note@+1 {{lanes 0, 4, 8, 12, 16, 20, 24, 28 want different words of bank 0 of this buffer (register 0, warp 0)}}
      %s = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged>
      // expected-error@+1 {{has bank conflicts on 'sm_90a': its 4-byte reads take 8 cycles a phase, expected at most 1}}
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<64x64xbf16, #tracea_pipe.staged> -> tensor<16x16xbf16, #fragment>
    }
    tracea_pipe.end
  }
}

// -----

// Pixels of two rows of a window that are six pixels apart: the last two have the banks of the first two.
#fragment = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]],
                               lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
#mode128 = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @pixels(%n: index) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    tracea_pipe.tiles (%i) in (%n) {
      %walk = tracea_pipe.delinearize %c0 into(%c4) : <2>
      // expected-note@+1 {{lanes 0, 24 want different words of bank 0 of this buffer (register 0, warp 0)}}
      %s = tracea_pipe.scratch : memref<36x64xbf16, #mode128>
      // expected-error@+1 {{has bank conflicts on 'sm_90a': its 4-byte reads take 2 cycles a phase, expected at most 1}}
      %a = tracea_pipe.load %s[%c0, %c0] map affine_map<(p, q, c) -> (p * 6 + q, c)> along [0](%walk : !tracea_pipe.walk<2>)
           : memref<36x64xbf16, #mode128> -> tensor<16x16xbf16, #fragment>
    }
    tracea_pipe.end
  }
}

// -----

// A swizzle of too few bits, written through.
#id = affine_map<(i, j) -> (i, j)>
#fragment = #tracea_pipe.lanes<reg = [[0, 1], [8, 0]],
                               lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
#mode32 = #tracea_pipe.staged<swizzle = [4, 7]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
  tracea_pipe.kernel @narrow_swizzle(%n: index, %h: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %x = arith.constant dense<0.0> : tensor<16x8xbf16, #fragment>
      // expected-note@+1 {{lanes 0, 8, 16, 24 want different words of bank 0}}
      %s = tracea_pipe.scratch : memref<64x64xbf16, #mode32>
      // Masks remove lanes only: an upper bound.
      // expected-error@+1 {{its 4-byte writes take up to 4 cycles a phase, expected at most 1}}
      tracea_pipe.store %x, %s[%c0, %c0] map #id limits(%h, %h) : tensor<16x8xbf16, #fragment>, memref<64x64xbf16, #mode32>
    }
    tracea_pipe.end
  }
}

// -----

// The window moves by single rows, so some windows cross the period of the
// swizzle: four rows and the four of the next period meet again.
#id = affine_map<(i, j) -> (i, j)>
#block = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]],
                            lane = [[0, 8], [1, 0], [0, 0], [0, 0], [0, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @windows(%n: index) {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    tracea_pipe.tiles (%i) in (%n) {
      // expected-note@+1 {{want different words of bank}}
      %s = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [5, 8]>>
      // expected-error@+1 {{its 16-byte reads take 2 cycles a phase}}
      %a = tracea_pipe.load %s[%i, %c0] map #id : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [5, 8]>> -> tensor<2x16xbf16, #block>
    }
    tracea_pipe.end
  }
}

// -----

// The degree is exact: rows of 32 words by columns, one word a lane.
#id = affine_map<(i, j) -> (i, j)>
#columns = #tracea_pipe.lanes<lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @tile_level(%m: memref<?x?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      // expected-note@+1 {{lanes 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 want different words of bank 0}}
      %s = tracea_pipe.stage %m[%c0, %c0] map #id : memref<?x?xf32> -> tensor<32x32xf32, #tracea_pipe.staged>
      // expected-error@+1 {{its 4-byte reads take 32 cycles a phase}}
      %a = tracea_pipe.load %s[%c0, %i] map #id : tensor<32x32xf32, #tracea_pipe.staged> -> tensor<32x1xf32, #columns>
    }
    tracea_pipe.end
  }
}

// -----

#id = affine_map<(i) -> (i)>
// expected-error@+1 {{needs the module attribute 'tracea.target' to know the banks of its staged memory}}
tracea_pipe.kernel @no_target(%n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : memref<32xf32, #tracea_pipe.staged>
    %a = tracea_pipe.load %s[%c0] map #id : memref<32xf32, #tracea_pipe.staged>
         -> tensor<32xf32, #tracea_pipe.lanes<lane = [[1], [2], [4], [8], [16]], outer = [1]>>
  }
  tracea_pipe.end
}
