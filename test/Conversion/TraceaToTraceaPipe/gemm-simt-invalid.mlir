// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects the unit 'vector' for the variant 'gemm.simt'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.simt", unit = mma_sync, tile = [64, 64, 16], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects 'registers' of powers of two up to 16}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [48, 64, 16], registers = [12, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects 'registers' of powers of two up to 16, and a 'tile' of a power of two of 4 times their rows and 8 times their columns}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [96, 64, 16], registers = [8, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects at most 128 sums in the registers of a lane}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [64, 128, 16], registers = [16, 16]>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects at most 32 warps}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [256, 256, 16], registers = [4, 4]>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects a power of two of k that takes 32 to 256 bytes}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [64, 64, 4], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects a power of two of k that takes 32 to 256 bytes}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [64, 64, 24], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects pixels for a 'table' for the variant 'gemm.simt', found}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [64, 64, 16], registers = [4, 8], table = 1>
  return %0 : tensor<8x8xf32>
}
}
