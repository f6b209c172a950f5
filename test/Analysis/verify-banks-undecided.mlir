// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-banks))" -verify-diagnostics | FileCheck %s
// RUN: not tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-banks{require-proof=true}))" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REQUIRED
// RUN: not tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-banks{max-degree=0}))" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEGREE

// What is outside of the method is said, with the reason, and never proved.
// CHECK-NOT: certificates
// CHECK: tracea_pipe.remarks = [{check = "banks", reason = "dimension 0 of the buffer has a dynamic stride"}]
// CHECK-NOT: certificates
// REQUIRED: error: {{.*}} bank conflicts not decided: dimension 0 of the buffer has a dynamic stride
// REQUIRED: error: {{.*}} bank conflicts not decided: the phases of shared-memory accesses of 'gfx90a' are not known
// DEGREE: error: {{.*}} cannot be checked against a degree of 0; the least is 1

#id = affine_map<(i, j) -> (i, j)>
#words = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @dynamic_stride(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<32x32xf32, #tracea_pipe.staged>
      %d = memref.cast %s : memref<32x32xf32, #tracea_pipe.staged> to memref<32x32xf32, strided<[?, 1], offset: ?>, #tracea_pipe.staged>
      // expected-remark@+1 {{bank conflicts not decided: dimension 0 of the buffer has a dynamic stride}}
      %a = tracea_pipe.load %d[%c0, %c0] map #id : memref<32x32xf32, strided<[?, 1], offset: ?>, #tracea_pipe.staged> -> tensor<1x32xf32, #words>
    }
    tracea_pipe.end
  }

  // Rows of three: no bits of the tile.
  tracea_pipe.kernel @threes(%n: index) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    tracea_pipe.tiles (%i) in (%n) {
      %walk = tracea_pipe.delinearize %c0 into(%c3) : <2>
      %s = tracea_pipe.scratch : memref<20x32xf32, #tracea_pipe.staged>
      // expected-remark@+1 {{bank conflicts not decided: a dimension of the tile walks through coordinates that are not bits of its own}}
      %a = tracea_pipe.load %s[%c0, %c0] map affine_map<(p, q, c) -> (p * 5 + q, c)> along [0](%walk : !tracea_pipe.walk<2>)
           : memref<20x32xf32, #tracea_pipe.staged> -> tensor<8x32xf32, #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], outer = [1, 1]>>
    }
    tracea_pipe.end
  }

  // 64 lanes do not fit a warp.
  tracea_pipe.kernel @too_many_lanes(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<32x64xf32, #tracea_pipe.staged>
      // expected-remark@+1 {{bank conflicts not decided: tile access: the tile has 64 lanes, sm_90a has 32}}
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<32x64xf32, #tracea_pipe.staged>
           -> tensor<1x64xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], outer = [1, 1]>>
    }
    tracea_pipe.end
  }
}

// -----

// Nobody publishes how this processor's accesses are served.
#id = affine_map<(i, j) -> (i, j)>
#words = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = rocm, name = "gfx90a", triple = "amdgcn-amd-amdhsa", cpu = "gfx90a">} {
  tracea_pipe.kernel @gfx90a(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<32x32xf32, #tracea_pipe.staged>
      // expected-remark@+1 {{bank conflicts not decided: the phases of shared-memory accesses of 'gfx90a' are not known}}
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<32x32xf32, #tracea_pipe.staged> -> tensor<1x32xf32, #words>
    }
    tracea_pipe.end
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#words = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_1", triple = "nvptx64-nvidia-cuda", cpu = "sm_1">} {
  tracea_pipe.kernel @unknown_target(%n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<32x32xf32, #tracea_pipe.staged>
      // expected-remark@+1 {{bank conflicts not decided: the target 'sm_1' is not known}}
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<32x32xf32, #tracea_pipe.staged> -> tensor<1x32xf32, #words>
    }
    tracea_pipe.end
  }
}
