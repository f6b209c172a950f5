// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects operands of f16 or bf16 for the variant 'gemm.warpgroup', found 'f32'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects a tile of 64 rows for each of 1, 2, 4 or 8 consumers and 8 to 256 columns in eights}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 256, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects a tile whose operands' rows are multiples of 64 elements}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 32], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects the unit 'wgmma' for the variant 'gemm.warpgroup'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = vector, tile = [128, 256, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}
