// Where data names the row of an element, its column is looked at as well, unless constants say that there is one: no
// row is read beyond its end.

// RUN: tracea run %s --entry open --random-inputs --shape 0=5x70
// RUN: not tracea run %s --entry open --random-inputs --shape 0=5x63 2>&1 | FileCheck %s
// RUN: tracea compile %s --entry open --require-proof -o %t
// RUN: tracea compile %s --entry open --target sm_80 --only-ptx --require-proof -o %t.gpu
// RUN: tracea explain %t.gpu | FileCheck %s --check-prefix=OPEN
// RUN: tracea compile %s --entry known --target sm_80 --only-ptx --require-proof -o %t.gpu
// RUN: tracea explain %t.gpu | FileCheck %s --check-prefix=KNOWN

// CHECK: data-columns.mlir: open: step 0 (kernel "linalg_generic_0"): 'tensor.extract' at {{.*}}: expected index 1 from 0 to below 63, found 63
// OPEN: fails the run: 'tensor.extract' at {{.*}}: expected index 0 from 0 to below {1}, found {0}
// OPEN: fails the run: 'tensor.extract' at {{.*}}: expected index 1 from 0 to below {1}, found {0}
// KNOWN: fails the run: 'tensor.extract' at {{.*}}: expected index 0 from 0 to below {1}, found {0}
// KNOWN-NOT: fails the run

#row = affine_map<(i, j) -> (i)>
#element = affine_map<(i, j) -> (i, j)>
func.func @open(%x: tensor<?x?xf32>) -> tensor<4x64xf32> {
  %t = arith.constant dense<[0, 4, 2, 3]> : tensor<4xi32>
  %e = tensor.empty() : tensor<4x64xf32>
  %0 = linalg.generic {indexing_maps = [#row, #element], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<4xi32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%n: i32, %out: f32):
    %j = linalg.index 1 : index
    %r = arith.index_cast %n : i32 to index
    %v = tensor.extract %x[%r, %j] : tensor<?x?xf32>
    linalg.yield %v : f32
  } -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
func.func @known(%x: tensor<?x64xf32>, %t: tensor<4xi32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %0 = linalg.generic {indexing_maps = [#row, #element], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<4xi32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%n: i32, %out: f32):
    %j = linalg.index 1 : index
    %r = arith.index_cast %n : i32 to index
    %v = tensor.extract %x[%r, %j] : tensor<?x64xf32>
    linalg.yield %v : f32
  } -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
