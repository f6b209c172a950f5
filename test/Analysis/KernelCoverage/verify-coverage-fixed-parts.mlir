// The last term of a sum in blocks of 32 is one that no loop counts, and a part of it is
// one and the same in all terms: it belongs to their sum. Without it the sum loses a term.
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 threads=1 to=tile" --canonicalize -o %t.mlir
// RUN: tracea-opt %t.mlir --tracea-compile="from=pipeline to=pipeline" | FileCheck %s
// CHECK: claim = "all elements of 1 result written exactly once, 1 sum in them with each term once,

// RUN: sed 's/%c64\] : memref<3x65xf32>/%c32] : memref<3x65xf32>/' %t.mlir \
// RUN:   | not tracea-opt --tracea-compile="from=pipeline to=pipeline" 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: loses terms of a sum: index 64 of dimension 1 of argument #0 is in no step of the sum that is stored
func.func @main(%a: tensor<3x65xf32>, %b: tensor<3xf16>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (2 - i)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<3x65xf32>, tensor<3xf16>) outs(%d : tensor<3xf32>) {
    ^bb0(%x: f32, %y: f16, %sum: f32):
      %wide = arith.extf %y : f16 to f32
      %greater = arith.maximumf %x, %wide : f32
      %r = arith.addf %sum, %greater : f32
      linalg.yield %r : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
