// Schedules that random plans of a variant found, of legal products: their sums
// are as the operation defines them.
// RUN: tracea-opt %s --split-input-file --tracea-compile="target=sm_90a from=decision to=pipeline require-proof=true" | FileCheck %s
// CHECK-COUNT-3: 1 sum in them as defined with each term once

// A factor is a padded copy, whose type has more than the other has at run time.
func.func @padded(%a: tensor<?x257xf16>, %b: tensor<?x?xf16>) -> tensor<33x32xbf16> {
  %e = tensor.empty() : tensor<33x32xbf16>
  %r = tracea.gemm ins(%a, %b : tensor<?x257xf16>, tensor<?x?xf16>) outs(%e : tensor<33x32xbf16>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 10, producers = 1, consumers = 1, group = 16>
         epilogue {
    ^bb0(%acc: f32):
      %zero = arith.constant 0.0 : f32
      %minus = arith.constant -1.0 : f32
      %n = arith.mulf %acc, %minus : f32
      %m = arith.maximumf %n, %zero : f32
      %t = arith.truncf %m : f32 to bf16
      tracea.yield %t : bf16
  }
  return %r : tensor<33x32xbf16>
}

// -----

// The number of a persistent tile has four digits: two batches, a row, a column.
func.func @batches(%a: tensor<2x5x7x128xf16>, %b: tensor<2x5x128x72xf16>, %e: tensor<2x5x7x72xf16>) -> tensor<2x5x7x72xf16> {
  %r = tracea.gemm ins(%a, %b : tensor<2x5x7x128xf16>, tensor<2x5x128x72xf16>) outs(%e : tensor<2x5x7x72xf16>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 4, producers = 1, consumers = 1, group = 16>
  return %r : tensor<2x5x7x72xf16>
}

// -----

// The number of a persistent tile is taken apart by a constant, then by an extent that only the run knows.
func.func @known_and_unknown(%a: tensor<3x?x?x?xbf16>, %b: tensor<3x?x?x96xbf16>, %e: tensor<3x?x5x96xbf16>) -> tensor<3x?x5x96xbf16> {
  %r = tracea.gemm ins(%a, %b : tensor<3x?x?x?xbf16>, tensor<3x?x?x96xbf16>) outs(%e : tensor<3x?x5x96xbf16>)
         schedule <variant = "gemm.skinny", unit = wgmma, tile = [16, 64, 128], slots = 9, producers = 1, consumers = 1>
  return %r : tensor<3x?x5x96xbf16>
}
