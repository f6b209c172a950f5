// Schedules of attention on GPUs that the lowering cannot follow.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --split-input-file --verify-diagnostics

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @rows(%q: tensor<2x8x64x64xf32>, %e: tensor<2x8x64x64xf32>) -> tensor<2x8x64x64xf32> {
  // expected-error @+1 {{expects 'registers' of a power of two up to 16 rows, of which four times up to 32, a power of two, make the 'tile', and an eighth of its columns, a power of two from 32 on for the variant 'attention.simt', found}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<2x8x64x64xf32>, tensor<2x8x64x64xf32>, tensor<2x8x64x64xf32>) outs(%e : tensor<2x8x64x64xf32>)
    schedule <variant = "attention.simt", unit = vector, tile = [24, 32], registers = [4, 4]> -> tensor<2x8x64x64xf32>
  return %0 : tensor<2x8x64x64xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @unit(%q: tensor<2x8x64x64xf32>, %e: tensor<2x8x64x64xf32>) -> tensor<2x8x64x64xf32> {
  // expected-error @+1 {{expects the unit 'vector' for the variant 'attention.simt', found}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<2x8x64x64xf32>, tensor<2x8x64x64xf32>, tensor<2x8x64x64xf32>) outs(%e : tensor<2x8x64x64xf32>)
    schedule <variant = "attention.simt", unit = mma_sync, tile = [64, 32], registers = [4, 4]> -> tensor<2x8x64x64xf32>
  return %0 : tensor<2x8x64x64xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @heads(%q: tensor<2x?x1x64xbf16>, %k: tensor<2x?x64x64xbf16>, %e: tensor<2x?x1x64xbf16>) -> tensor<2x?x1x64xbf16> {
  // expected-error @+1 {{expects heads that are known where they are the rows of a tile for the variant 'attention.warp', found}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x?x1x64xbf16>, tensor<2x?x64x64xbf16>, tensor<2x?x64x64xbf16>) outs(%e : tensor<2x?x1x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 32], registers = [16, 32], pack = 1> -> tensor<2x?x1x64xbf16>
  return %0 : tensor<2x?x1x64xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @mask(%q: tensor<2x8x16x64xbf16>, %k: tensor<2x2x64x64xbf16>, %m: tensor<1x1x1x1xi1>, %e: tensor<2x8x16x64xbf16>) -> tensor<2x8x16x64xbf16> {
  // expected-error @+1 {{expects rows that are queries where a mask is shown to blocks for the variant 'attention.warp', found}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x8x16x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>) block_mask(%m : tensor<1x1x1x1xi1>) block_size [64, 64] outs(%e : tensor<2x8x16x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 32], registers = [16, 32], pack = 1> -> tensor<2x8x16x64xbf16>
  return %0 : tensor<2x8x16x64xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @parts(%q: tensor<2x8x16x64xbf16>, %k: tensor<2x2x64x64xbf16>, %m: tensor<1x1x1x1xi1>, %e: tensor<2x8x16x64xbf16>) -> tensor<2x8x16x64xbf16> {
  // expected-error @+1 {{expects keys that are not split where a mask is shown to blocks for the variant 'attention.warp', found}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x8x16x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>) block_mask(%m : tensor<1x1x1x1xi1>) block_size [64, 64] outs(%e : tensor<2x8x16x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 32], registers = [16, 32], split = 2> -> tensor<2x8x16x64xbf16>
  return %0 : tensor<2x8x16x64xbf16>
}
}
