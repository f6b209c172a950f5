// Auxiliary results of a product: text, tiles, what nobody reads.
// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --emit-bytecode | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --canonicalize | FileCheck %s --check-prefix=USED

// CHECK-DAG: #[[$MN:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$NM:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$M:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$N:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$NONE:.+]] = affine_map<(d0, d1) -> ()>
// CHECK-DAG: #[[$BATCHED:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func @all(
func.func @all(%a: tensor<?x64xbf16>, %b: tensor<64x32xbf16>, %bias: tensor<32xf32>, %d: tensor<?x32xbf16>, %e: tensor<?x32xf32>, %t: tensor<32x?xf8E4M3FN>,
               %rows: tensor<?xf32>, %columns: tensor<32xf32>, %most: tensor<f32>)
    -> (tensor<?x32xbf16>, tensor<?x32xf32>, tensor<32x?xf8E4M3FN>, tensor<?xf32>, tensor<32xf32>, tensor<f32>) {
  // CHECK: %{{.*}}:6 = tracea.gemm ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<64x32xbf16>) outs(%{{.*}} : tensor<?x32xbf16>)
  // CHECK-SAME: aux(%{{.*}} by #[[$MN]], %{{.*}} by #[[$NM]], add %{{.*}} by #[[$M]], min %{{.*}} by #[[$N]], max %{{.*}} by #[[$NONE]] : tensor<?x32xf32>, tensor<32x?xf8E4M3FN>, tensor<?xf32>, tensor<32xf32>, tensor<f32>)
  // CHECK-SAME: schedule <variant = "linalg", unit = vector>
  // CHECK-SAME: epilogue(%{{.*}} by #[[$N]] : tensor<32xf32>) {
  // CHECK: tracea.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : bf16, f32, f8E4M3FN, f32, f32, f32
  %0:6 = tracea.gemm ins(%a, %b : tensor<?x64xbf16>, tensor<64x32xbf16>) outs(%d : tensor<?x32xbf16>)
    aux(%e by affine_map<(m, n) -> (m, n)>, %t by affine_map<(m, n) -> (n, m)>, add %rows by affine_map<(m, n) -> (m)>,
        min %columns by affine_map<(m, n) -> (n)>, max %most by affine_map<(m, n) -> ()>
        : tensor<?x32xf32>, tensor<32x?xf8E4M3FN>, tensor<?xf32>, tensor<32xf32>, tensor<f32>)
    schedule <variant = "linalg", unit = vector>
    epilogue(%bias by affine_map<(m, n) -> (n)> : tensor<32xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      %q = arith.mulf %s, %s : f32
      %h = arith.truncf %s : f32 to bf16
      %f = arith.truncf %s : f32 to f8E4M3FN
      tracea.yield %h, %s, %f, %q, %s, %q : bf16, f32, f8E4M3FN, f32, f32, f32
    }
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5 : tensor<?x32xbf16>, tensor<?x32xf32>, tensor<32x?xf8E4M3FN>, tensor<?xf32>, tensor<32xf32>, tensor<f32>
}

// CHECK-LABEL: func @batched(
// CHECK: aux(add %{{.*}} by #[[$BATCHED]] : tensor<4x16xi32>) epilogue {
func.func @batched(%a: tensor<4x8x32xi8>, %b: tensor<32x16xi8>, %d: tensor<4x8x16xi32>, %s: tensor<4x16xi32>) -> (tensor<4x8x16xi32>, tensor<4x16xi32>) {
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8x32xi8>, tensor<32x16xi8>) outs(%d : tensor<4x8x16xi32>)
    aux(add %s by affine_map<(b, m, n) -> (b, n)> : tensor<4x16xi32>) epilogue {
    ^bb0(%acc: i32):
      tracea.yield %acc, %acc : i32, i32
    }
  return %0#0, %0#1 : tensor<4x8x16xi32>, tensor<4x16xi32>
}

// What nobody reads goes, with the scalars and operands that it alone took.
// USED-LABEL: func @unused(
// USED-SAME: %[[E:[a-z0-9]+]]: tensor<8x4xf32>, %[[R:[a-z0-9]+]]: tensor<8xf32>
// USED: %[[Y:.*]]:2 = tracea.gemm ins({{.*}}) outs({{.*}}) aux(add %[[R]] by #{{.*}} : tensor<8xf32>) epilogue {
// USED: ^bb0(%[[ACC:.*]]: f32):
// USED-NEXT: %[[Q:.*]] = arith.mulf %[[ACC]], %[[ACC]]
// USED-NEXT: tracea.yield %[[ACC]], %[[Q]] : f32, f32
// USED: return %[[Y]]#0, %[[Y]]#1
func.func @unused(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %x: tensor<4xf32>, %d: tensor<8x4xf32>, %e: tensor<8x4xf32>, %r: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %0:3 = tracea.gemm ins(%a, %b : tensor<8x2xf32>, tensor<2x4xf32>) outs(%d : tensor<8x4xf32>)
    aux(%e by affine_map<(m, n) -> (m, n)>, add %r by affine_map<(m, n) -> (m)> : tensor<8x4xf32>, tensor<8xf32>)
    epilogue(%x by affine_map<(m, n) -> (n)> : tensor<4xf32>) {
    ^bb0(%acc: f32, %in: f32):
      %s = arith.addf %acc, %in : f32
      %q = arith.mulf %acc, %acc : f32
      tracea.yield %acc, %s, %q : f32, f32, f32
    }
  return %0#0, %0#2 : tensor<8x4xf32>, tensor<8xf32>
}

// The conversion of the accumulator alone is no epilogue where there are others.
// USED-LABEL: func @kept(
// USED: aux(
// USED: tracea.yield %{{.*}}, %{{.*}} : f32, f32
func.func @kept(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %d: tensor<8x4xf32>, %r: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %0:2 = tracea.gemm ins(%a, %b : tensor<8x2xf32>, tensor<2x4xf32>) outs(%d : tensor<8x4xf32>)
    aux(add %r by affine_map<(m, n) -> (m)> : tensor<8xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return %0#0, %0#1 : tensor<8x4xf32>, tensor<8xf32>
}
