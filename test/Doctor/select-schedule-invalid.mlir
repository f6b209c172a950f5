// RUN: tracea-opt %s --tracea-select-schedule="target=znver4 threads=2" \
// RUN:   --split-input-file --verify-diagnostics

func.func @unknown_variant(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         // expected-error @below {{there is no variant 'gemm.paked'; there are 'gemm.packed', 'gemm.direct', }}
         schedule <variant = "gemm.paked", unit = vector>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @wrong_op(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  // expected-error @below {{'tracea.gemm' op schedule is not valid: variant 'row' does not compute tracea.gemm}}
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "row", unit = vector, registers = [1, 16]>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @wrong_tile_rank(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  // expected-error @below {{variant 'gemm.packed' cannot use this plan: the tile [m, n, k, staged m] must have 4 extents, found 3}}
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "gemm.packed", unit = vector,
                   tile = [64, 64, 64], registers = [8, 32]>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @more_parts_than_steps(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  // expected-error @below {{variant 'gemm.packed' cannot use this plan: k has fewer steps than the 3 parts of the sum}}
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "gemm.packed", unit = vector,
                   tile = [64, 64, 32, 64], registers = [8, 32], split = 3>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @wrong_register_rank(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "gemm.packed", unit = vector,
                   // expected-error @below {{expected 'registers' with 2 extents, found 1}}
                   tile = [64, 64, 64, 64], registers = [8]>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @lanes(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  // expected-error @below {{the columns of the register tile must be a multiple of 16, found 24}}
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "gemm.packed", unit = vector,
                   tile = [64, 48, 64, 64], registers = [8, 24]>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @wrong_unit(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  // expected-error @below {{target 'znver4' has no unit 'wgmma'}}
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "gemm.packed", unit = wgmma,
                   tile = [64, 64, 64, 64], registers = [8, 32]>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @rings(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  // expected-error @below {{a CPU variant has one slot and no raster groups}}
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "gemm.packed", unit = vector,
                   tile = [64, 64, 64, 64], registers = [8, 32], slots = 4>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @unmet(%x: tensor<1x58x58x64xf32>, %w: tensor<64x3x3x64xf32>,
                 %d: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  // expected-error @below {{variant 'conv2d.depthwise' cannot be used: the convolution is not depthwise}}
  %0 = tracea.conv2d layout nhwc filter krsc
         ins(%x, %w : tensor<1x58x58x64xf32>, tensor<64x3x3x64xf32>)
         outs(%d : tensor<1x56x56x64xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector,
                   tile = [4, 8, 32], registers = [8, 32]>
  return %0 : tensor<1x56x56x64xf32>
}

// -----

// expected-error @below {{unknown target 'sm_90'; the closest are 'sm_90a'}}
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90",
    triple = "nvptx64-nvidia-cuda", cpu = "sm_90", cores = 2>} {
}

// -----

// expected-error @below {{target 'sm_90a' is of kind cuda, found cpu}}
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sm_90a",
    triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 2>} {
}

// -----

// No variant for this kind of target: an error, never a silent fallback.
module attributes {tracea.target = #tracea.target<kind = metal,
    name = "apple-m3", triple = "", cpu = "", cores = 2>} {
  func.func @no_variant(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
      -> tensor<64x64xf32> {
    // expected-error @below {{'tracea.gemm' op has no variant for target 'apple-m3'}}
    %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                     outs(%d : tensor<64x64xf32>)
    return %0 : tensor<64x64xf32>
  }
}

// -----

func.func @huge_panels(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  // expected-error @below {{variant 'gemm.packed' cannot use this plan: the panels take 8796093022208 bytes, more than 268435456}}
  %0 = tracea.gemm ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "gemm.packed", unit = vector,
                   tile = [1048576, 1048576, 1048576, 1048576],
                   registers = [8, 32]>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @no_words(%q: tensor<1x2x64x16xf32>, %d: tensor<1x2x64x16xf32>)
    -> tensor<1x2x64x16xf32> {
  // expected-error @below {{variant 'attention.dot' cannot be used: dot products take operands of one type, i8 into i32 or bf16 into f32, found f32 and f32 into f32}}
  %0 = tracea.attention
         ins(%q, %q, %q : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>,
             tensor<1x2x64x16xf32>)
         outs(%d : tensor<1x2x64x16xf32>)
         schedule <variant = "attention.dot", unit = vector,
                   tile = [64, 64], registers = [8, 32]>
         -> tensor<1x2x64x16xf32>
  return %0 : tensor<1x2x64x16xf32>
}
