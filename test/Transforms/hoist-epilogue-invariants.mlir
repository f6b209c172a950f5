// RUN: tracea-opt %s -split-input-file --tracea-hoist-epilogue-invariants | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-hoist-epilogue-invariants=max-folded-elements=1 | FileCheck %s --check-prefix=NOFOLD

// The rsqrt moves out together with what leads to it; the mean stays.
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @rsqrt
// CHECK-SAME: %[[MEAN:[a-z0-9]+]]: tensor<16xf32>, %[[VAR:[a-z0-9]+]]: tensor<16xf32>
// CHECK: %[[H:.*]] = linalg.generic {{.*}} ins(%[[VAR]] : tensor<16xf32>)
// CHECK: arith.addf
// CHECK: math.rsqrt
// CHECK: tracea.conv2d
// CHECK-SAME: epilogue(%[[MEAN]] by #[[K]], %[[H]] by #[[K]] :
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[M:.*]]: f32, %[[R:.*]]: f32):
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[ACC]], %[[M]]
// CHECK-NEXT: %[[O:.*]] = arith.mulf %[[D]], %[[R]]
// CHECK-NEXT: tracea.yield %[[O]]
func.func @rsqrt(%x: tensor<1x8x8x4xf32>, %w: tensor<16x3x3x4xf32>, %mean: tensor<16xf32>, %var: tensor<16xf32>) -> tensor<1x6x6x16xf32> {
  %d = tensor.empty() : tensor<1x6x6x16xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x6x6x16xf32>)
      epilogue(%mean by affine_map<(n, p, q, k) -> (k)>, %var by affine_map<(n, p, q, k) -> (k)> : tensor<16xf32>, tensor<16xf32>) {
    ^bb0(%acc: f32, %m: f32, %v: f32):
      %eps = arith.constant 1.0e-05 : f32
      %c = arith.subf %acc, %m : f32
      %e = arith.addf %v, %eps : f32
      %r = math.rsqrt %e : f32
      %o = arith.mulf %c, %r : f32
      tracea.yield %o : f32
  }
  return %0 : tensor<1x6x6x16xf32>
}

// -----

// Constants become a constant, an epsilon given as f64 included. 1/sqrt(3+1)
// and 1/sqrt(15+1).
// CHECK-LABEL: func.func @constants
// CHECK: %[[H:.*]] = arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-NOT: linalg
// CHECK: tracea.gemm
// CHECK-SAME: epilogue(%[[H]] by
// CHECK-NOT: rsqrt
// NOFOLD-LABEL: func.func @constants
// NOFOLD: linalg.generic
// NOFOLD: math.rsqrt
// NOFOLD: tracea.gemm
func.func @constants(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %var = arith.constant dense<[3.0, 15.0]> : tensor<2xf32>
  %d = tensor.empty() : tensor<4x2xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%d : tensor<4x2xf32>)
      epilogue(%var by affine_map<(m, n) -> (n)> : tensor<2xf32>) {
    ^bb0(%acc: f32, %v: f32):
      %eps = arith.constant 1.0 : f64
      %eps32 = arith.truncf %eps : f64 to f32
      %e = arith.addf %v, %eps32 : f32
      %r = math.rsqrt %e : f32
      %o = arith.mulf %acc, %r : f32
      tracea.yield %o : f32
  }
  return %0 : tensor<4x2xf32>
}

// -----

// Two operands, one transposed with respect to the other: the loops are the
// first one's, a scalar rides along.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @several_maps
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[SWAP]], #[[ONE]], #[[ID]]]
// CHECK: math.powf
// CHECK: tracea.gemm
// CHECK-SAME: epilogue(%{{.*}} by #[[BACK]] :
func.func @several_maps(%a: tensor<3x4x8xf32>, %b: tensor<3x8x2xf32>, %p: tensor<4x2xf32>, %q: tensor<2x4xf32>, %s: tensor<f32>) -> tensor<3x4x2xf32> {
  %d = tensor.empty() : tensor<3x4x2xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<3x4x8xf32>, tensor<3x8x2xf32>) outs(%d : tensor<3x4x2xf32>)
      epilogue(%p by affine_map<(b, m, n) -> (m, n)>, %q by affine_map<(b, m, n) -> (n, m)>, %s by affine_map<(b, m, n) -> ()> : tensor<4x2xf32>, tensor<2x4xf32>, tensor<f32>) {
    ^bb0(%acc: f32, %x: f32, %y: f32, %z: f32):
      %u = arith.mulf %y, %z : f32
      %v = math.powf %x, %u : f32
      %o = arith.mulf %acc, %v : f32
      tracea.yield %o : f32
  }
  return %0 : tensor<3x4x2xf32>
}

// -----

// Cheap, or as large as the result, or dependent on two unrelated dimensions:
// nothing to gain outside.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: linalg
// CHECK: tracea.gemm
// CHECK: arith.addf
// CHECK: math.exp
// CHECK: math.log
func.func @stays(%a: tensor<3x4x8xf32>, %b: tensor<3x8x2xf32>, %m: tensor<4xf32>, %n: tensor<2xf32>, %f: tensor<3x4x2xf32>) -> tensor<3x4x2xf32> {
  %d = tensor.empty() : tensor<3x4x2xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<3x4x8xf32>, tensor<3x8x2xf32>) outs(%d : tensor<3x4x2xf32>)
      epilogue(%m by affine_map<(b, m, n) -> (m)>, %n by affine_map<(b, m, n) -> (n)>, %f by affine_map<(b, m, n) -> (b, m, n)> : tensor<4xf32>, tensor<2xf32>, tensor<3x4x2xf32>) {
    ^bb0(%acc: f32, %x: f32, %y: f32, %z: f32):
      %c = arith.addf %x, %x : f32
      %u = arith.mulf %x, %y : f32
      %e = math.exp %u : f32
      %l = math.log %z : f32
      %o1 = arith.mulf %acc, %c : f32
      %o2 = arith.mulf %o1, %e : f32
      %o3 = arith.mulf %o2, %l : f32
      tracea.yield %o3 : f32
  }
  return %0 : tensor<3x4x2xf32>
}

// -----

// A dynamic extent comes from the operand.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<?xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[V]]
// CHECK: tensor.empty(%[[N]]) : tensor<?xf32>
// CHECK: linalg.generic
// CHECK: tracea.gemm
func.func @dynamic(%a: tensor<4x8xf32>, %b: tensor<8x?xf32>, %v: tensor<?xf32>, %d: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x?xf32>) outs(%d : tensor<4x?xf32>)
      epilogue(%v by affine_map<(m, n) -> (n)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %e = math.exp %x : f32
      %o = arith.mulf %acc, %e : f32
      tracea.yield %o : f32
  }
  return %0 : tensor<4x?xf32>
}
