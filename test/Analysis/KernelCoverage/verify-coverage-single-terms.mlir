// The last term of a sum in blocks of 32 is one that no loop counts, and computed as the
// others are: it belongs to their sum. Without it the sum loses a term.
// RUN: tracea-opt %s --tracea-compile="target=sapphirerapids threads=1 to=tile" --canonicalize -o %t.mlir
// RUN: tracea-opt %t.mlir --tracea-compile="from=pipeline to=pipeline" | FileCheck %s
// CHECK: claim = "all elements of 1 result written exactly once, 1 sum in them with each term once,

// RUN: sed 's/\[%c0, %c64, %c64\]/[%c0, %c64, %c32]/' %t.mlir \
// RUN:   | not tracea-opt --tracea-compile="from=pipeline to=pipeline" 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: loses terms of a sum: index 64 of dimension 1 of argument #0, 64 of dimension 2 of argument #0 is in no step of the sum that is stored
func.func @main(%a: tensor<1x65x65xf32>, %b: tensor<1x131xf32>, %d: tensor<1xf32>) -> tensor<1xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (-i, j * 2 + 2)>, affine_map<(i, j, k) -> (i)>],
                       iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x65x65xf32>, tensor<1x131xf32>) outs(%d : tensor<1xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %greater = arith.maximumf %x, %y : f32
      %r = arith.addf %sum, %greater : f32
      linalg.yield %r : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
