// The last of 65 terms of a sum in blocks of 32 is one that no loop counts, but for another
// dimension of the sum, and the element says where it is: it belongs to the sum of the blocks.
// RUN: tracea-opt %s --tracea-compile="target=sapphirerapids threads=1 to=tile" --canonicalize -o %t.mlir
// RUN: tracea-opt %t.mlir --tracea-compile="from=pipeline to=pipeline" | FileCheck %s
// CHECK: claim = "all elements of 1 result written exactly once, 2 sums in them with each term once,

// RUN: sed 's/, %c64, %arg\([0-9]*\)\]/, %c32, %arg\1]/; s/constant 128/constant 64/' %t.mlir \
// RUN:   | not tracea-opt --tracea-compile="from=pipeline to=pipeline" 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: loses terms of a sum: index 0 of dimension 3 of argument #1, 64 of dimension 2 of argument #1 is in no step of the sum that is stored

// RUN: sed 's/constant 128/constant 126/' %t.mlir \
// RUN:   | not tracea-opt --tracea-compile="from=pipeline to=pipeline" 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE: loses terms of a sum
func.func @main(%a: tensor<2x3x65x15xf32>, %b: tensor<131x7x65x2xf32>, %d: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (l, i, k, j * 3 + 2)>, affine_map<(i, j, k, l) -> (i + k * 2, i - j + 4, k, l)>, affine_map<(i, j, k, l) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<2x3x65x15xf32>, tensor<131x7x65x2xf32>) outs(%d : tensor<3x5xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %v = arith.addf %x, %y : f32
      %r = arith.addf %sum, %v : f32
      linalg.yield %r : f32
  } -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
