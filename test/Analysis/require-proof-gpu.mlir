// Products that are legal have all proofs, on both levels.
// RUN: tracea-opt %s --split-input-file -o %t --tracea-compile="target=sm_90a require-proof=true" 2>&1 | count 0
// RUN: grep -oE "module|llvm.func @gemm_[0-9]|check = .target-protocol., claim = .[^,]*" %t | FileCheck %s

// Half of the warps copy the rows of the first operand: the others come by.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "{{[134]}} roles
func.func @main(%a: tensor<512x8xf32>, %b: tensor<64x512xf32>, %d: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %r = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<512x8xf32>, tensor<64x512xf32>) outs(%d : tensor<8x64xf32>)
  return %r : tensor<8x64xf32>
}

// -----

// One warp copies the rows of the first operand.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "{{[134]}} roles
func.func @main(%a: tensor<?x8x100xf8E4M3FN>, %b: tensor<?x8x100xf8E4M3FN>, %e0: tensor<?x8x8xf32>) -> (tensor<?x8x8xf32>, tensor<?x8xf32>, tensor<?x8x8xf32>)  {
  %kdb = arith.constant 0 : index
  %db = tensor.dim %a, %kdb : tensor<?x8x100xf8E4M3FN>
  %d = tensor.empty(%db) : tensor<?x8x8xf32>
  %ad0 = tensor.empty(%db) : tensor<?x8xf32>
  %ad1 = tensor.empty(%db) : tensor<?x8x8xf32>
  %r:3 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x8x100xf8E4M3FN>, tensor<?x8x100xf8E4M3FN>) outs(%d : tensor<?x8x8xf32>) aux(max %ad0 by affine_map<(b, m, n) -> (b, m)>, %ad1 by affine_map<(b, m, n) -> (b, m, n)> : tensor<?x8xf32>, tensor<?x8x8xf32>) epilogue(%e0 by affine_map<(b, m, n) -> (b, m, n)> : tensor<?x8x8xf32>) {
    ^bb0(%acc: f32, %b1: f32):
      %y1 = arith.addf %acc, %b1 : f32
      tracea.yield %y1, %y1, %acc : f32, f32, f32
    }
  return %r#0, %r#1, %r#2 : tensor<?x8x8xf32>, tensor<?x8xf32>, tensor<?x8x8xf32>
}

// -----

// Fragments are read across rows of 64 bytes.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "{{[134]}} roles
func.func @main(%a: tensor<64x8xf32>, %b: tensor<64x64xf32>, %d: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {tracea.allow_tf32} {
  %r = tracea.gemm transpose_lhs ins(%a, %b : tensor<64x8xf32>, tensor<64x64xf32>) outs(%d : tensor<8x64xf32>)
  return %r : tensor<8x64xf32>
}

// -----

// A grid of one tile has one place.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "{{[134]}} roles
func.func @main(%a: tensor<64x?xf16>, %b: tensor<?x64xf16>, %e0: tensor<f32>, %e1: tensor<64x64xf32>) -> (tensor<64x64xf32>)  {
  %d = tensor.empty() : tensor<64x64xf32>
  %r = tracea.gemm ins(%a, %b : tensor<64x?xf16>, tensor<?x64xf16>) outs(%d : tensor<64x64xf32>)  epilogue(%e0 by affine_map<(m, n) -> ()>, %e1 by affine_map<(m, n) -> (m, n)> : tensor<f32>, tensor<64x64xf32>) {
    ^bb0(%acc: f32, %b1: f32, %b2: f32):
      %y1 = arith.addf %acc, %b1 : f32
      %y2 = arith.addf %y1, %b2 : f32
      tracea.yield %y2 : f32
    }
  return %r : tensor<64x64xf32>
}

// -----

// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "{{[134]}} roles
func.func @main(%a: tensor<1x4096xf8E4M3FN>, %b: tensor<64x4096xf8E4M3FN>, %e0: tensor<1xf32>) -> (tensor<1x64xf8E4M3FN>)  {
  %d = tensor.empty() : tensor<1x64xf8E4M3FN>
  %r = tracea.gemm transpose_rhs ins(%a, %b : tensor<1x4096xf8E4M3FN>, tensor<64x4096xf8E4M3FN>) outs(%d : tensor<1x64xf8E4M3FN>)  epilogue(%e0 by affine_map<(m, n) -> (m)> : tensor<1xf32>) {
    ^bb0(%acc: f32, %b1: f32):
      %y1 = arith.addf %acc, %b1 : f32
      %t1 = arith.truncf %y1 : f32 to f8E4M3FN
      tracea.yield %t1 : f8E4M3FN
    }
  return %r : tensor<1x64xf8E4M3FN>
}

// -----

// One tile of each of many products.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "{{[134]}} roles
func.func @main(%a: tensor<1000x64x64xf16>, %b: tensor<1000x64x64xf16>) -> tensor<1000x64x64xf16> {
  %d = tensor.empty() : tensor<1000x64x64xf16>
  %r = tracea.gemm ins(%a, %b : tensor<1000x64x64xf16>, tensor<1000x64x64xf16>) outs(%d : tensor<1000x64x64xf16>)
  return %r : tensor<1000x64x64xf16>
}

// -----

// A tile in turn of one of many products; its sum has two steps.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "4 roles
func.func @main(%a: tensor<64x1024x128xbf16>, %b: tensor<64x1024x128xbf16>) -> tensor<64x1024x1024xbf16> {
  %d = tensor.empty() : tensor<64x1024x1024xbf16>
  %r = tracea.gemm transpose_rhs ins(%a, %b : tensor<64x1024x128xbf16>, tensor<64x1024x128xbf16>) outs(%d : tensor<64x1024x1024xbf16>)
  return %r : tensor<64x1024x1024xbf16>
}

// -----

// A result without elements has no terms to lose.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "1 roles
func.func @main(%a: tensor<129x32xf32>, %b: tensor<129x0xf32>) -> tensor<32x0xf32> {
  %d = tensor.empty() : tensor<32x0xf32>
  %r = tracea.gemm transpose_lhs ins(%a, %b : tensor<129x32xf32>, tensor<129x0xf32>) outs(%d : tensor<32x0xf32>)
  return %r : tensor<32x0xf32>
}

// -----

// A sum without terms: nothing of it is read.
// CHECK: module
func.func @main(%a: tensor<95x0xf16>, %b: tensor<0x127xf16>, %d: tensor<95x127xf16>) -> tensor<95x127xf16> {
  %r = tracea.gemm ins(%a, %b : tensor<95x0xf16>, tensor<0x127xf16>) outs(%d : tensor<95x127xf16>)
  return %r : tensor<95x127xf16>
}

// -----

// A factor without rows says that a result whose type does not tell has none.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
// CHECK-NEXT: check = "target-protocol", claim = "{{[134]}} roles
func.func @main(%a: tensor<?x?xf32>, %b: tensor<0x2xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<?x?xf32>, tensor<0x2xf32>) outs(%d : tensor<?x?xf32>)
  return %r : tensor<?x?xf32>
}

// -----

// Half of the warps have rows past the end of the result, and store nothing.
// CHECK: module
// CHECK-NEXT: llvm.func @gemm_0
func.func @main(%a: tensor<64x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<64x256xbf16> {
  %d = tensor.empty() : tensor<64x256xbf16>
  %r = tracea.gemm transpose_rhs ins(%a, %b : tensor<64x256xbf16>, tensor<256x256xbf16>) outs(%d : tensor<64x256xbf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 32], slots = 4, group = 16>
  return %r : tensor<64x256xbf16>
}
