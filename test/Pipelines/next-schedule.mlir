// A certificate decides which schedule is taken: sums of f64 in 4x8 registers of a lane do
// not fit, so that the operation takes the next schedule that does; the other one keeps its own.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true to=pipeline" -o %t 2>%t.err
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// The pass by itself, as the driver runs it.
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea-lower-scheduled{target=sm_90a require-proof=true})" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t
// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t.tracea 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline" -o /dev/null --remark-format=emitRemark \
// RUN:   --remarks-filter=tracea-doctor 2>&1 | FileCheck %s --check-prefix=FILTERED

// REMARK: next-schedule.mlir:{{[0-9]+}}:8: remark: tracea.gemm: gives up 'gemm.simt' with tile = [64, 64, 32], registers = [4, 8]
// REMARK-SAME: and takes 'gemm.simt' with tile
// REMARK-SAME: does not fit
// REMARK-NOT: error:
// FILTERED: [Missed] schedule-given-up

// CHECK-COUNT-4: check = "resources"

// Whoever has written a schedule gets the error.
// RUN: sed -e 's/outs(%e : tensor<100x?xf64>)/& schedule <variant = "gemm.simt", unit = vector, tile = [64, 64, 32], registers = [4, 8], slots = 4, group = 16>/' %s > %t.given.mlir
// RUN: not tracea-opt %t.given.mlir --mlir-print-op-on-diagnostic=false -o /dev/null \
// RUN:   --tracea-compile="target=sm_90a to=pipeline" 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN-NOT: gives up
// GIVEN: error: 'tracea_pipe.kernel' op does not fit: role
// GIVEN-NOT: gives up

func.func @main(%a: tensor<100x128xf16>, %b: tensor<128x?xf16>, %x: tensor<256x256xbf16>, %y: tensor<256x256xbf16>)
    -> (tensor<100x?xf64>, tensor<256x256xbf16>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c1 : tensor<128x?xf16>
  %e = tensor.empty(%n) : tensor<100x?xf64>
  %r = tracea.gemm acc f64 ins(%a, %b : tensor<100x128xf16>, tensor<128x?xf16>) outs(%e : tensor<100x?xf64>)
  %f = tensor.empty() : tensor<256x256xbf16>
  %s = tracea.gemm ins(%x, %y : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<256x256xbf16>)
  return %r, %s : tensor<100x?xf64>, tensor<256x256xbf16>
}
