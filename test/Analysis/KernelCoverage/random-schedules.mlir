// Schedules that random plans of a variant found, of legal products: their sums
// are as the operation defines them.
// RUN: tracea-opt %s --split-input-file --tracea-compile="target=sm_80 to=pipeline require-proof=true" | FileCheck %s
// CHECK-COUNT-3: 1 sum in them as defined with each term once

// The last row is all of a warp's second part, in the only tile.
func.func @last_row(%a: tensor<65x49xf32>, %b: tensor<49x47xf32>, %e: tensor<65x47xf32>) -> tensor<65x47xf32> {
  %r = tracea.gemm ins(%a, %b : tensor<65x49xf32>, tensor<49x47xf32>) outs(%e : tensor<65x47xf32>)
         schedule <variant = "gemm.warp", unit = mma_sync, tile = [128, 256, 16], registers = [64, 64], slots = 3, group = 16>
  return %r : tensor<65x47xf32>
}

// -----

// The type of a factor tells that the tile's lower half is past the end.
func.func @rows_of_factor(%a: tensor<48x100xf32>, %b: tensor<100x257xf32>, %e: tensor<?x257xf16>) -> tensor<?x257xf16> {
  %r = tracea.gemm ins(%a, %b : tensor<48x100xf32>, tensor<100x257xf32>) outs(%e : tensor<?x257xf16>)
         schedule <variant = "gemm.warp", unit = mma_sync, tile = [128, 256, 16], registers = [64, 64], slots = 3, group = 16>
  return %r : tensor<?x257xf16>
}

// -----

// Lanes with many sums, which convert what they read: less of it at a time.
func.func @converted(%a: tensor<48x16xf16>, %b: tensor<13x16xf16>, %e: tensor<48x13xf16>) -> tensor<48x13xf16> {
  %r = tracea.gemm transpose_rhs ins(%a, %b : tensor<48x16xf16>, tensor<13x16xf16>) outs(%e : tensor<48x13xf16>)
         schedule <variant = "gemm.simt", unit = vector, tile = [128, 128, 64], registers = [8, 8], slots = 2, group = 16>
  return %r : tensor<48x13xf16>
}
