// From linalg to a program: a product with bias whose activation and
// pre-activation are stored, with the sum of squares of each row and the
// maximum of each column, is one kernel and those that reduce partial values.

// REQUIRES: ptxas
// RUN: tracea compile %s --target sm_90a --require-proof -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s
// RUN: tracea explain %t.tracea | FileCheck %s --check-prefix=KERNELS

// KERNELS: gemm_0 tracea.gemm gemm.warpgroup 384 {{.*}} 0 B
// KERNELS: gemm_1 tracea.gemm gemm.warpgroup 128 0 B {{.*}} 0 B
// KERNELS: gemm_2 tracea.gemm gemm.warpgroup 128 0 B {{.*}} 0 B
// KERNELS: gemm_3 tracea.gemm gemm.warpgroup 128 0 B {{.*}} 0 B
// KERNELS-NOT: gemm_4

// CHECK: gemm_0: proved: coverage: all elements of 4 results written exactly once
// CHECK: gemm_0: proved: target-protocol: {{[0-9]+}} roles
// CHECK: gemm_1: proved: coverage: all elements of 1 result written exactly once
// CHECK: gemm_2: proved: coverage: all elements of 1 result written exactly once
// CHECK: gemm_3: proved: coverage: all elements of 1 result written exactly once

#id = affine_map<(i, j) -> (i, j)>
#m = affine_map<(i, j) -> (i)>
#n = affine_map<(i, j) -> (j)>
func.func @main(%a: tensor<?x512xbf16>, %b: tensor<512x2048xbf16>, %bias: tensor<2048xf32>)
    -> (tensor<?x2048xbf16>, tensor<?x2048xbf16>, tensor<?xf32>, tensor<2048xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%m) : tensor<?x2048xf32>
  %eh = tensor.empty(%m) : tensor<?x2048xbf16>
  %er = tensor.empty(%m) : tensor<?xf32>
  %ec = tensor.empty() : tensor<2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %h = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x2048xf32>, tensor<2048xf32>) outs(%e : tensor<?x2048xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<?x2048xf32>
  %kept = arith.truncf %h : tensor<?x2048xf32> to tensor<?x2048xbf16>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<?x2048xf32>) outs(%eh : tensor<?x2048xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %x, %z : f32
      %t = arith.truncf %r : f32 to bf16
      linalg.yield %t : bf16
  } -> tensor<?x2048xbf16>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %rows = linalg.generic {indexing_maps = [#id, #m], iterator_types = ["parallel", "reduction"]}
      ins(%g : tensor<?x2048xbf16>) outs(%fr : tensor<?xf32>) {
    ^bb0(%x: bf16, %o: f32):
      %y = arith.extf %x : bf16 to f32
      %q = arith.mulf %y, %y : f32
      %s = arith.addf %o, %q : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  %fc = linalg.fill ins(%least : f32) outs(%ec : tensor<2048xf32>) -> tensor<2048xf32>
  %columns = linalg.generic {indexing_maps = [#id, #n], iterator_types = ["reduction", "parallel"]}
      ins(%kept : tensor<?x2048xbf16>) outs(%fc : tensor<2048xf32>) {
    ^bb0(%x: bf16, %o: f32):
      %y = arith.extf %x : bf16 to f32
      %s = arith.maximumf %o, %y : f32
      linalg.yield %s : f32
  } -> tensor<2048xf32>
  return %g, %kept, %rows, %columns : tensor<?x2048xbf16>, tensor<?x2048xbf16>, tensor<?xf32>, tensor<2048xf32>
}
