// Where only the run knows how many rows or images there are, small and large results have kernels of their own.
// RUN: tracea-opt %s --tracea-select-schedule="target=sm_90a" --remark-format=emitRemark --remarks-filter=tracea-doctor 2>%t.remarks >%t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// What has been chosen is a schedule that may be given.
// RUN: tracea-opt %t.mlir --tracea-select-schedule
// RUN: tracea-opt %s --tracea-select-schedule="target=x86-64-v4" | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: @rows(
// CHECK:         schedule <variant = "gemm.{{[a-z]+}}", unit = wgmma, tile = [{{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}],
// CHECK-SAME:      most = [[#SMALL:]], otherwise = <variant = "gemm.warpgroup", unit = wgmma, tile = [128,
// REMARK:      tracea.gemm: takes 'gemm.warpgroup' with tile = [128, {{.*}}; results of up to [[#SMALL:]] elements are computed by 'gemm.
// REMARK-SAME: , {{1\.[0-9]+}} times as fast as by one plan for all on average
// CPU-LABEL:   @rows(
// CPU-NOT:       most
func.func @rows(%x: tensor<?x4096xbf16>, %w: tensor<4096x4096xbf16>, %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%x, %w : tensor<?x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<?x4096xbf16>)
  return %0 : tensor<?x4096xbf16>
}

// Rows that begin anywhere are left to a third one.
// CHECK-LABEL: @open(
// CHECK:         most = {{[0-9]+}}, otherwise = <variant = "gemm.warpgroup", {{[^<]*}} otherwise = <variant = "gemm.warp", unit = mma_sync, {{[^<]*}}>>>
func.func @open(%x: tensor<?x4096xbf16>, %w: tensor<4096x?xbf16>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm ins(%x, %w : tensor<?x4096xbf16>, tensor<4096x?xbf16>) outs(%d : tensor<?x?xbf16>)
  return %0 : tensor<?x?xbf16>
}

// CHECK-LABEL: @heads(
// CHECK:         schedule <variant = "attention.warp", {{.*}}, most = {{[0-9]+}}, otherwise = <variant = "attention.warp", unit = mma_sync, tile = [{{64|128}},
func.func @heads(%q: tensor<?x12x197x64xbf16>, %k: tensor<?x12x197x64xbf16>, %v: tensor<?x12x197x64xbf16>, %d: tensor<?x12x197x64xbf16>) -> tensor<?x12x197x64xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<?x12x197x64xbf16>, tensor<?x12x197x64xbf16>, tensor<?x12x197x64xbf16>) outs(%d : tensor<?x12x197x64xbf16>) -> tensor<?x12x197x64xbf16>
  return %0 : tensor<?x12x197x64xbf16>
}
