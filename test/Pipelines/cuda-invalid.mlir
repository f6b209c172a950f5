// What has no variant for a GPU is an error that names the operation: nothing
// is computed by the host in its place.

// RUN: split-file %s %t
// RUN: not tracea-opt %t/elementwise.mlir --tracea-compile="target=sm_90a" 2>&1 | FileCheck %s --check-prefix=ELEMENTWISE
// RUN: not tracea-opt %t/copy.mlir --tracea-compile="target=sm_90a" 2>&1 | FileCheck %s --check-prefix=COPY
// RUN: not tracea-opt %t/softmax.mlir --tracea-compile="target=sm_90a" 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: not tracea-opt %t/softmax.mlir --tracea-compile="target=sm_80" 2>&1 | FileCheck %s --check-prefix=OLDER
// RUN: not tracea-opt %t/elementwise.mlir --tracea-compile="target=sm_90a reference=true" 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: not tracea-opt %t/elementwise.mlir --tracea-compile="target=gfx942" 2>&1 | FileCheck %s --check-prefix=ROCM

// ELEMENTWISE: elementwise.mlir:2:8: error: 'linalg.generic' has no variant for target 'sm_90a' and was fused into no operation that has one
// COPY: error: 'memref.copy' has no variant for target 'sm_90a'
// SOFTMAX: error: 'tracea.softmax' op has no variant for target 'sm_90a'
// OLDER: error: 'tracea.softmax' op has no variant for target 'sm_80'
// REFERENCE: error: no code generator for target 'sm_90a' of kind cuda; a reference is for kind cpu
// ROCM: error: 'linalg.generic' has no variant for target 'gfx942'

//--- elementwise.mlir
func.func @main(%a: tensor<64xf32>, %d: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<64xf32>) outs(%d : tensor<64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %n = arith.negf %x : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

//--- copy.mlir
// Into a column, which is no piece of memory.
func.func @main(%a: tensor<8x8xf32>, %d: tensor<8xf32>) -> tensor<8x8xf32> {
  %0 = tensor.insert_slice %d into %a[0, 3] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

//--- softmax.mlir
func.func @main(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = tracea.softmax dim 1 ins(%a : tensor<64x64xf32>) outs(%d : tensor<64x64xf32>)
  return %0 : tensor<64x64xf32>
}
