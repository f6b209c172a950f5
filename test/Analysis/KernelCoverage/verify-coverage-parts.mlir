// Attention whose keys are split: parts take blocks of keys in turn, and each key
// once. A value meets the weight of its own key.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" -o %t.mlir
// RUN: FileCheck %s <%t.mlir
// Parts that visit all blocks behind their first.
// RUN: sed 's/step %c256/step %c64/' %t.mlir | not tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" 2>&1 | FileCheck %s --check-prefix=TWICE
// Values of the keys of the step before.
// RUN: sed -E '/scf.for/,$ s/copy %arg2\[%arg6, %arg7, %[0-9]+, %c0\]/copy %arg2[%arg6, %arg7, %arg10, %c0]/' %t.mlir | not tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" 2>&1 | FileCheck %s --check-prefix=VALUES

// TWICE:  error: 'tracea_pipe.copy' op adds a term to a sum twice: {{.*}}of argument #1 comes where index 0 of the tile = 0,
// TWICE:  error: 'tracea_pipe.copy' op adds a term to a sum twice: {{.*}}of argument #2 comes where index 0 of the tile = 0,
// VALUES: error: 'tracea_pipe.mma' op multiplies what does not belong together: {{.*}}its operands are at different places of the sum, 256 apart

// CHECK: claim = "all elements of 2 results written exactly once
// CHECK: pairs of operands in step
// CHECK: claim = "all elements of 1 result written exactly once

func.func @attention(%q: tensor<?x32x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>, %e: tensor<?x32x?x64xbf16>) -> tensor<?x32x?x64xbf16> {
  %0 = tracea.attention causal ins(%q, %k, %v : tensor<?x32x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>) outs(%e : tensor<?x32x?x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 64], registers = [16, 64], slots = 2, residents = 2, pack = 1, split = 4> -> tensor<?x32x?x64xbf16>
  return %0 : tensor<?x32x?x64xbf16>
}
