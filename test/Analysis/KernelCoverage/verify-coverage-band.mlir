// Sums of the terms in a band: a tile visits the keys that its queries need, each
// once. Where the operation is said to need more, some are missing.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" -o %t.mlir
// RUN: FileCheck %s <%t.mlir
// RUN: sed 's/after = 0/after = 1/' %t.mlir | not tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: sed 's/before = 100/before = 164/' %t.mlir | not tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" 2>&1 | FileCheck %s --check-prefix=BEFORE

// CHECK: band = #tracea_pipe.band<result = 3, dim = 2, operands = [1, 2], dims = [2, 2], before = 100, after = 0>
// CHECK: claim = "all elements of 1 result written exactly once

// AFTER:  error: 'tracea_pipe.store' op loses terms of a sum: with {{.*}}an element needs one that its tile does not visit, where
// AFTER:  note: the terms are visited here
// BEFORE: error: 'tracea_pipe.store' op loses terms of a sum: with {{.*}}an element needs one that its tile does not visit, where
func.func @attention(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x8x?x64xbf16>, %v: tensor<2x8x?x64xbf16>, %e: tensor<2x8x?x64xbf16>) -> tensor<2x8x?x64xbf16> {
  %0 = tracea.attention causal window [100, -1] ins(%q, %k, %v : tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>) outs(%e : tensor<2x8x?x64xbf16>) -> tensor<2x8x?x64xbf16>
  return %0 : tensor<2x8x?x64xbf16>
}
