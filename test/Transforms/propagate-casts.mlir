// RUN: tracea-opt %s -split-input-file --tracea-propagate-casts | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-propagate-casts=elide-roundings | FileCheck %s --check-prefix=ELIDE

// Both operands from f16: read as they are; the accumulator is f32 either way.
// CHECK-LABEL: func.func @gemm
// CHECK: tracea.gemm ins(%arg0, %arg1 : tensor<4x8xf16>, tensor<8x16xf16>)
// CHECK-NOT: arith.extf
func.func @gemm(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %x = arith.extf %a : tensor<4x8xf16> to tensor<4x8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8x16xf16>) outs(%e : tensor<8x16xf32>) {
    ^bb0(%in: f16, %out: f32):
      %w = arith.extf %in : f16 to f32
      linalg.yield %w : f32
  } -> tensor<8x16xf32>
  %0 = tracea.gemm ins(%x, %y : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  return %0 : tensor<4x16xf32>
}

// -----

// The accumulator was f64 and stays so.
// CHECK-LABEL: func.func @accumulator
// CHECK: tracea.gemm acc f64 ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>)
func.func @accumulator(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf64>) -> tensor<4x16xf64> {
  %x = arith.extf %a : tensor<4x8xf32> to tensor<4x8xf64>
  %y = arith.extf %b : tensor<8x16xf32> to tensor<8x16xf64>
  %0 = tracea.gemm ins(%x, %y : tensor<4x8xf64>, tensor<8x16xf64>) outs(%d : tensor<4x16xf64>)
  return %0 : tensor<4x16xf64>
}

// -----

// One operand only, or two different types: they must agree.
// CHECK-LABEL: func.func @disagree
// CHECK: tracea.gemm ins({{.*}} : tensor<4x8xf32>, tensor<8x16xf32>)
// CHECK: tracea.gemm ins({{.*}} : tensor<4x8xf32>, tensor<8x16xf32>)
func.func @disagree(%a: tensor<4x8xf16>, %b: tensor<8x16xf32>, %c: tensor<8x16xbf16>, %d: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %x = arith.extf %a : tensor<4x8xf16> to tensor<4x8xf32>
  %y = arith.extf %c : tensor<8x16xbf16> to tensor<8x16xf32>
  %0 = tracea.gemm ins(%x, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = tracea.gemm ins(%x, %y : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  return %0, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// Convolution, softmax and attention.
// CHECK-LABEL: func.func @others
// CHECK: tracea.conv2d {{.*}} ins(%arg0, %arg1 : tensor<1x8x8x4xbf16>, tensor<16x3x3x4xbf16>)
// CHECK: tracea.softmax dim 1 ins(%arg2 : tensor<4x8xbf16>)
// CHECK: tracea.attention ins(%arg3, %arg3, %arg3 : tensor<1x2x4x8xbf16>
func.func @others(%x: tensor<1x8x8x4xbf16>, %w: tensor<16x3x3x4xbf16>, %s: tensor<4x8xbf16>, %q: tensor<1x2x4x8xbf16>, %d0: tensor<1x6x6x16xf32>, %d1: tensor<4x8xf32>, %d2: tensor<1x2x4x8xf32>) -> (tensor<1x6x6x16xf32>, tensor<4x8xf32>, tensor<1x2x4x8xf32>) {
  %xx = arith.extf %x : tensor<1x8x8x4xbf16> to tensor<1x8x8x4xf32>
  %ww = arith.extf %w : tensor<16x3x3x4xbf16> to tensor<16x3x3x4xf32>
  %ss = arith.extf %s : tensor<4x8xbf16> to tensor<4x8xf32>
  %qq = arith.extf %q : tensor<1x2x4x8xbf16> to tensor<1x2x4x8xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%xx, %ww : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d0 : tensor<1x6x6x16xf32>)
  %1 = tracea.softmax dim 1 ins(%ss : tensor<4x8xf32>) outs(%d1 : tensor<4x8xf32>)
  %2 = tracea.attention ins(%qq, %qq, %qq : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) outs(%d2 : tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %0, %1, %2 : tensor<1x6x6x16xf32>, tensor<4x8xf32>, tensor<1x2x4x8xf32>
}

// -----

// An extra operand is widened inside, the result narrowed inside.
// CHECK-LABEL: func.func @extra_and_result
// CHECK: tracea.gemm
// CHECK-SAME: outs(%arg3 : tensor<4x16xf16>)
// CHECK-SAME: epilogue(%arg2 by {{.*}} : tensor<16xf16>)
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f16):
// CHECK: %[[W:.*]] = arith.extf %[[IN]] : f16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[ACC]], %[[W]]
// CHECK: %[[T:.*]] = arith.truncf %[[S]] : f32 to f16
// CHECK: tracea.yield %[[T]] : f16
// CHECK-NOT: linalg
func.func @extra_and_result(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16xf16>, %o: tensor<4x16xf16>) -> tensor<4x16xf16> {
  %d = tensor.empty() : tensor<4x16xf32>
  %w = arith.extf %c : tensor<16xf16> to tensor<16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
      epilogue(%w by affine_map<(m, n) -> (n)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      tracea.yield %s : f32
  }
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x16xf32>) outs(%o : tensor<4x16xf16>) {
    ^bb0(%in: f32, %out: f16):
      %t = arith.truncf %in : f32 to f16
      linalg.yield %t : f16
  } -> tensor<4x16xf16>
  return %1 : tensor<4x16xf16>
}

// -----

// A rounding in between goes only when asked for, and only back to the type
// that it came from.
// CHECK-LABEL: func.func @roundings
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf
// CHECK: math.tanh
// ELIDE-LABEL: func.func @roundings
// ELIDE: %[[E:.*]] = math.exp %{{.*}} : f32
// ELIDE-NEXT: %[[T:.*]] = math.tanh %[[E]] : f32
// ELIDE-NEXT: %[[N:.*]] = arith.truncf %[[T]] : f32 to bf16
// ELIDE-NEXT: %[[W:.*]] = arith.extf %[[N]] : bf16 to f64
// ELIDE-NEXT: tracea.yield %[[W]] : f64
func.func @roundings(%a: tensor<4x8xbf16>, %b: tensor<8x16xbf16>, %d: tensor<4x16xf64>) -> tensor<4x16xf64> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xbf16>, tensor<8x16xbf16>) outs(%d : tensor<4x16xf64>)
      epilogue {
    ^bb0(%acc: f32):
      %e = math.exp %acc : f32
      %n = arith.truncf %e : f32 to bf16
      %w = arith.extf %n : bf16 to f32
      %t = math.tanh %w : f32
      %m = arith.truncf %t : f32 to bf16
      %v = arith.extf %m : bf16 to f64
      tracea.yield %v : f64
  }
  return %0 : tensor<4x16xf64>
}
