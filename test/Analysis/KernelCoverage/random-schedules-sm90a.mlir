// Schedules that random plans of a variant found, of legal products: their sums
// are as the operation defines them, and what is assembled keeps the protocol.
// RUN: tracea-opt %s --split-input-file --tracea-compile="target=sm_90a from=decision to=pipeline require-proof=true" | FileCheck %s
// RUN: tracea-opt %s --split-input-file --tracea-compile="target=sm_90a from=decision require-proof=true" -o %t 2>&1 | count 0
// RUN: FileCheck %s --check-prefix=TARGET --input-file=%t
// CHECK-COUNT-9: 1 sum in them as defined with each term once
// TARGET-COUNT-9: check = "target-protocol", claim = "{{[34]}} roles, 1 rings, every trip count"

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

// -----

// One tile for each of six batches: the number of the tile says which, and the
// sum has two steps, both of them outside of a loop.
func.func @single_tiles(%a: tensor<2x3x97x8xbf16>, %b: tensor<2x3x97x1xbf16>, %e: tensor<2x3x8x1xf32>) -> tensor<2x3x8x1xf32> {
  %r = tracea.gemm transpose_lhs ins(%a, %b : tensor<2x3x97x8xbf16>, tensor<2x3x97x1xbf16>) outs(%e : tensor<2x3x8x1xf32>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 128, 64], slots = 4, producers = 1, consumers = 1, group = 16>
  return %r : tensor<2x3x8x1xf32>
}

// -----

// The same with one batch, whose only tile has the number 0.
func.func @single_tile(%a: tensor<1x96x48xf16>, %b: tensor<96x64xf16>, %e: tensor<1x48x64xf16>) -> tensor<1x48x64xf16> {
  %r = tracea.gemm transpose_lhs ins(%a, %b : tensor<1x96x48xf16>, tensor<96x64xf16>) outs(%e : tensor<1x48x64xf16>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 4, producers = 1, consumers = 1, group = 16>
  return %r : tensor<1x48x64xf16>
}

// -----

// One column: of two teams only the first has it, and of its tile only the first column.
func.func @single_column(%a: tensor<65x31xf16>, %b: tensor<1x65xf16>, %e: tensor<31x1xf16>) -> tensor<31x1xf16> {
  %r = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<65x31xf16>, tensor<1x65xf16>) outs(%e : tensor<31x1xf16>)
         schedule <variant = "gemm.skinny", unit = wgmma, tile = [32, 128, 64], slots = 4, producers = 1, consumers = 2>
  return %r : tensor<31x1xf16>
}

// -----

