// RUN: tracea-opt %s --tracea-select-schedule="target=sm_90a" --split-input-file \
// RUN:   --remark-format=emitRemark --remarks-filter=tracea-doctor 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// The tile follows the grid: a large one, and one with a tile for every
// multiprocessor.

// CHECK-LABEL: @large
// CHECK: schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
// REMARK: remark: [Passed] schedule-selected{{.*}}'gemm.warpgroup' with tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2
// REMARK-SAME: 32 x 16 tiles are 4 waves on 132 multiprocessors, a step of k is bound by multiplies; next is tile = [{{[0-9, ]+}}], slots = {{.+}} with 1.{{[0-9]+}} times the cycles
func.func @large(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<4096x4096xbf16>)
  return %0 : tensor<4096x4096xbf16>
}

// -----

// Only the run knows where rows begin: what bulk copies cannot read is left to lanes.
// CHECK-LABEL: @few_rows
// CHECK: schedule <variant = "gemm.skinny", unit = wgmma, tile = [16, 64, 128], slots = 9, producers = 1, consumers = 1, otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [16, 64, 64], {{.*}}>>
// REMARK: 'gemm.skinny' with tile = [16, 64, 128]{{.*}}; where rows do not begin at multiples of 16 bytes 'gemm.warp' with tile = [16, 64, 64]
func.func @few_rows(%a: tensor<16x?xf16>, %b: tensor<?x?xf16>, %d: tensor<16x?xf32>) -> tensor<16x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<16x?xf16>, tensor<?x?xf16>) outs(%d : tensor<16x?xf32>)
  return %0 : tensor<16x?xf32>
}

// -----

// Few tiles and a long sum: parts of it.
// CHECK-LABEL: @long_sum
// CHECK: split = {{[2-9]}}>
// REMARK: split = {{[2-9]}}; it copies
func.func @long_sum(%a: tensor<512x16384xf16>, %b: tensor<16384x512xf16>, %d: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<512x16384xf16>, tensor<16384x512xf16>) outs(%d : tensor<512x512xf16>)
  return %0 : tensor<512x512xf16>
}

// -----

// Rows of no whole 16 bytes are padded first, where the product is large.
// CHECK-LABEL: @odd
// CHECK: variant = "gemm.warpgroup"
// REMARK: 'gemm.warpgroup' {{.*}}rows of both operands are padded first
func.func @odd(%a: tensor<4095x4095xbf16>, %b: tensor<4095x4095xbf16>, %d: tensor<4095x4095xbf16>) -> tensor<4095x4095xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<4095x4095xbf16>, tensor<4095x4095xbf16>) outs(%d : tensor<4095x4095xbf16>)
  return %0 : tensor<4095x4095xbf16>
}

// -----

// Few rows: padding the weights would read and write them once more.
// CHECK-LABEL: @odd_weights
// CHECK: variant = "gemm.warp"
func.func @odd_weights(%a: tensor<16x4095xbf16>, %b: tensor<4095x4095xbf16>, %d: tensor<16x4095xbf16>) -> tensor<16x4095xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<16x4095xbf16>, tensor<4095x4095xbf16>) outs(%d : tensor<16x4095xbf16>)
  return %0 : tensor<16x4095xbf16>
}

// -----

// Short sums: while one team finishes a tile, the other multiplies.
// CHECK-LABEL: @short_sum
// CHECK: tile = [128, 192, 64], slots = 4, producers = 1, consumers = 1, group = 16, ping_pong = 2>
// REMARK: with tile = [128, 192, 64], slots = 4, producers = 1, consumers = 1, group = 16, ping_pong = 2
func.func @short_sum(%a: tensor<16384x1024xbf16>, %b: tensor<4096x1024xbf16>, %d: tensor<16384x4096xbf16>) -> tensor<16384x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<16384x1024xbf16>, tensor<4096x1024xbf16>) outs(%d : tensor<16384x4096xbf16>)
  return %0 : tensor<16384x4096xbf16>
}

// -----

// One team alone waits long for a whole tile of another operand: fewer sums
// leave registers to load it ahead.
// CHECK-LABEL: @short_sum_and_residual
// CHECK: tile = [128, 128, 64], {{.*}} ping_pong = 2>
func.func @short_sum_and_residual(%a: tensor<16384x1024xbf16>, %b: tensor<4096x1024xbf16>, %r: tensor<16384x4096xbf16>, %d: tensor<16384x4096xbf16>) -> tensor<16384x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<16384x1024xbf16>, tensor<4096x1024xbf16>) outs(%d : tensor<16384x4096xbf16>)
    epilogue(%r by affine_map<(i, j) -> (i, j)> : tensor<16384x4096xbf16>) {
    ^bb0(%sum: f32, %x: bf16):
      %y = arith.extf %x : bf16 to f32
      %z = arith.addf %sum, %y : f32
      %t = arith.truncf %z : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<16384x4096xbf16>
}

// -----

// Sums that end so late that four waves of larger tiles are faster, unless the
// epilogue takes its time.
// CHECK-LABEL: @functions
// CHECK-NOT: turns
// CHECK: return
// CHECK: tracea.gemm
// CHECK-SAME: ping_pong = 2>
func.func @functions(%a: tensor<4096x2048xbf16>, %b: tensor<4096x2048xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x2048xbf16>, tensor<4096x2048xbf16>) outs(%d : tensor<4096x4096xbf16>)
  return %0 : tensor<4096x4096xbf16>
}
func.func @many_functions(%a: tensor<4096x2048xbf16>, %b: tensor<4096x2048xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x2048xbf16>, tensor<4096x2048xbf16>) outs(%d : tensor<4096x4096xbf16>)
    epilogue {
    ^bb0(%sum: f32):
      %u = math.erf %sum : f32
      %v = math.exp %u : f32
      %w = math.tanh %v : f32
      %x = arith.divf %w, %sum : f32
      %t = arith.truncf %x : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<4096x4096xbf16>
}
