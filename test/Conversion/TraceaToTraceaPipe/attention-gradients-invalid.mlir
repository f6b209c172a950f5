// Schedules of attention's gradients that the lowering cannot follow.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --split-input-file --verify-diagnostics

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @unit(%q: tensor<2x2x64x64xbf16>, %l: tensor<2x2x64xf32>) -> tensor<2x2x64x64xbf16> {
  // expected-error @+1 {{expects the unit 'mma_sync' for the variant 'attention_qgrad.warp', found}}
  %0 = tracea.attention_qgrad ins(%q, %q, %q, %q, %l, %l : tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64xf32>, tensor<2x2x64xf32>) outs(%q : tensor<2x2x64x64xbf16>)
    schedule <variant = "attention_qgrad.warp", unit = vector, tile = [64, 64], registers = [16, 64]> -> tensor<2x2x64x64xbf16>
  return %0 : tensor<2x2x64x64xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @rows(%q: tensor<2x2x64x64xbf16>, %l: tensor<2x2x64xf32>) -> tensor<2x2x64x64xbf16> {
  // expected-error @+1 {{expects 'registers' of a multiple of 16 rows}}
  %0 = tracea.attention_qgrad ins(%q, %q, %q, %q, %l, %l : tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64xf32>, tensor<2x2x64xf32>) outs(%q : tensor<2x2x64x64xbf16>)
    schedule <variant = "attention_qgrad.warp", unit = mma_sync, tile = [64, 64], registers = [8, 64]> -> tensor<2x2x64x64xbf16>
  return %0 : tensor<2x2x64x64xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @type(%q: tensor<2x2x64x64xf32>, %l: tensor<2x2x64xf32>) -> tensor<2x2x64x64xf32> {
  // expected-error @+1 {{expects operands of f16 or bf16 for the variant 'attention_qgrad.warp', found 'f32'}}
  %0 = tracea.attention_qgrad ins(%q, %q, %q, %q, %l, %l : tensor<2x2x64x64xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64xf32>, tensor<2x2x64xf32>) outs(%q : tensor<2x2x64x64xf32>)
    schedule <variant = "attention_qgrad.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64]> -> tensor<2x2x64x64xf32>
  return %0 : tensor<2x2x64x64xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @sums(%q: tensor<2x2x64x64xbf16>, %l: tensor<2x2x64xf32>) -> tensor<2x2x64x64xbf16> {
  // expected-error @+1 {{expects an accumulator of f32 for the variant 'attention_qgrad.warp', found 'f64'}}
  %0 = tracea.attention_qgrad acc f64 ins(%q, %q, %q, %q, %l, %l : tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64xf32>, tensor<2x2x64xf32>) outs(%q : tensor<2x2x64x64xbf16>)
    schedule <variant = "attention_qgrad.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64]> -> tensor<2x2x64x64xbf16>
  return %0 : tensor<2x2x64x64xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @lengths(%q: tensor<2x2x64x64xbf16>, %l: tensor<2x2x64xf32>, %n: tensor<2xi32>) -> tensor<2x2x64x64xbf16> {
  // expected-error @+1 {{expects no lengths for the variant 'attention_qgrad.warp'}}
  %0 = tracea.attention_qgrad ins(%q, %q, %q, %q, %l, %l : tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64xf32>, tensor<2x2x64xf32>) lengths(%n : tensor<2xi32>) outs(%q : tensor<2x2x64x64xbf16>)
    schedule <variant = "attention_qgrad.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64]> -> tensor<2x2x64x64xbf16>
  return %0 : tensor<2x2x64x64xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
func.func @mask(%q: tensor<2x2x64x64xbf16>, %l: tensor<2x2x64xf32>, %n: tensor<1x1x1x1xi1>) -> tensor<2x2x64x64xbf16> {
  // expected-error @+1 {{expects no block mask for the variant 'attention_qgrad.warp'}}
  %0 = tracea.attention_qgrad ins(%q, %q, %q, %q, %l, %l : tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64x64xbf16>, tensor<2x2x64xf32>, tensor<2x2x64xf32>) block_mask(%n : tensor<1x1x1x1xi1>) block_size [64, 64] outs(%q : tensor<2x2x64x64xbf16>)
    schedule <variant = "attention_qgrad.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64]> -> tensor<2x2x64x64xbf16>
  return %0 : tensor<2x2x64x64xbf16>
}
}
