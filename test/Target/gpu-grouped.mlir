// A product of groups of rows as a program: one kernel, one launch, whose grid
// follows from the most tiles that there can be. The host never sees the ends.
// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s

// CHECK: grouped_gemm_0 tracea.grouped_gemm grouped.warpgroup 384
// CHECK: grouped_gemm_0: proved: protocol: 3 roles, 1 channels, every trip count
// CHECK: grouped_gemm_0: proved: coverage: all elements of 1 result written exactly once
// CHECK: grouped_gemm_0: proved: target-protocol: 4 roles, 1 rings, every trip count
// CHECK: takes 'arg2' i32[16]
// CHECK: requires (dim(arg0, 0) == dim(arg3, 0)){{.*}}tracea.grouped_gemm: expected lhs and the result to have the same rows
// CHECK: launch grouped_gemm_0, min(((ceildiv(dim(arg3, 0), 128) + min(dim(arg3, 0), 16)) * 16), 132) tiles
// CHECK-NOT: launch
// CHECK: 1 kernels, 0 of them plain loops

func.func @main(%a: tensor<?x4096xbf16>, %b: tensor<16x4096x4096xbf16>, %ends: tensor<16xi32>, %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = tracea.grouped_gemm transpose_rhs
         ins(%a, %b, %ends : tensor<?x4096xbf16>, tensor<16x4096x4096xbf16>, tensor<16xi32>)
         outs(%d : tensor<?x4096xbf16>)
         schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
  return %0 : tensor<?x4096xbf16>
}
