// alpha A B + beta C with numbers that the run knows: the epilogue reads them
// from tables, which take no kernel, and all of it is proved.

// RUN: tracea compile %s --target sm_90a --require-proof -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s
// RUN: tracea explain %t.tracea --recheck
// RUN: tracea compile %s --target sm_80 --require-proof -o %t.80.tracea
// RUN: tracea explain %t.80.tracea | FileCheck %s
// RUN: tracea run %s --device cpu --random-inputs --shape 0=100x64 --shape 2=100x48 --check

// CHECK:      takes 'alpha' f32
// CHECK-NEXT: takes 'beta' f32
// CHECK:      %[[RESULT:[0-9]+]] = temporary of
// CHECK-NEXT: %[[ALPHA:[0-9]+]] = table of f32 {alpha}
// CHECK-NEXT: %[[BETA:[0-9]+]] = table of f32 {beta}
// CHECK:      0: launch gemm_0, {{.*}} tiles ({{.*}}; %[[ALPHA]] f32[];{{.*}} %[[BETA]] f32[];{{.*}} %[[RESULT]] f32[dim(arg0, 0), 48]; dim(arg0, 0)){{$}}
func.func @main(%a: tensor<?x64xf16>, %b: tensor<64x48xf16>, %c: tensor<?x48xf32>, %alpha: f32 {tracea.name = "alpha"}, %beta: f32 {tracea.name = "beta"}) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%m) : tensor<?x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x64xf16>, tensor<64x48xf16>) outs(%f : tensor<?x48xf32>) -> tensor<?x48xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%p, %c : tensor<?x48xf32>, tensor<?x48xf32>) outs(%e : tensor<?x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %ax = arith.mulf %alpha, %x : f32
    %by = arith.mulf %beta, %y : f32
    %s = arith.addf %ax, %by : f32
    linalg.yield %s : f32
  } -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
