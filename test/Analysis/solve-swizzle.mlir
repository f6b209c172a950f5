// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-solve-swizzle))" -verify-diagnostics | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#fragment = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]],
                               lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]],
                           lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]],
                           warp = [[4, 0], [8, 0]], outer = [1, 1]>
#words = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], outer = [1, 1]>
#columns = #tracea_pipe.lanes<lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  // Rows in, fragments out: the 128-byte mode of bulk copies.
  // CHECK-LABEL: tracea_pipe.kernel @rows_and_fragments
  // CHECK: scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
  // CHECK: store {{.*}}, memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
  // CHECK: load {{.*}} : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
  tracea_pipe.kernel @rows_and_fragments(%n: index) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged>
      %x = arith.constant dense<0.0> : tensor<16x64xbf16, #rows>
      tracea_pipe.store %x, %s[%c0, %c0] map #id : tensor<16x64xbf16, #rows>, memref<64x64xbf16, #tracea_pipe.staged>
      scf.for %k = %c0 to %c64 step %c16 {
        %a = tracea_pipe.load %s[%c0, %k] map #id : memref<64x64xbf16, #tracea_pipe.staged> -> tensor<16x16xbf16, #fragment>
      }
    }
    tracea_pipe.end
  }

  // The buffers of a channel's slots, one of two; views follow. Words of a
  // transpose need all five bits.
  // CHECK-LABEL: tracea_pipe.kernel @channel
  // CHECK: channel : <2 x(memref<32xf32, #tracea_pipe.staged>, memref<32x32xf32, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>)>
  // CHECK: view {{.*}} -> memref<32x32xf32, strided<[1, 32], offset: ?>, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>
  tracea_pipe.kernel @channel(%m: memref<?x?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %ch = tracea_pipe.channel : !tracea_pipe.channel<2 x (memref<32xf32, #tracea_pipe.staged>, memref<32x32xf32, #tracea_pipe.staged>)>
      %p = tracea_pipe.start : !tracea_pipe.phase<2>
      %b:2 = tracea_pipe.acquire %ch[%p] : !tracea_pipe.channel<2 x (memref<32xf32, #tracea_pipe.staged>, memref<32x32xf32, #tracea_pipe.staged>)>,
             !tracea_pipe.phase<2> -> memref<32xf32, #tracea_pipe.staged>, memref<32x32xf32, #tracea_pipe.staged>
      tracea_pipe.copy %m[%i, %i] map #id to %b#1 : memref<?x?xf32>, memref<32x32xf32, #tracea_pipe.staged>
      tracea_pipe.commit %ch[%p] : !tracea_pipe.channel<2 x (memref<32xf32, #tracea_pipe.staged>, memref<32x32xf32, #tracea_pipe.staged>)>, !tracea_pipe.phase<2>
      %f:2 = tracea_pipe.wait %ch[%p] : !tracea_pipe.channel<2 x (memref<32xf32, #tracea_pipe.staged>, memref<32x32xf32, #tracea_pipe.staged>)>,
             !tracea_pipe.phase<2> -> memref<32xf32, #tracea_pipe.staged>, memref<32x32xf32, #tracea_pipe.staged>
      %r = tracea_pipe.load %f#1[%i, %c0] map #id : memref<32x32xf32, #tracea_pipe.staged> -> tensor<1x32xf32, #words>
      %v = tracea_pipe.view %f#1[%c0, %c0] map affine_map<(i, j) -> (j, i)>
           : memref<32x32xf32, #tracea_pipe.staged> -> memref<32x32xf32, strided<[1, 32], offset: ?>, #tracea_pipe.staged>
      %c = tracea_pipe.load %v[%i, %c0] map #id : memref<32x32xf32, strided<[1, 32], offset: ?>, #tracea_pipe.staged> -> tensor<1x32xf32, #words>
    }
    tracea_pipe.end
  }

  // Staged tiles of the level above.
  // CHECK-LABEL: tracea_pipe.kernel @tile_level
  // CHECK: stage {{.*}} -> tensor<32x32xf32, #tracea_pipe.staged<swizzle = [2, 7, 3, 8, 4, 9, 5, 10, 6, 11]>>
  tracea_pipe.kernel @tile_level(%m: memref<?x?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.stage %m[%c0, %c0] map #id : memref<?x?xf32> -> tensor<32x32xf32, #tracea_pipe.staged>
      %a = tracea_pipe.load %s[%c0, %i] map #id : tensor<32x32xf32, #tracea_pipe.staged> -> tensor<32x1xf32, #columns>
    }
    tracea_pipe.end
  }

  // Nothing to gain: rows alone. And a choice that is already made stays.
  // CHECK-LABEL: tracea_pipe.kernel @left_alone
  // CHECK: scratch : memref<32x32xf32, #tracea_pipe.staged>
  // CHECK: scratch : memref<32x32xf32, #tracea_pipe.staged<swizzle = [2, 7]>>
  tracea_pipe.kernel @left_alone(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<32x32xf32, #tracea_pipe.staged>
      %r = tracea_pipe.load %s[%i, %c0] map #id : memref<32x32xf32, #tracea_pipe.staged> -> tensor<1x32xf32, #words>
      %t = tracea_pipe.scratch : memref<32x32xf32, #tracea_pipe.staged<swizzle = [2, 7]>>
      %c = tracea_pipe.load %t[%c0, %i] map #id : memref<32x32xf32, #tracea_pipe.staged<swizzle = [2, 7]>> -> tensor<32x1xf32, #columns>
    }
    tracea_pipe.end
  }

  // 16-byte rows and word columns: five dimensions of chunks for three bits of
  // banks. The proof is given, and the best that there is.
  // CHECK-LABEL: tracea_pipe.kernel @impossible
  // CHECK: scratch : memref<32x32xf32, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
  tracea_pipe.kernel @impossible(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      // expected-remark@+1 {{no XOR swizzle frees this buffer of bank conflicts on 'sm_90a': any two of the 16 16-byte chunks spanned by chunks 8, 16, 32, 64 meet in a phase, for the 8 that the banks deliver at a time}}
      %s = tracea_pipe.scratch : memref<32x32xf32, #tracea_pipe.staged>
      %x = arith.constant dense<0.0> : tensor<4x32xf32, #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], outer = [1, 1]>>
      tracea_pipe.store %x, %s[%c0, %c0] map #id
          : tensor<4x32xf32, #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], outer = [1, 1]>>,
            memref<32x32xf32, #tracea_pipe.staged>
      %c = tracea_pipe.load %s[%c0, %i] map #id : memref<32x32xf32, #tracea_pipe.staged> -> tensor<32x1xf32, #columns>
    }
    tracea_pipe.end
  }

  // Somebody else sees the memory; an access is not linear; a buffer ends
  // inside of a row of banks.
  // CHECK-LABEL: tracea_pipe.kernel @skipped
  // CHECK-NOT: swizzle
  tracea_pipe.kernel @skipped(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      // expected-remark@+1 {{no swizzle is chosen for this buffer: 'memref.load' uses it}}
      %s = tracea_pipe.scratch : memref<32x32xf32, #tracea_pipe.staged>
      %x = memref.load %s[%c0, %c0] : memref<32x32xf32, #tracea_pipe.staged>
      %c = tracea_pipe.load %s[%c0, %i] map #id : memref<32x32xf32, #tracea_pipe.staged> -> tensor<32x1xf32, #columns>
      // expected-remark@+1 {{no swizzle is chosen for this buffer: tile access: the strides are not powers of two}}
      %t = tracea_pipe.scratch : memref<32x36xf32, #tracea_pipe.staged>
      %d = tracea_pipe.load %t[%c0, %i] map #id : memref<32x36xf32, #tracea_pipe.staged> -> tensor<32x1xf32, #columns>
      // expected-remark@+1 {{no swizzle is chosen for this buffer: its 4160 bytes end inside of a row of banks}}
      %u = tracea_pipe.scratch : memref<65x16xf32, #tracea_pipe.staged>
      %e = tracea_pipe.load %u[%c0, %i] map #id : memref<65x16xf32, #tracea_pipe.staged> -> tensor<32x1xf32, #columns>
    }
    tracea_pipe.end
  }
}

