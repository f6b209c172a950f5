// What an importer writes of a model for any number of sequences: the number is
// an argument beside the tensors, and views take their sizes from it.

// RUN: tracea compile %s --target x86-64-v3 --require-proof -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s
// RUN: tracea explain %t.tracea --recheck
// RUN: tracea compile %s --target sm_90a --only-ptx -o %t.90.tracea
// RUN: tracea explain %t.90.tracea | FileCheck %s
// RUN: tracea compile %s --target sm_70 --only-ptx -o %t.70.tracea
// RUN: tracea run %s --input 3 --random-inputs --shape 1=3x10x24 --check | FileCheck %s --check-prefix=RUNS
// RUN: tracea run %s --input 0 --random-inputs --shape 1=0x10x24 --check
// RUN: not tracea run %s --input 4 --random-inputs --shape 1=3x10x24 2>&1 | FileCheck %s --check-prefix=WRONG

// RUNS: output 0: f32[3, 2, 10, 12]
// RUNS: output 0: passed
// WRONG: error: {{.*}}: the program refuses these shapes: {{.*}}the reshape does not keep the number of elements

// CHECK-LABEL: entry main
// CHECK-NEXT:  takes 'batch' i64
// CHECK:       requires ({{.*}}){{.*}}the reshape does not keep the number of elements
// CHECK:       gives %{{[0-9]+}} f32[batch, 2, 10, 12]
// CHECK-NEXT:  gives %{{[0-9]+}} i64[]
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#heads = affine_map<(b, h, s, d) -> (b, s, h, d)>
#result = affine_map<(b, h, s, d) -> (b, h, s, d)>
func.func @main(%batch: i64 {tracea.name = "batch"}, %x: tensor<?x10x24xf32>, %w: tensor<24x24xf32>, %bias: tensor<24xf32>) -> (tensor<?x2x10x12xf32>, i64) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : i64
  %c10 = arith.constant 10 : i64
  %c12 = arith.constant 12 : i64
  %c24 = arith.constant 24 : i64
  %rows = arith.muli %batch, %c10 : i64
  %flat_shape = tensor.from_elements %rows, %c24 : tensor<2xi64>
  %flat = tensor.reshape %x(%flat_shape) : (tensor<?x10x24xf32>, tensor<2xi64>) -> tensor<?x24xf32>
  %m = arith.index_cast %rows : i64 to index
  %e = tensor.empty(%m) : tensor<?x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %p = linalg.matmul ins(%flat, %w : tensor<?x24xf32>, tensor<24x24xf32>) outs(%f : tensor<?x24xf32>) -> tensor<?x24xf32>
  %q = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x24xf32>, tensor<24xf32>) outs(%e : tensor<?x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x24xf32>
  %head_shape = tensor.from_elements %batch, %c10, %c2, %c12 : tensor<4xi64>
  %split = tensor.reshape %q(%head_shape) : (tensor<?x24xf32>, tensor<4xi64>) -> tensor<?x10x2x12xf32>
  %n = arith.index_cast %batch : i64 to index
  %t = tensor.empty(%n) : tensor<?x2x10x12xf32>
  %r = linalg.generic {indexing_maps = [#heads, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%split : tensor<?x10x2x12xf32>) outs(%t : tensor<?x2x10x12xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x2x10x12xf32>
  return %r, %batch : tensor<?x2x10x12xf32>, i64
}
