// Insertions into what has to be made anyway: each element of the result is written once, from the window or from
// what was there, and that is proved. What the window does not fit is refused.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/a.npy "<f4" 2x3 1 2 3 4 5 6

// Gaps, as a transposed convolution has them.
// RUN: tracea compile %s --entry strided --target sm_70 --only-ptx --require-proof -o %t/gpu.tracea
// RUN: tracea run %s --entry strided --require-proof --input %t/a.npy --input 0.5 --check --output %t/strided.npy
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py --print %t/strided.npy | FileCheck %s --check-prefix=STRIDED
// STRIDED: <f4 [5, 6] 0.5 0.5 0.5 0.5 0.5 0.5 0.5 1 0.5 2 0.5 3 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 4 0.5 5 0.5 6
func.func @strided(%a: tensor<2x3xf32>, %v: f32) -> tensor<5x6xf32> {
  %e = tensor.empty() : tensor<5x6xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r = tensor.insert_slice %a into %f[1, 1] [2, 3] [3, 2] : tensor<2x3xf32> into tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

// Several, one of a vector, into an argument: one loop for lanes.
// RUN: tracea compile %s --entry chain --target sm_90a --only-ptx --require-proof -o %t/gpu.tracea
// RUN: tracea explain %t/gpu.tracea | FileCheck %s --check-prefix=CHAIN
// CHAIN: 1 kernels, 1 of them plain loops
// RUN: tracea run %s --entry chain --random-inputs --shape 0=4x3 --shape 1=6 --shape 2=6x8 --check
// RUN: not tracea run %s --entry chain --random-inputs --shape 0=7x3 --shape 1=6 --shape 2=6x8 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: refuses these shapes
func.func @chain(%a: tensor<?x3xf32>, %b: tensor<?xf32>, %d: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %d, %c0 : tensor<?x8xf32>
  %m = tensor.dim %a, %c0 : tensor<?x3xf32>
  %x = tensor.insert_slice %a into %d[0, 2] [%m, 3] [1, 1] : tensor<?x3xf32> into tensor<?x8xf32>
  %y = tensor.insert_slice %b into %x[0, 7] [%n, 1] [1, 1] : tensor<?xf32> into tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// A destination whose rows only the run knows.
// RUN: tracea compile %s --entry rows --target sm_90a --only-ptx --require-proof -o %t/gpu.tracea
// RUN: tracea run %s --entry rows --require-proof --random-inputs --shape 1=5x8 --check
// RUN: not tracea run %s --entry rows --random-inputs --shape 1=4x8 2>&1 | FileCheck %s --check-prefix=END
// END: tensor.insert_slice: expected a window that ends in the destination
func.func @rows(%a: tensor<2x3xf32>, %d: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = tensor.insert_slice %a into %d[1, 0] [2, 3] [3, 1] : tensor<2x3xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// What somebody has computed is changed in place.
// RUN: tracea run %s --entry in_place --random-inputs --check
// RUN: tracea compile %s --entry in_place --target sm_90a --only-ptx -o %t/gpu.tracea
// RUN: tracea explain %t/gpu.tracea | FileCheck %s --check-prefix=IN-PLACE
// IN-PLACE: launch memref_copy_0, {{.*}} f32[2, 3];
func.func @in_place(%a: tensor<2x3xf32>, %d: tensor<7x8xf32>) -> tensor<7x8xf32> {
  %e = tensor.empty() : tensor<7x8xf32>
  %f = linalg.exp ins(%d : tensor<7x8xf32>) outs(%e : tensor<7x8xf32>) -> tensor<7x8xf32>
  %r = tensor.insert_slice %a into %f[1, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<7x8xf32>
  return %r : tensor<7x8xf32>
}
