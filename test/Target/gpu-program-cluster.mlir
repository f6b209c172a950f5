// The workgroups of a cluster are part of how a kernel is launched: as many
// blocks in a row, of which the grid is a multiple.
// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t.tracea
// RUN: tracea explain %t.tracea --json | FileCheck %s
// RUN: tracea explain %t.tracea --recheck | FileCheck %s --check-prefix=RECHECK
// RUN: tracea compile %s --target sm_90a --emit asm | FileCheck %s --check-prefix=PTX

// CHECK: "cluster": [
// CHECK-NEXT: 4,
// CHECK-NEXT: 1,
// CHECK-NEXT: 1
// RECHECK: protocol {{.*}}confirmed
// RECHECK: coverage {{.*}}confirmed
// RECHECK: target-protocol {{.*}}confirmed
// PTX: .visible .entry gemm_0(
// PTX: .reqnctapercluster 4, 1, 1
// PTX: barrier.cluster.arrive.aligned;
// PTX-NEXT: barrier.cluster.wait.aligned;
// PTX: ld.shared::cluster.v4.b32
// PTX: barrier.cluster.arrive.aligned;
// PTX: barrier.cluster.wait.aligned;

func.func @main(%a: tensor<256x4096xf16>, %b: tensor<128x4096xf16>, %d: tensor<256x128xf32>) -> tensor<256x128xf32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<256x4096xf16>, tensor<128x4096xf16>) outs(%d : tensor<256x128xf32>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 8, producers = 1, consumers = 1, split = 4, cluster = 4>
  return %0 : tensor<256x128xf32>
}