// Seventeen steps, of which the consumer has the first one in front of its loop.
func.func @seventeen_steps(%a: tensor<48x1032xf16>, %b: tensor<1032x16xf16>, %e: tensor<48x16xf16>) -> tensor<48x16xf16> {
  %r = tracea.gemm ins(%a, %b : tensor<48x1032xf16>, tensor<1032x16xf16>) outs(%e : tensor<48x16xf16>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 12, producers = 1, consumers = 1, group = 16>
  return %r : tensor<48x16xf16>
}

// -----

// Half of a consumer's warps have no rows: that they store nothing makes no role
// of them, since they multiply with the others.
func.func @idle_warps(%a: tensor<3x31x8xbf16>, %b: tensor<3x8x47xbf16>, %e: tensor<3x31x47xf32>) -> tensor<3x31x47xf32> {
  %r = tracea.gemm ins(%a, %b : tensor<3x31x8xbf16>, tensor<3x8x47xbf16>) outs(%e : tensor<3x31x47xf32>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 4, producers = 1, consumers = 1, group = 16>
  return %r : tensor<3x31x47xf32>
}

// -----

// Of four parts of a tile's columns the last three have none of the result's.
func.func @empty_parts(%a: tensor<3x48x40xf16>, %b: tensor<3x40x3xf16>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3x48x3xf16> {
  %e = tensor.empty() : tensor<3x48x3xf16>
  %r = tracea.gemm ins(%a, %b : tensor<3x48x40xf16>, tensor<3x40x3xf16>) outs(%e : tensor<3x48x3xf16>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 256, 64], slots = 3, producers = 1, consumers = 1, group = 16>
         epilogue(%x by affine_map<(b, i, j) -> (j)>, %y by affine_map<(b, i, j) -> (j)> : tensor<3xf32>, tensor<3xf32>) {
    ^bb0(%acc: f32, %x1: f32, %y1: f32):
      %f = math.erf %acc : f32
      %s = arith.addf %f, %x1 : f32
      %u = arith.addf %s, %y1 : f32
      %t = arith.truncf %u : f32 to f16
      tracea.yield %t : f16
  }
  return %r : tensor<3x48x3xf16>
}

// -----

// No tiles at all: the producers, which have nothing to do, still give their
// registers to the consumers.
// CHECK: tracea_pipe.kernel @gemm_{{.*}}memref<0x8x96xf16>
// CHECK: tracea_pipe.role "producer" warps [0, 4] registers 40
func.func @empty(%a: tensor<0x8x16xf16>, %b: tensor<0x16x96xf16>, %e: tensor<0x8x96xf16>) -> tensor<0x8x96xf16> {
  %r = tracea.gemm ins(%a, %b : tensor<0x8x16xf16>, tensor<0x16x96xf16>) outs(%e : tensor<0x8x96xf16>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 64, 64], slots = 4, producers = 1, consumers = 2, group = 16>
  return %r : tensor<0x8x96xf16>
}

// -----

// No tiles, as the host's comparison with the first factor says, whose batch has
// no products: the digits of a tile's number are not asked for.
func.func @empty_batch(%a: tensor<?x0x?x96xbf16>, %b: tensor<?x?xbf16>, %e: tensor<?x?x63x32xf32>) -> tensor<?x?x63x32xf32> {
  %r = tracea.gemm ins(%a, %b : tensor<?x0x?x96xbf16>, tensor<?x?xbf16>) outs(%e : tensor<?x?x63x32xf32>)
         schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 4, producers = 1, consumers = 1, group = 16>
  return %r : tensor<?x?x63x32xf32>
}

// -----

// Groups of no rows may have tiles, of which none is written.
func.func @empty_groups(%a: tensor<?x64xi8>, %b: tensor<?x8x64xi8>, %ends: tensor<?xi64>, %x: tensor<0x8xi32>) -> tensor<?x8xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x64xi8>
  %e = tensor.empty(%n) : tensor<?x8xi32>
  %r = tracea.grouped_gemm transpose_rhs ins(%a, %b, %ends : tensor<?x64xi8>, tensor<?x8x64xi8>, tensor<?xi64>) outs(%e : tensor<?x8xi32>)
         schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [64, 64, 128], slots = 12, producers = 1, consumers = 1, group = 16>
         epilogue(%x by affine_map<(i, j) -> (i, j)> : tensor<0x8xi32>) {
    ^bb0(%acc: i32, %y: i32):
      %s = arith.addi %acc, %y : i32
      tracea.yield %s : i32
  }
  return %r : tensor<?x8xi32>
}

// -----

// The same where a factor's type tells.
func.func @empty_factor(%a: tensor<0x64xi8>, %b: tensor<2x100x64xi8>, %ends: tensor<2xi32>, %e: tensor<?x100xi32>) -> tensor<?x100xi32> {
  %r = tracea.grouped_gemm transpose_rhs ins(%a, %b, %ends : tensor<0x64xi8>, tensor<2x100x64xi8>, tensor<2xi32>) outs(%e : tensor<?x100xi32>)
         schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [64, 64, 128], slots = 12, producers = 1, consumers = 1, group = 16>
  return %r : tensor<?x100xi32>
}
