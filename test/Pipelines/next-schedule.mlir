// A certificate decides which schedule is taken: what the epilogue loads does not fit beside the
// sums, so that the operation takes the next schedule that does; the other one keeps its own.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true to=pipeline" -o %t 2>%t.err
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// The pass by itself, as the driver runs it.
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea-lower-scheduled{target=sm_90a require-proof=true})" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t
// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t.tracea 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline" -o /dev/null --remark-format=emitRemark \
// RUN:   --remarks-filter=tracea-doctor 2>&1 | FileCheck %s --check-prefix=FILTERED

// REMARK: next-schedule.mlir:{{[0-9]+}}:8: remark: tracea.gemm: gives up 'gemm.warpgroup' with tile = [128, 256, 64]
// REMARK-SAME: and takes 'gemm.warpgroup' with tile
// REMARK-SAME: does not fit
// REMARK-NOT: error:
// FILTERED: [Missed] schedule-given-up

// CHECK-COUNT-2: check = "resources"

// Whoever has written a schedule gets the error.
// RUN: sed -e 's/outs(%e : tensor<4096x4096xbf16>)/& schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>/' %s > %t.given.mlir
// RUN: not tracea-opt %t.given.mlir --mlir-print-op-on-diagnostic=false -o /dev/null \
// RUN:   --tracea-compile="target=sm_90a to=pipeline" 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN-NOT: gives up
// GIVEN: error: 'tracea_pipe.role' op does not fit: role
// GIVEN-NOT: gives up

func.func @main(%a: tensor<4096x512xbf16>, %b: tensor<512x4096xbf16>, %x: tensor<256x256xbf16>,
    %y: tensor<256x256xbf16>, %c0: tensor<4096x4096xf32>, %c1: tensor<4096x4096xf32>,
    %c2: tensor<4096x4096xf32>, %c3: tensor<4096x4096xf32>)
    -> (tensor<4096x4096xbf16>, tensor<256x256xbf16>) {
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %r = tracea.gemm ins(%a, %b : tensor<4096x512xbf16>, tensor<512x4096xbf16>) outs(%e : tensor<4096x4096xbf16>)
    epilogue(%c0 by affine_map<(i, j) -> (i, j)>, %c1 by affine_map<(i, j) -> (i, j)>,
             %c2 by affine_map<(i, j) -> (i, j)>, %c3 by affine_map<(i, j) -> (i, j)>
             : tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
  ^bb0(%acc: f32, %x0: f32, %x1: f32, %x2: f32, %x3: f32):
    %0 = arith.addf %acc, %x0 : f32
    %1 = arith.addf %0, %x1 : f32
    %2 = arith.addf %1, %x2 : f32
    %3 = arith.addf %2, %x3 : f32
    %4 = arith.truncf %3 : f32 to bf16
    tracea.yield %4 : bf16
  }
  %f = tensor.empty() : tensor<256x256xbf16>
  %s = tracea.gemm ins(%x, %y : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<256x256xbf16>)
  return %r, %s : tensor<4096x4096xbf16>, tensor<256x256xbf16>
}
