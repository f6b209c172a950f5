// RUN: tracea-opt %s --split-input-file --canonicalize | FileCheck %s

// A cast of an operand or a destination that hides extents goes.
// CHECK-LABEL: func @cast_operand(
// CHECK-SAME: %[[A:.+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<8x?xf32>, %[[D:.+]]: tensor<?x?xf32>)
func.func @cast_operand(%a: tensor<4x8xf32>, %b: tensor<8x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = tensor.cast %a : tensor<4x8xf32> to tensor<?x?xf32>
  // CHECK: tracea.gemm ins(%[[A]], %[[B]] : tensor<4x8xf32>, tensor<8x?xf32>) outs(%[[D]] : tensor<?x?xf32>)
  %0 = tracea.gemm ins(%c, %b : tensor<?x?xf32>, tensor<8x?xf32>) outs(%d : tensor<?x?xf32>)
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @cast_init(
// CHECK-SAME: %[[D:[^:]+]]: tensor<2x6x6x4xf32>, %[[C:[^:]+]]: tensor<4xf32>)
func.func @cast_init(%x: tensor<2x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<2x6x6x4xf32>, %c: tensor<4xf32>) -> tensor<?x?x?x?xf32> {
  %init = tensor.cast %d : tensor<2x6x6x4xf32> to tensor<?x?x?x?xf32>
  %extra = tensor.cast %c : tensor<4xf32> to tensor<?xf32>
  // CHECK: %[[Y:.+]] = tracea.conv2d {{.*}} outs(%[[D]] : tensor<2x6x6x4xf32>) epilogue(%[[C]] by #{{.*}} : tensor<4xf32>) {
  // CHECK: tensor.cast %[[Y]] : tensor<2x6x6x4xf32> to tensor<?x?x?x?xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<2x8x8x4xf32>, tensor<4x3x3x4xf32>)
       outs(%init : tensor<?x?x?x?xf32>)
       epilogue(%extra by affine_map<(n, p, q, k) -> (k)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %b: f32):
      %0 = arith.addf %acc, %b : f32
      tracea.yield %0 : f32
  }
  return %0 : tensor<?x?x?x?xf32>
}

// -----

// CHECK-LABEL: func @cast_attention(
func.func @cast_attention(%q: tensor<1x4x8x16xf32>, %d: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>) -> (tensor<1x4x?x16xf32>, tensor<1x4x?xf32>) {
  %di = tensor.cast %d : tensor<1x4x8x16xf32> to tensor<1x4x?x16xf32>
  %li = tensor.cast %l : tensor<1x4x8xf32> to tensor<1x4x?xf32>
  // CHECK: tracea.attention causal {{.*}} -> tensor<1x4x8x16xf32>, tensor<1x4x8xf32>
  %0, %1 = tracea.attention causal ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       outs(%di : tensor<1x4x?x16xf32>) lse(%li : tensor<1x4x?xf32>) -> tensor<1x4x?x16xf32>, tensor<1x4x?xf32>
  return %0, %1 : tensor<1x4x?x16xf32>, tensor<1x4x?xf32>
}

// -----

// CHECK-LABEL: func @unused_extras(
// CHECK-SAME: %[[U:[^:]+]]: tensor<4xf32>, %[[V:[^:]+]]: tensor<4xf32>, %[[W:[^:]+]]: tensor<4xf32>)
func.func @unused_extras(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %u: tensor<4xf32>, %v: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4x4xf32> {
  // CHECK: epilogue(%[[V]] by #{{.*}} : tensor<4xf32>) {
  // CHECK-NEXT: ^bb0(%[[ACC:.+]]: f32, %[[E:.+]]: f32):
  // CHECK-NEXT: arith.mulf %[[ACC]], %[[E]]
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%u by affine_map<(m, n) -> (n)>, %v by affine_map<(m, n) -> (m)>, %w by affine_map<(m, n) -> (n)>
                : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%acc: f32, %x: f32, %y: f32, %z: f32):
      %0 = arith.mulf %acc, %y : f32
      tracea.yield %0 : f32
  }
  return %0 : tensor<4x4xf32>
}

// -----

