// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --canonicalize | FileCheck %s --check-prefix=CANON

// CHECK-LABEL: func @plain(
func.func @plain(%a: tensor<?x64xbf16>, %b: tensor<16x64x128xbf16>, %e: tensor<16xi32>, %d: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // CHECK: tracea.grouped_gemm ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<16x64x128xbf16>, tensor<16xi32>) outs(%{{.*}} : tensor<?x128xbf16>){{$}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<?x64xbf16>, tensor<16x64x128xbf16>, tensor<16xi32>)
                           outs(%d : tensor<?x128xbf16>)
  return %0 : tensor<?x128xbf16>
}

// CHECK-LABEL: func @transposed(
func.func @transposed(%a: tensor<96x64xf16>, %b: tensor<?x128x64xf16>, %e: tensor<?xi64>, %bias: tensor<128xf32>, %d: tensor<96x128xf32>) -> tensor<96x128xf32> {
  // CHECK: tracea.grouped_gemm transpose_rhs acc f64 ins({{.*}}) outs({{.*}}) epilogue(%{{.*}} by #{{.*}} : tensor<128xf32>) {
  // CHECK-NEXT: ^bb0(%[[ACC:.*]]: f64, %[[IN:.*]]: f32):
  %0 = tracea.grouped_gemm transpose_rhs acc f64
         ins(%a, %b, %e : tensor<96x64xf16>, tensor<?x128x64xf16>, tensor<?xi64>)
         outs(%d : tensor<96x128xf32>)
         epilogue(%bias by affine_map<(m, n) -> (n)> : tensor<128xf32>) {
    ^bb0(%acc: f64, %c: f32):
      %s = arith.truncf %acc : f64 to f32
      %t = arith.addf %s, %c : f32
      tracea.yield %t : f32
  }
  return %0 : tensor<96x128xf32>
}

// A conversion that happens without an epilogue is none; a cast is looked
// through.
// CANON-LABEL: func @canonical(
func.func @canonical(%a: tensor<96x64xbf16>, %b: tensor<4x64x128xbf16>, %e: tensor<4xi32>, %d: tensor<96x128xbf16>) -> tensor<?x128xbf16> {
  // CANON: %[[Y:.*]] = tracea.grouped_gemm ins({{.*}} : tensor<96x64xbf16>, tensor<4x64x128xbf16>, tensor<4xi32>) outs({{.*}} : tensor<96x128xbf16>){{$}}
  // CANON: tensor.cast %[[Y]] : tensor<96x128xbf16> to tensor<?x128xbf16>
  %x = tensor.cast %a : tensor<96x64xbf16> to tensor<?x64xbf16>
  %w = tensor.cast %d : tensor<96x128xbf16> to tensor<?x128xbf16>
  %0 = tracea.grouped_gemm ins(%x, %b, %e : tensor<?x64xbf16>, tensor<4x64x128xbf16>, tensor<4xi32>)
         outs(%w : tensor<?x128xbf16>) epilogue {
    ^bb0(%acc: f32):
      %t = arith.truncf %acc : f32 to bf16
      tracea.yield %t : bf16
  }
  return %0 : tensor<?x128xbf16>
}

// Without groups all rows are the epilogue of 0: a product of no depth. What the
// operation refuses of its operands is still refused.
// CANON-LABEL: func @no_groups(
func.func @no_groups(%a: tensor<?x64xbf16>, %b: tensor<0x64x128xbf16>, %e: tensor<0xi32>, %bias: tensor<128xf32>, %d: tensor<?x128xf32>) -> tensor<?x128xf32> {
  // CANON: cf.assert %{{.*}}, "tracea.grouped_gemm: expected lhs and the result to have the same rows"
  // CANON: %[[L:.*]] = tensor.empty(%{{.*}}) : tensor<?x0xbf16>
  // CANON: %[[R:.*]] = tensor.empty() : tensor<128x0xbf16>
  // CANON: tracea.gemm transpose_rhs ins(%[[L]], %[[R]] : tensor<?x0xbf16>, tensor<128x0xbf16>) outs(%{{.*}} : tensor<?x128xf32>) epilogue(%{{.*}} by #{{.*}} : tensor<128xf32>) {
  // CANON: arith.addf
  // CANON-NOT: tracea.grouped_gemm
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<?x64xbf16>, tensor<0x64x128xbf16>, tensor<0xi32>)
         outs(%d : tensor<?x128xf32>) epilogue(%bias by affine_map<(m, n) -> (n)> : tensor<128xf32>) {
    ^bb0(%acc: f32, %c: f32):
      %t = arith.addf %acc, %c : f32
      tracea.yield %t : f32
  }
  return %0 : tensor<?x128xf32>
}
