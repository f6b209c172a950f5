// Before sm_75 no unit has the tangent: functions that are one of it elsewhere, for results of 8
// digits, are exponentials, divisions and polynomials.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: sed s/sm_70/sm_75/ %s | tracea-opt --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s --check-prefix=UNIT

#id = affine_map<(i, j) -> (i, j)>
#row = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]],
                          warp = [[1, 0], [2, 0]], outer = [1, 1]>

// CHECK-NOT: math.tanh
// CHECK-LABEL: llvm.func @tanh(
// CHECK: arith.divf %{{.*}} : vector<4xf32>
// CHECK-LABEL: llvm.func @erf(
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK-LABEL: llvm.func @logistic(
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: arith.divf %{{.*}} fastmath<afn> : vector<4xf32>
// CHECK-NOT: math.tanh
// UNIT-COUNT-3: math.tanh %{{.*}} fastmath<afn>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_70", triple = "nvptx64-nvidia-cuda", cpu = "sm_70">} {
tracea_pipe.kernel @tanh(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.tanh %x : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @erf(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.erf %x : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @logistic(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4x128xf32, #row>
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %m = arith.negf %x : tensor<4x128xf32, #row>
    %e = math.exp %m : tensor<4x128xf32, #row>
    %f = arith.addf %e, %one : tensor<4x128xf32, #row>
    %y = arith.divf %one, %f : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
  }
  tracea_pipe.end
}
}
