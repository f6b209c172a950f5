// A sum of x + y + z is one of each. That z has no element of its own for the innermost loop repeats
// each of its terms there, once for each element of x, which tells them apart. A loop that ends early
// loses terms of all three.
// RUN: tracea-opt %s --tracea-compile="target=sapphirerapids threads=1 to=tile" --canonicalize -o %t.mlir
// RUN: tracea-opt %t.mlir --tracea-compile="from=pipeline to=pipeline" | FileCheck %s
// CHECK: claim = "all elements of 1 result written exactly once, 3 sums in them with each term once,

// RUN: sed 's/to %c5 step %c1 iter_args/to %c4 step %c1 iter_args/' %t.mlir \
// RUN:   | not tracea-opt --tracea-compile="from=pipeline to=pipeline" 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: loses terms of a sum: index 4 of dimension 2 of argument #0, 64 of dimension 1 of argument #0 is in no step of the sum that is stored
// LOST: loses terms of a sum: index 4 of dimension 2 of argument #0, 64 of dimension 0 of argument #1 is in no step of the sum that is stored
// LOST: loses terms of a sum: index 4 of dimension 2 of argument #0, 64 of dimension 1 of argument #2 is in no step of the sum that is stored

// Backwards through a part of a dimension, that part is what the loop walks along.
// RUN: sed 's/10 - 2 \* k/4 - k/' %s | tracea-opt --tracea-compile="target=sapphirerapids threads=1 to=pipeline" | FileCheck %s --check-prefix=BACK
// BACK: claim = "all elements of 1 result written exactly once
func.func @main(%x: tensor<4x65x5xf32>, %y: tensor<65x11xf32>, %z: tensor<4x65xbf16>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, 10 - 2 * k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i)>],
                       iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x, %y, %z : tensor<4x65x5xf32>, tensor<65x11xf32>, tensor<4x65xbf16>) outs(%d : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %c: bf16, %sum: f32):
      %p = arith.addf %a, %b : f32
      %q = arith.extf %c : bf16 to f32
      %v = arith.addf %p, %q : f32
      %r = arith.addf %sum, %v : f32
      linalg.yield %r : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
