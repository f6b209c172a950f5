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

// So they are of halves.
// CHECK-LABEL: llvm.func @halves(
// CHECK:         llvm.intr.maximum({{.*}}) : (vector<8xbf16>, vector<8xbf16>)
// CHECK:         llvm.intr.minimum({{.*}}) : (vector<8xf16>, vector<8xf16>)
tracea_pipe.kernel @halves(%a: memref<32x8xbf16>, %b: memref<32x8xf16>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%t) in (%c1) {
    scf.forall (%i) in (16) {
      %other = arith.addi %i, %c1 : index
      %x = vector.load %a[%i, %c0] : memref<32x8xbf16>, vector<8xbf16>
      %y = vector.load %a[%other, %c0] : memref<32x8xbf16>, vector<8xbf16>
      %most = arith.maximumf %x, %y : vector<8xbf16>
      vector.store %most, %a[%i, %c0] : memref<32x8xbf16>, vector<8xbf16>
      %u = vector.load %b[%i, %c0] : memref<32x8xf16>, vector<8xf16>
      %v = vector.load %b[%other, %c0] : memref<32x8xf16>, vector<8xf16>
      %least = arith.minimumf %u, %v : vector<8xf16>
      vector.store %least, %b[%i, %c0] : memref<32x8xf16>, vector<8xf16>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}
}
