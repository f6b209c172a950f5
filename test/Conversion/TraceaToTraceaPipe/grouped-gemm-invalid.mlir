// RUN: tracea-opt %s --split-input-file --convert-tracea-to-tracea-pipe --verify-diagnostics

// Schedules that the unit does not have; errors are about the operation at hand.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @unit(%a: tensor<256x256xbf16>, %b: tensor<4x256x256xbf16>, %e: tensor<4xi32>, %d: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  // expected-error @below {{'tracea.grouped_gemm' op expects the unit 'wgmma' for the variant 'grouped.warpgroup', found}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<256x256xbf16>, tensor<4x256x256xbf16>, tensor<4xi32>) outs(%d : tensor<256x256xbf16>)
    schedule <variant = "grouped.warpgroup", unit = vector, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2>
  return %0 : tensor<256x256xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @bytes(%a: tensor<256x256xi8>, %b: tensor<4x256x256xi8>, %e: tensor<4xi32>, %d: tensor<256x256xi32>) -> tensor<256x256xi32> {
  // expected-error @below {{'tracea.grouped_gemm' op expects k to be the contiguous dimension of both operands of 'i8' for the variant 'grouped.warpgroup' (rhs transposed, lhs not)}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<256x256xi8>, tensor<4x256x256xi8>, tensor<4xi32>) outs(%d : tensor<256x256xi32>)
    schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256, 128], slots = 4, producers = 1, consumers = 2>
  return %0 : tensor<256x256xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @extents(%a: tensor<256x256xbf16>, %b: tensor<4x256x256xbf16>, %e: tensor<4xi32>, %d: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  // expected-error @below {{'tracea.grouped_gemm' op expects a schedule of variant 'grouped.warpgroup' with 3 extents of 'tile', found}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<256x256xbf16>, tensor<4x256x256xbf16>, tensor<4xi32>) outs(%d : tensor<256x256xbf16>)
    schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256], slots = 4, producers = 1, consumers = 2>
  return %0 : tensor<256x256xbf16>
}
}
