// Functions of the target: what stands for one depends on the digits that results
// are rounded to in the end: 24 of f32, 11 of f16, 8 of bf16.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]],
                          warp = [[1, 0], [2, 0]], outer = [1, 1]>

// The exponential is the unit's, base 2, for all results; for those of f32 the
// rounding of the product is made up for.
// CHECK-LABEL: llvm.func @exp_f32(
// CHECK-NOT: math.exp %
// CHECK: %[[L:.*]] = arith.mulf %{{.*}}, %cst{{.*}} : vector<4xf32>
// CHECK-NEXT: %[[P:.*]] = math.exp2 %[[L]] fastmath<afn> : vector<4xf32>
// CHECK: %[[REST:.*]] = math.fma
// CHECK: %[[MORE:.*]] = math.fma %{{.*}}, %{{.*}}, %[[REST]]
// CHECK: %[[FACTOR:.*]] = math.fma %[[MORE]],
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %[[FACTOR]],
// CHECK: arith.mulf %[[P]], %[[SAFE]]
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
// CHECK-NOT: math.fma
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

// The error function: a rational function for f32; from the unit's exponential
// for f16, with a series near zero; a tangent of an odd polynomial on [-4, 4]
// for bf16.
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
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<-1.44269502>
// CHECK-DAG: %[[A1:.*]] = arith.constant dense<0.254829586>
// CHECK-DAG: %[[A2:.*]] = arith.constant dense<-0.284496725>
// CHECK-DAG: %[[A3:.*]] = arith.constant dense<1.42141378>
// CHECK-DAG: %[[A4:.*]] = arith.constant dense<-1.45315206>
// CHECK-DAG: %[[A5:.*]] = arith.constant dense<1.06140542>
// CHECK-DAG: %[[P:.*]] = arith.constant dense<0.327591091>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK-DAG: %[[S1:.*]] = arith.constant dense<1.12837923>
// CHECK-DAG: %[[S3:.*]] = arith.constant dense<-0.376126379>
// CHECK-DAG: %[[S5:.*]] = arith.constant dense<0.112837918>
// CHECK-DAG: %[[S7:.*]] = arith.constant dense<-0.0268661715>
// CHECK-DAG: %[[QUARTER:.*]] = arith.constant dense<2.500000e-01>
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[Z:.*]], %[[Z]] : vector<4xf32>
// CHECK-NEXT: %[[SIZE:.*]] = math.absf %[[Z]]
// CHECK-NEXT: %[[NEAR:.*]] = arith.cmpf olt, %[[SIZE]], %[[QUARTER]]
// CHECK-NEXT: %[[T7:.*]] = math.fma %[[S7]], %[[SQUARE]], %[[S5]]
// CHECK-NEXT: %[[T5:.*]] = math.fma %[[T7]], %[[SQUARE]], %[[S3]]
// CHECK-NEXT: %[[T3:.*]] = math.fma %[[T5]], %[[SQUARE]], %[[S1]]
// CHECK-NEXT: %[[SERIES:.*]] = arith.mulf %[[T3]], %[[Z]]
// CHECK-NEXT: %[[DENOMINATOR:.*]] = math.fma %[[SIZE]], %[[P]], %[[ONE]]
// CHECK-NEXT: %[[T:.*]] = arith.divf %[[ONE]], %[[DENOMINATOR]] fastmath<afn>
// CHECK-NEXT: %[[Q4:.*]] = math.fma %[[A5]], %[[T]], %[[A4]]
// CHECK-NEXT: %[[Q3:.*]] = math.fma %[[Q4]], %[[T]], %[[A3]]
// CHECK-NEXT: %[[Q2:.*]] = math.fma %[[Q3]], %[[T]], %[[A2]]
// CHECK-NEXT: %[[Q1:.*]] = math.fma %[[Q2]], %[[T]], %[[A1]]
// CHECK-NEXT: %[[POWER:.*]] = arith.mulf %[[SQUARE]], %[[LOG2E]]
// CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[POWER]] fastmath<afn>
// CHECK-NEXT: %[[QT:.*]] = arith.mulf %[[Q1]], %[[T]]
// CHECK-NEXT: %[[REST:.*]] = arith.mulf %[[QT]], %[[EXP]]
// CHECK-NEXT: %[[FAR:.*]] = arith.subf %[[ONE]], %[[REST]]
// CHECK-NEXT: %[[SIGNED:.*]] = math.copysign %[[FAR]], %[[Z]]
// CHECK-NEXT: arith.select %[[NEAR]], %[[SERIES]], %[[SIGNED]]
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

// Functions of halves are computed in f32.
// CHECK-LABEL: llvm.func @halves(
// CHECK: %[[E:.*]] = math.exp2 %{{.*}} fastmath<afn> : vector<4xf32>
// CHECK-NEXT: %[[H:.*]] = arith.truncf %[[E]] : vector<4xf32> to vector<4xf16>
// CHECK-NEXT: %[[X:.*]] = arith.extf %[[H]] : vector<4xf16> to vector<4xf32>
// CHECK-NEXT: arith.mulf %[[X]], %[[X]] : vector<4xf32>
// CHECK-NOT: math.erf
// CHECK: llvm.return
tracea_pipe.kernel @halves(%n: index, %a: memref<?x128xf16>, %d: memref<?x128xf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf16> -> tensor<4x128xf16, #row>
    %e = math.exp %x : tensor<4x128xf16, #row>
    %y = math.erf %e : tensor<4x128xf16, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf16, #row>, memref<?x128xf16>
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

// Digits are those of each result: what is divided into bytes is divided to 2 ulp, and the divisor, which is stored in
// single precision, exactly. A quotient that lanes exchange has all digits.
// CHECK-LABEL: llvm.func @quotients(
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} : vector<1xf32>
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} fastmath<afn> : vector<4xf32>
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @exchanged(
// CHECK: arith.divf %{{.*}}, %{{[^ ]*}} : vector<4xf32>
// CHECK: llvm.return
#ones = #tracea_pipe.lanes<lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[1, 0], [2, 0]], outer = [1, 1]>
tracea_pipe.kernel @quotients(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf8E4M3FN>, %e: memref<?xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %m = tracea_pipe.reduce max %x dim 1 : tensor<4x128xf32, #row> -> tensor<4x1xf32, #ones>
    %most = arith.constant dense<448.0> : tensor<4x1xf32, #ones>
    %s = arith.divf %m, %most : tensor<4x1xf32, #ones>
    tracea_pipe.store %s, %e[%i] map affine_map<(i, j) -> (i)> : tensor<4x1xf32, #ones>, memref<?xf32>
    %b = tracea_pipe.broadcast %s : tensor<4x1xf32, #ones> -> tensor<4x128xf32, #row>
    %y = arith.divf %x, %b : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xf8E4M3FN, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xf8E4M3FN, #row>, memref<?x128xf8E4M3FN>
  }
  tracea_pipe.end
}

tracea_pipe.kernel @exchanged(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xbf16>, %e: memref<?xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = arith.divf %x, %x : tensor<4x128xf32, #row>
    %t = arith.truncf %y : tensor<4x128xf32, #row> to tensor<4x128xbf16, #row>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<4x128xbf16, #row>, memref<?x128xbf16>
    %m = tracea_pipe.reduce max %y dim 1 : tensor<4x128xf32, #row> -> tensor<4x1xf32, #ones>
    tracea_pipe.store %m, %e[%i] map affine_map<(i, j) -> (i)> : tensor<4x1xf32, #ones>, memref<?xf32>
  }
  tracea_pipe.end
}
