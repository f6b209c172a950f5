// The greater and the lesser of two, of which NaN wins, are an instruction since sm_80. Bounds that are constants are
// compared.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: sed s/sm_80/sm_75/g %s | tracea-opt --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s --check-prefix=OLDER

#id = affine_map<(i, j) -> (i, j)>
#row = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]],
                          warp = [[1, 0], [2, 0]], outer = [1, 1]>
#one = #tracea_pipe.lanes<lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[1, 0], [2, 0]], outer = [1, 1]>

// CHECK-LABEL: llvm.func @extrema(
// CHECK:         llvm.intr.maximum
// CHECK:         llvm.intr.minimum
// CHECK:         arith.maximumf
// CHECK:         nvvm.shfl.sync bfly
// CHECK:         llvm.intr.maximum
// CHECK-NOT:     arith.m{{.*}}imumf
// OLDER-NOT:   llvm.intr.m{{.*}}imum
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
tracea_pipe.kernel @extrema(%n: index, %a: memref<?x128xf32>, %d: memref<?x1xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x128xf32, #row>
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %double = arith.addf %x, %x : tensor<4x128xf32, #row>
    %more = arith.maximumf %x, %double : tensor<4x128xf32, #row>
    %less = arith.minimumf %more, %double : tensor<4x128xf32, #row>
    %relu = arith.maximumf %less, %zero : tensor<4x128xf32, #row>
    %most = tracea_pipe.reduce max %relu dim 1 : tensor<4x128xf32, #row> -> tensor<4x1xf32, #one>
    tracea_pipe.store %most, %d[%i, %c0] map #id : tensor<4x1xf32, #one>, memref<?x1xf32>
  }
  tracea_pipe.end
}
}
