// Functions of the target: what stands for one depends on the digits that results
// are rounded to in the end: 24 of f32, 11 of f16, 8 of bf16.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]],
                          warp = [[1, 0], [2, 0]], outer = [1, 1]>

// The exponential is the unit's, base 2, for all results.
// CHECK-LABEL: llvm.func @exp_f32(
// CHECK-NOT: math.exp %
// CHECK: %[[L:.*]] = arith.mulf %{{.*}}, %cst{{.*}} : vector<4xf32>
// CHECK-NEXT: math.exp2 %[[L]] fastmath<afn> : vector<4xf32>
// CHECK-NOT: math.exp %
tracea_pipe.kernel @exp_f32(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.exp %x : tensor<4x128xf32, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf32, #row>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @exp_bf16(
// CHECK: math.exp2 %{{.*}} fastmath<afn> : vector<4xf32>
tracea_pipe.kernel @exp_bf16(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.exp %x : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
  }
  tracea_pipe.end
}

// A division, exact for f32, to 2 ulp where f16 rounds it.
// CHECK-LABEL: llvm.func @logistic_f32(
// CHECK-NOT: math.tanh
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} : vector<4xf32>
tracea_pipe.kernel @logistic_f32(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %one = arith.constant dense<1.0> : tensor<4x128xf32, #row>
    %neg = arith.negf %x : tensor<4x128xf32, #row>
    %exp = math.exp %neg : tensor<4x128xf32, #row>
    %sum = arith.addf %exp, %one : tensor<4x128xf32, #row>
    %y = arith.divf %x, %sum : tensor<4x128xf32, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf32, #row>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @logistic_f16(
// CHECK-NOT: math.tanh
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<afn> : vector<4xf32>
tracea_pipe.kernel @logistic_f16(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %one = arith.constant dense<1.0> : tensor<4x128xf32, #row>
    %neg = arith.negf %x : tensor<4x128xf32, #row>
    %exp = math.exp %neg : tensor<4x128xf32, #row>
    %sum = arith.addf %exp, %one : tensor<4x128xf32, #row>
    %y = arith.divf %x, %sum : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xf16, #row>, memref<?x128xf16>
  }
  tracea_pipe.end
}

// Eight digits: the unit's tangent, x (tanh(x / 2) / 2 + 1 / 2).
// CHECK-LABEL: llvm.func @logistic_bf16(
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<4xf32>
// CHECK-NOT: math.exp
// CHECK-NOT: arith.divf
// CHECK: %[[H:.*]] = arith.mulf %[[X:.*]], %[[HALF]]
// CHECK: %[[TANH:.*]] = math.tanh %[[H]] fastmath<afn>
// CHECK: %[[M:.*]] = arith.mulf %[[TANH]], %[[HALF]]
// CHECK: %[[S:.*]] = arith.addf %[[M]], %[[HALF]]
// CHECK: arith.mulf %[[X]], %[[S]]
// CHECK-NOT: math.exp
// CHECK-NOT: arith.divf
// CHECK: llvm.return
tracea_pipe.kernel @logistic_bf16(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %one = arith.constant dense<1.0> : tensor<4x128xf32, #row>
    %neg = arith.negf %x : tensor<4x128xf32, #row>
    %exp = math.exp %neg : tensor<4x128xf32, #row>
    %sum = arith.addf %exp, %one : tensor<4x128xf32, #row>
    %y = arith.divf %x, %sum : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
  }
  tracea_pipe.end
}

// 2 + e^-x is no logistic function.
// CHECK-LABEL: llvm.func @other_bf16(
// CHECK-NOT: math.tanh
// CHECK: math.exp2
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<afn> : vector<4xf32>
tracea_pipe.kernel @other_bf16(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %one = arith.constant dense<2.0> : tensor<4x128xf32, #row>
    %neg = arith.negf %x : tensor<4x128xf32, #row>
    %exp = math.exp %neg : tensor<4x128xf32, #row>
    %sum = arith.addf %exp, %one : tensor<4x128xf32, #row>
    %y = arith.divf %x, %sum : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
  }
  tracea_pipe.end
}

// The error function: a rational function for f32 and f16, a tangent of an odd
// polynomial on [-4, 4] for bf16.
// CHECK-LABEL: llvm.func @erf_f32(
// CHECK-NOT: math.tanh
// CHECK-NOT: math.erf
// CHECK: math.fma
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} : vector<4xf32>
// CHECK-NOT: math.erf
// CHECK: llvm.return
tracea_pipe.kernel @erf_f32(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.erf %x : tensor<4x128xf32, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf32, #row>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @erf_f16(
// CHECK-NOT: math.tanh
// CHECK-NOT: math.erf
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<afn> : vector<4xf32>
// CHECK-NOT: math.erf
// CHECK: llvm.return
tracea_pipe.kernel @erf_f16(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.erf %x : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xf16, #row>, memref<?x128xf16>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @erf_bf16(
// CHECK-DAG: arith.constant dense<-4.000000e+00>
// CHECK-DAG: arith.constant dense<4.000000e+00>
// CHECK-NOT: arith.divf
// CHECK: %[[LOW:.*]] = arith.minimumf
// CHECK: %[[Z:.*]] = arith.maximumf %[[LOW]]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[Z]], %[[Z]]
// CHECK: %[[P1:.*]] = math.fma %{{.*}}, %[[SQUARE]], %
// CHECK: %[[P2:.*]] = math.fma %[[P1]], %[[SQUARE]], %
// CHECK: %[[P:.*]] = arith.mulf %[[P2]], %[[Z]]
// CHECK: math.tanh %[[P]] fastmath<afn>
// CHECK-NOT: arith.divf
// CHECK: llvm.return
tracea_pipe.kernel @erf_bf16(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.erf %x : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
  }
  tracea_pipe.end
}

// The tangent: a rational function, or the unit's.
// CHECK-LABEL: llvm.func @tanh_f32(
// CHECK-NOT: math.tanh
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} : vector<4xf32>
// CHECK-NOT: math.tanh
// CHECK: llvm.return
tracea_pipe.kernel @tanh_f32(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.tanh %x : tensor<4x128xf32, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf32, #row>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @tanh_bf16(
// CHECK: math.tanh %{{.*}} fastmath<afn>
// CHECK-NOT: arith.divf
// CHECK: llvm.return
tracea_pipe.kernel @tanh_bf16(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.tanh %x : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
  }
  tracea_pipe.end
}

// Roots.
// CHECK-LABEL: llvm.func @sqrt_f32(
// CHECK: math.sqrt %{{[^ ]*}} : vector<4xf32>
tracea_pipe.kernel @sqrt_f32(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.sqrt %x : tensor<4x128xf32, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf32, #row>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @sqrt_f16(
// CHECK: math.sqrt %{{[^ ]*}} fastmath<afn> : vector<4xf32>
tracea_pipe.kernel @sqrt_f16(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.sqrt %x : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xf16, #row>, memref<?x128xf16>
  }
  tracea_pipe.end
}
