// A sum of x + y is one of x and one of y. That y is read in steps of three elements is no term
// lost: the loop is the one that walks along all of x. A loop that ends early loses terms of both.
// RUN: tracea-opt %s --tracea-compile="target=sapphirerapids threads=1 to=tile" --canonicalize -o %t.mlir
// RUN: tracea-opt %t.mlir --tracea-compile="from=pipeline to=pipeline" | FileCheck %s
// CHECK: claim = "all elements of 1 result written exactly once, 2 sums in them with each term once,

// RUN: sed 's/to %c9 step %c1 iter_args(%arg6/to %c8 step %c1 iter_args(%arg6/' %t.mlir \
// RUN:   | not tracea-opt --tracea-compile="from=pipeline to=pipeline" 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: loses terms of a sum: index 8 of dimension 1 of argument #0, 0 of dimension 2 of argument #0 is in no step of the sum that is stored
// LOST: loses terms of a sum: index 0 of dimension 0 of argument #1, 8 of dimension 1 of argument #0 is in no step of the sum that is stored
func.func @main(%a: tensor<64x9x9xf32>, %b: tensor<9x27x64xf32>, %d: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (8 - k, j * 3 + 2, i)>, affine_map<(i, j, k) -> (i)>],
                       iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<64x9x9xf32>, tensor<9x27x64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %v = arith.addf %x, %y : f32
      %r = arith.addf %sum, %v : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
