// What is chosen for products of groups of rows, and what a given schedule is
// told.
// RUN: split-file %s %t
// RUN: tracea-opt %t/choice.mlir --tracea-select-schedule="target=sm_90a" -o %t/out.mlir \
// RUN:   --remark-format=emitRemark --remarks-filter=tracea-doctor 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=CHOICE < %t/out.mlir
// RUN: tracea-opt %t/choice.mlir --tracea-select-schedule="target=x86-64-v4 threads=2" \
// RUN:   --remark-format=emitRemark --remarks-filter=tracea-doctor 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: tracea-opt %t/refused.mlir --split-input-file --tracea-select-schedule="target=sm_90a" --verify-diagnostics
// RUN: tracea-opt %t/bytes.mlir --tracea-select-schedule="target=sm_90a" -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=tracea-doctor 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: tracea-opt %t/open.mlir --tracea-select-schedule="target=sm_90a" -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=tracea-doctor 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: tracea-opt %t/ampere.mlir --tracea-select-schedule="target=sm_80" -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=tracea-doctor 2>&1 | FileCheck %s --check-prefix=AMPERE

// Half a tile of each group counts as unused: more groups, lower tiles.
// REMARK: takes 'grouped.warpgroup' with tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16; it walks over tiles of all groups, whose rows each workgroup finds from their ends: some 72 x 16 tiles, half a tile of each group unused, are 9 waves on 132 multiprocessors, a step of k is bound by multiplies; next is
// REMARK: takes 'grouped.warpgroup' with tile = [64, {{[0-9]+}}, 64]
// CHOICE: schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
// CHOICE: schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [64,

// CPU: tracea.grouped_gemm: falls back to 'linalg', which spells the operation out as loops over scalars

// BYTES: tracea.grouped_gemm: falls back to 'linalg'
// BYTES: 'grouped.warpgroup' is not taken: the unit reads i8 where rows of both operands run along k
// Rows of a known extent begin at whole 16 bytes or are padded; no shape is refused where it is open.
// OPEN: open.mlir:{{.*}} 'grouped.warpgroup' with tile
// OPEN: tracea.grouped_gemm: falls back to 'linalg'
// OPEN: 'grouped.warpgroup' is not taken: only the run knows where rows begin, and its copies need them at multiples of 16 bytes
// AMPERE: tracea.grouped_gemm: falls back to 'linalg'
// AMPERE: 'grouped.warpgroup' is not taken: target 'sm_80' has no unit 'wgmma'

//--- choice.mlir
func.func @experts(%a: tensor<8192x4096xbf16>, %b: tensor<16x4096x4096xbf16>, %e: tensor<16xi32>, %d: tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16> {
  %0 = tracea.grouped_gemm transpose_rhs ins(%a, %b, %e : tensor<8192x4096xbf16>, tensor<16x4096x4096xbf16>, tensor<16xi32>) outs(%d : tensor<8192x4096xbf16>)
  return %0 : tensor<8192x4096xbf16>
}
func.func @many(%a: tensor<2048x2048xbf16>, %b: tensor<256x2048x2048xbf16>, %e: tensor<256xi32>, %d: tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16> {
  %0 = tracea.grouped_gemm transpose_rhs ins(%a, %b, %e : tensor<2048x2048xbf16>, tensor<256x2048x2048xbf16>, tensor<256xi32>) outs(%d : tensor<2048x2048xbf16>)
  return %0 : tensor<2048x2048xbf16>
}

//--- refused.mlir
func.func @parts(%a: tensor<256x256xbf16>, %b: tensor<4x256x256xbf16>, %e: tensor<4xi32>, %d: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<256x256xbf16>, tensor<4x256x256xbf16>, tensor<4xi32>) outs(%d : tensor<256x256xbf16>)
    // expected-error @below {{variant 'grouped.warpgroup' of family 'warpgroup_grouped' has no field 'split'; it takes 'slots', 'producers', 'consumers', 'group', 'residents'}}
    schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, split = 2>
  return %0 : tensor<256x256xbf16>
}

// -----

func.func @rows(%a: tensor<256x256xbf16>, %b: tensor<4x256x256xbf16>, %e: tensor<4xi32>, %d: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  // expected-error @below {{'tracea.grouped_gemm' op schedule is not valid: variant 'grouped.warpgroup' cannot use this plan: tile extent m must be 64 for each consumer, or 128 for a single one, found 96}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<256x256xbf16>, tensor<4x256x256xbf16>, tensor<4xi32>) outs(%d : tensor<256x256xbf16>)
    schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [96, 256, 64], slots = 4, producers = 1, consumers = 2>
  return %0 : tensor<256x256xbf16>
}

//--- open.mlir
func.func @rows(%a: tensor<?x256xbf16>, %b: tensor<?x256x256xbf16>, %e: tensor<?xi32>, %d: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<?x256xbf16>, tensor<?x256x256xbf16>, tensor<?xi32>) outs(%d : tensor<?x256xbf16>)
  return %0 : tensor<?x256xbf16>
}
func.func @columns(%a: tensor<256x256xbf16>, %b: tensor<4x256x?xbf16>, %e: tensor<4xi32>, %d: tensor<256x?xbf16>) -> tensor<256x?xbf16> {
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<256x256xbf16>, tensor<4x256x?xbf16>, tensor<4xi32>) outs(%d : tensor<256x?xbf16>)
  return %0 : tensor<256x?xbf16>
}

//--- bytes.mlir
// The unit reads bytes along k alone.
func.func @bytes(%a: tensor<256x256xi8>, %b: tensor<4x256x256xi8>, %e: tensor<4xi32>, %d: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<256x256xi8>, tensor<4x256x256xi8>, tensor<4xi32>) outs(%d : tensor<256x256xi32>)
  return %0 : tensor<256x256xi32>
}

//--- ampere.mlir
func.func @ampere(%a: tensor<256x256xbf16>, %b: tensor<4x256x256xbf16>, %e: tensor<4xi32>, %d: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<256x256xbf16>, tensor<4x256x256xbf16>, tensor<4xi32>) outs(%d : tensor<256x256xbf16>)
  return %0 : tensor<256x256xbf16>
}
