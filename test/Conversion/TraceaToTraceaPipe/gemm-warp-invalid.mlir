// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf64>, %b: tensor<8x8xf64>, %d: tensor<8x8xf64>) -> tensor<8x8xf64> {
  // expected-error @below {{expects operands of f32, f16, bf16, f8E4M3FN, f8E5M2 or i8 for the variant 'gemm.warp', found 'f64'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf64>, tensor<8x8xf64>) outs(%d : tensor<8x8xf64>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32]>
  return %0 : tensor<8x8xf64>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects operands of f32 for the variant 'gemm.tf32x3', found 'f16'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.tf32x3", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32]>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects the unit 'mma_sync' for the variant 'gemm.warp'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warp", unit = wgmma, tile = [64, 64, 32], registers = [32, 32]>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects 'registers' of multiples of 16, a power of two of which make the 'tile'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [64, 64, 32], registers = [32, 24]>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects 'registers' of multiples of 16, a power of two of which make the 'tile'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [96, 64, 32], registers = [32, 32]>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects at most 32 warps}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [512, 512, 32], registers = [32, 64]>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects a multiple of 16 of k}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [64, 64, 24], registers = [32, 32]>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xi8>, %b: tensor<8x8xi8>, %d: tensor<8x8xi32>) -> tensor<8x8xi32> {
  // expected-error @below {{expects operands of 8 bits along k in memory}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xi8>, tensor<8x8xi8>) outs(%d : tensor<8x8xi32>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32]>
  return %0 : tensor<8x8xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects pixels for a 'table' for the variant 'gemm.warp', found}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32], table = 1>
  return %0 : tensor<8x8xf16>
}
}