// The segments of optional operands stay right.
// CHECK-LABEL: func @unused_extra_of_segments(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32>, %[[S:[^:]+]]: tensor<8xf32>, %[[D:[^:]+]]: tensor<4x8xf32>
func.func @unused_extra_of_segments(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %d: tensor<4x8xf32>, %u: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: tracea.layer_norm axis 1 epsilon 0.000000e+00 ins(%[[X]] : tensor<4x8xf32>) scale(%[[S]] : tensor<8xf32>) outs(%[[D]] : tensor<4x8xf32>) epilogue {
  %0 = tracea.layer_norm axis 1 epsilon 0.0 ins(%x : tensor<4x8xf32>) scale(%s : tensor<8xf32>) outs(%d : tensor<4x8xf32>)
       epilogue(%u by affine_map<(m, n) -> (n)> : tensor<8xf32>) {
    ^bb0(%acc: f32, %e: f32):
      %0 = math.absf %acc : f32
      tracea.yield %0 : f32
  }
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @duplicate_extras(
// CHECK-SAME: %[[U:[^:]+]]: tensor<4xf32>)
func.func @duplicate_extras(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %u: tensor<4xf32>) -> tensor<4x4xf32> {
  // CHECK: epilogue(%[[U]] by #[[M:.+]], %[[U]] by #[[N:.+]] : tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: ^bb0(%[[ACC:.+]]: f32, %[[E:.+]]: f32, %[[F:.+]]: f32):
  // CHECK-NEXT: %[[S:.+]] = arith.mulf %[[ACC]], %[[E]]
  // CHECK-NEXT: %[[T:.+]] = arith.mulf %[[S]], %[[F]]
  // CHECK-NEXT: arith.addf %[[T]], %[[E]]
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%u by affine_map<(m, n) -> (m)>, %u by affine_map<(m, n) -> (n)>, %u by affine_map<(m, n) -> (m)>
                : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%acc: f32, %x: f32, %y: f32, %z: f32):
      %0 = arith.mulf %acc, %x : f32
      %1 = arith.mulf %0, %y : f32
      %2 = arith.addf %1, %z : f32
      tracea.yield %2 : f32
  }
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func @splat_extra(
func.func @splat_extra(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = arith.constant dense<0.5> : tensor<8xf32>
  // CHECK-NOT: arith.constant dense
  // CHECK: tracea.softmax dim 1 {{.*}} epilogue {
  // CHECK-NEXT: ^bb0(%[[ACC:.+]]: f32):
  // CHECK-NEXT: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
  // CHECK-NEXT: arith.mulf %[[ACC]], %[[HALF]]
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
       epilogue(%half by affine_map<(m, n) -> (n)> : tensor<8xf32>) {
    ^bb0(%acc: f32, %e: f32):
      %0 = arith.mulf %acc, %e : f32
      tracea.yield %0 : f32
  }
  return %0 : tensor<4x8xf32>
}

// -----

// Constants are not hoisted out of an epilogue.
// CHECK-LABEL: func @constants_stay(
// CHECK-NEXT: tracea.softmax
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.constant 2.000000e+00
func.func @constants_stay(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      %c1 = arith.constant 1.0 : f32
      %c2 = arith.addf %c1, %c1 : f32
      %0 = arith.mulf %acc, %c2 : f32
      tracea.yield %0 : f32
  }
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @identity(
func.func @identity(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>, %u: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: tracea.softmax dim 1 ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xf32>){{$}}
  // CHECK-NEXT: return
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
       epilogue(%u by affine_map<(m, n) -> (m, n)> : tensor<4x8xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @plain_conversion(
func.func @plain_conversion(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %d: tensor<4x4xf32>, %x: tensor<4x8xf32>, %e: tensor<4x8xbf16>) -> (tensor<4x4xf32>, tensor<4x8xbf16>) {
  // CHECK: tracea.gemm ins({{.*}}) outs(%{{.*}} : tensor<4x4xf32>){{$}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%d : tensor<4x4xf32>) epilogue {
    ^bb0(%acc: i32):
      %0 = arith.sitofp %acc : i32 to f32
      tracea.yield %0 : f32
  }
  // CHECK: tracea.softmax dim 1 ins({{.*}}) outs(%{{.*}} : tensor<4x8xbf16>){{$}}
  %1 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xbf16>) epilogue {
    ^bb0(%acc: f32):
      %0 = arith.truncf %acc : f32 to bf16
      tracea.yield %0 : bf16
  }
  return %0, %1 : tensor<4x4xf32>, tensor<4x8xbf16>
}

// -----

// A conversion of another kind is kept.
// CHECK-LABEL: func @other_conversion(
func.func @other_conversion(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %d: tensor<4x4xf32>, %x: tensor<4x8xf32>, %e: tensor<4x8xbf16>) -> (tensor<4x4xf32>, tensor<4x8xbf16>) {
  // CHECK: epilogue {
  // CHECK: arith.uitofp
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%d : tensor<4x4xf32>) epilogue {
    ^bb0(%acc: i32):
      %0 = arith.uitofp %acc : i32 to f32
      tracea.yield %0 : f32
  }
  // CHECK: epilogue {
  // CHECK: arith.truncf %{{.*}} toward_zero
  %1 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xbf16>) epilogue {
    ^bb0(%acc: f32):
      %0 = arith.truncf %acc toward_zero : f32 to bf16
      tracea.yield %0 : bf16
  }
  return %0, %1 : tensor<4x4xf32>, tensor<4x8xbf16>
}

// -----

// CHECK-LABEL: func @unused_lse(
func.func @unused_lse(%q: tensor<1x4x8x16xf32>, %d: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>, %m: tensor<1x1x2x2xi1>) -> tensor<1x4x8x16xf32> {
  // CHECK: %[[Y:.+]] = tracea.attention causal window [3, -1] scale 5.000000e-01 acc f64 {{.*}} block_mask(%{{.*}} : tensor<1x1x2x2xi1>) block_size [4, 4] outs(%{{[^)]*}}) schedule <variant = "linalg", unit = vector> {note} -> tensor<1x4x8x16xf32>{{$}}
  // CHECK-NEXT: return %[[Y]]
  %0, %1 = tracea.attention causal window [3, -1] scale 0.5 acc f64
       ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       block_mask(%m : tensor<1x1x2x2xi1>) block_size [4, 4]
       outs(%d : tensor<1x4x8x16xf32>) lse(%l : tensor<1x4x8xf32>)
       schedule <variant = "linalg", unit = vector> {note} -> tensor<1x4x8x16xf32>, tensor<1x4x8xf32>
  return %0 : tensor<1x4x8x16xf32>
}

// -----

// Nobody reads it: nothing is computed.
// CHECK-LABEL: func @dead(
// CHECK-NEXT: return
func.func @dead(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return
}