// -----

// AMD's phases, and what verify-banks says of the result.
// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-solve-swizzle,tracea-verify-banks{max-degree=32}))" 2>/dev/null | FileCheck %s --check-prefix=PROVED
// PROVED: @rows_and_fragments{{.*}}take at most 1 cycle a phase
// PROVED: @channel{{.*}}take at most 1 cycle a phase
// PROVED: @tile_level{{.*}}take at most 1 cycle a phase
// PROVED: @gfx942{{.*}}take at most 1 cycle a phase
#id = affine_map<(i, j) -> (i, j)>
#operand = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]],
                              lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]],
                           lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = rocm, name = "gfx942", triple = "amdgcn-amd-amdhsa", cpu = "gfx942">} {
  // CHECK-LABEL: tracea_pipe.kernel @gfx942
  // CHECK: scratch : memref<64x64xf16, #tracea_pipe.staged<swizzle = [5, 7, 6, 8]>>
  tracea_pipe.kernel @gfx942(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<64x64xf16, #tracea_pipe.staged>
      %x = arith.constant dense<0.0> : tensor<8x64xf16, #rows>
      tracea_pipe.store %x, %s[%c0, %c0] map #id : tensor<8x64xf16, #rows>, memref<64x64xf16, #tracea_pipe.staged>
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<64x64xf16, #tracea_pipe.staged> -> tensor<16x32xf16, #operand>
    }
    tracea_pipe.end
  }
}

// -----

// A CPU has no banks.
#id = affine_map<(i) -> (i)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "znver4", triple = "x86_64-unknown-linux-gnu", cpu = "znver4">} {
  // CHECK-LABEL: tracea_pipe.kernel @cpu
  // CHECK-NOT: swizzle
  tracea_pipe.kernel @cpu(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<32xf32, #tracea_pipe.staged>
      %a = tracea_pipe.load %s[%c0] map #id : memref<32xf32, #tracea_pipe.staged> -> tensor<32xf32, #tracea_pipe.lanes<reg = [[16]], lane = [[1], [2], [4], [8]], outer = [1]>>
    }
    tracea_pipe.end
  }
}
