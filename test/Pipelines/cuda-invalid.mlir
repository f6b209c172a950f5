// What no code generator, or no kernel on a GPU, can do is an error that names
// it: nothing is computed by the host in its place.

// RUN: split-file %s %t
// RUN: not tracea-opt %t/elementwise.mlir --tracea-compile="target=sm_90a reference=true" 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: not tracea-opt %t/elementwise.mlir --tracea-compile="target=gfx942" 2>&1 | FileCheck %s --check-prefix=ROCM

// REFERENCE: error: no code generator for target 'sm_90a' of kind cuda; a reference is for kind cpu
// ROCM: error: no code generator for target 'gfx942' of kind rocm; expected kind cpu or cuda

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
