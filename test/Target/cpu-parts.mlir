// Kernels are compiled apart. What the code carries for formats that a processor has no
// instructions for is in all of their objects, and linked once.
// RUN: tracea compile %s --target x86-64-v2 -o %t.tracea
// RUN: tracea run %t.tracea --target x86-64-v2 --random-inputs | FileCheck %s
// CHECK: output 0: f16[48]
// CHECK: output 1: f16[7, 31]
#id = affine_map<(i) -> (i)>
#same = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<48xf64>, %b: tensor<7x31xf64>) -> (tensor<48xf16>, tensor<7x31xf16>) {
  %0 = tensor.empty() : tensor<48xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
         ins(%a : tensor<48xf64>) outs(%0 : tensor<48xf16>) {
    ^bb0(%x: f64, %out: f16):
      %y = arith.truncf %x : f64 to f16
      linalg.yield %y : f16
  } -> tensor<48xf16>
  %2 = tensor.empty() : tensor<7x31xf16>
  %3 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
         ins(%b : tensor<7x31xf64>) outs(%2 : tensor<7x31xf16>) {
    ^bb0(%x: f64, %out: f16):
      %square = arith.mulf %x, %x : f64
      %y = arith.truncf %square : f64 to f16
      linalg.yield %y : f16
  } -> tensor<7x31xf16>
  return %1, %3 : tensor<48xf16>, tensor<7x31xf16>
}
