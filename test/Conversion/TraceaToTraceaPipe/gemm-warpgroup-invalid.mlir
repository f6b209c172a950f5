// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects the unit 'wgmma' for the variant 'gemm.warpgroup', found}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = vector, tile = [128, 256, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects the unit 'wgmma' for the variant 'gemm.skinny', found}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.skinny", unit = mma_sync, tile = [8, 128, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf64>, %b: tensor<8x8xf64>, %d: tensor<8x8xf64>) -> tensor<8x8xf64> {
  // expected-error @below {{expects operands of f16, bf16, f32 (rounded to tf32), f8E4M3FN, f8E5M2 or i8 for the variant 'gemm.warpgroup', found 'f64'}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf64>, tensor<8x8xf64>) outs(%d : tensor<8x8xf64>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf64>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // The unit reads either order of 16-bit elements alone.
  // expected-error @below {{expects k to be the contiguous dimension of both operands of 'f32' for the variant 'gemm.warpgroup' (rhs transposed, lhs not)}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xi8>, %b: tensor<8x8xi8>, %d: tensor<8x8xi32>) -> tensor<8x8xi32> {
  // expected-error @below {{expects k to be the contiguous dimension of both operands of 'i8' for the variant 'gemm.skinny' (rhs transposed, lhs not)}}
  %0 = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<8x8xi8>, tensor<8x8xi8>) outs(%d : tensor<8x8xi32>)
    schedule <variant = "gemm.skinny", unit = wgmma, tile = [8, 128, 128], producers = 1, consumers = 2>
  return %0 : tensor<8x8xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects a tile of 64 rows for each of 1, 2, 4 or 8 consumers (of 128 for a single one) and 8 to 256 columns in eights}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 256, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // A power of two of them.
  // expected-error @below {{expects a tile of 64 rows for each of 1, 2, 4 or 8 consumers (of 128 for a single one) and 8 to 256 columns in eights}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [192, 256, 64], producers = 1, consumers = 3>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects a tile of 64 rows for each of 1, 2, 4 or 8 consumers (of 128 for a single one) and 8 to 256 columns in eights}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 264, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects a tile of 64 rows for each of 1, 2, 4 or 8 consumers (of 128 for a single one) and 8 to 256 columns in eights}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 12, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // Columns are the unit's rows.
  // expected-error @below {{expects a tile of 64 columns for each of 1, 2, 4 or 8 consumers (of 128 for a single one) and 8 to 256 rows in eights}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.skinny", unit = wgmma, tile = [64, 64, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects a tile of 64 columns for each of 1, 2, 4 or 8 consumers (of 128 for a single one) and 8 to 256 rows in eights}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.skinny", unit = wgmma, tile = [12, 128, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @below {{expects k of the tile to be a multiple of 64 for elements of 'f16', found}}
  %0 = tracea.gemm ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%d : tensor<8x8xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 32], producers = 1, consumers = 2>
  return %0 : tensor<8x8xf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @main(%a: tensor<8x8xi8>, %b: tensor<8x8xi8>, %d: tensor<8x8xi32>) -> tensor<8x8xi32> {
  // 128 bytes of them.
  // expected-error @below {{expects k of the tile to be a multiple of 128 for elements of 'i8', found}}
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<8x8xi8>, tensor<8x8xi8>) outs(%d : tensor<8x8xi32>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], producers = 1, consumers = 2>
  return %0 : tensor<8x8xi32>
}
}
