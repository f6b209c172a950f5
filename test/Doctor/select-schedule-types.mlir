// RUN: tracea-opt %s --tracea-select-schedule="target=sm_90a" --split-input-file \
// RUN:   --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @function_allows
// CHECK: schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [{{[0-9]+}}, {{[0-9]+}}, 32]
func.func @function_allows(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %d: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {tracea.allow_tf32} {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%d : tensor<4096x4096xf32>)
  return %0 : tensor<4096x4096xf32>
}

// -----

// CHECK-LABEL: @module_allows
// CHECK: schedule <variant = "gemm.warpgroup"
module attributes {tracea.allow_tf32} {
  func.func @module_allows(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %d: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
    %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%d : tensor<4096x4096xf32>)
    return %0 : tensor<4096x4096xf32>
  }
}

// -----

// Lanes multiply what nobody lets the units round.
// CHECK-LABEL: @nobody_allows
// CHECK: schedule <variant = "gemm.simt", unit = vector, tile = [128, 128, 32], registers = [8, 8]
func.func @nobody_allows(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %d: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%d : tensor<4096x4096xf32>)
  return %0 : tensor<4096x4096xf32>
}

// -----

// CHECK-LABEL: @parts_allowed
// CHECK: schedule <variant = "gemm.tf32x3", unit = mma_sync
func.func @parts_allowed(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %d: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {tracea.allow_tf32x3} {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%d : tensor<4096x4096xf32>)
  return %0 : tensor<4096x4096xf32>
}

// -----

// CHECK-LABEL: @across
// CHECK: schedule <variant = "gemm.simt"
func.func @across(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8>, %d: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8>) outs(%d : tensor<4096x4096xi32>)
  return %0 : tensor<4096x4096xi32>
}

// -----

// CHECK-LABEL: @bytes
// CHECK: schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [{{[0-9]+}}, {{[0-9]+}}, 128]
func.func @bytes(%a: tensor<4096x4096xf8E5M2>, %b: tensor<4096x4096xf8E5M2>, %d: tensor<4096x4096xf8E5M2>) -> tensor<4096x4096xf8E5M2> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xf8E5M2>, tensor<4096x4096xf8E5M2>) outs(%d : tensor<4096x4096xf8E5M2>)
  return %0 : tensor<4096x4096xf8E5M2>
}
