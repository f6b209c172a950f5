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

func.func @nobody_allows(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %d: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-error @below {{'tracea.gemm' op has no variant for target 'sm_90a'}}
  // expected-note @below {{'gemm.warpgroup' is refused: the unit rounds f32 to tf32; the attribute 'tracea.allow_tf32' of the function or the module allows it, or a schedule asks for it}}
  // expected-note @below {{'gemm.skinny' is refused: the unit rounds f32 to tf32}}
  // expected-note @below {{'gemm.warp' is refused}}
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%d : tensor<4096x4096xf32>)
  return %0 : tensor<4096x4096xf32>
}

// -----

// CHECK-LABEL: @bytes
// CHECK: schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [{{[0-9]+}}, {{[0-9]+}}, 128]
func.func @bytes(%a: tensor<4096x4096xf8E5M2>, %b: tensor<4096x4096xf8E5M2>, %d: tensor<4096x4096xf8E5M2>) -> tensor<4096x4096xf8E5M2> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xf8E5M2>, tensor<4096x4096xf8E5M2>) outs(%d : tensor<4096x4096xf8E5M2>)
  return %0 : tensor<4096x4096xf8E5M2>
}
