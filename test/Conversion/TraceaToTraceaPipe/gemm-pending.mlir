// With no multiplies pending a slot is given back in the step that reads it: the
// unit is waited for before, and copies get the slot one step earlier.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" \
// RUN:   | FileCheck %s --implicit-check-not="pending = 1"
// RUN: sed 's/, pending = 0//' %s \
// RUN:   | tracea-opt --tracea-compile="target=sm_90a to=pipeline require-proof=true" \
// RUN:   | FileCheck %s --check-prefix=AHEAD
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true" -o /dev/null
// RUN: sed 's/pending = 0/pending = 2/' %s | not tracea-opt 2>&1 | FileCheck %s --check-prefix=RANGE

// CHECK: tracea_pipe.kernel @gemm_0
// CHECK-SAME: pipeline = #tracea_pipe.pipeline<teams = 2
// CHECK: tracea_pipe.role "consumer"
// CHECK: scf.for
// CHECK: %[[B:.+]] = tracea_pipe.wait %{{.*}}[%[[SLOT:.+]]]
// CHECK: %[[SUM:.+]] = tracea_pipe.mma_async
// CHECK: tracea_pipe.wait_group mma pending 0 (%[[SUM]]
// CHECK: tracea_pipe.release

// AHEAD: pending = 1
// AHEAD: tracea_pipe.role "consumer"
// AHEAD: tracea_pipe.mma_async
// AHEAD: tracea_pipe.wait_group mma pending 1

// RANGE: error: {{.*}}expected 'pending' of 0 to 1, found 2
func.func @main(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
    outs(%d : tensor<4096x4096xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, pending = 0>
  return %0 : tensor<4096x4096xbf16>
}
