// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

// A schedule and a target are decisions, which another pass makes.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{'tracea.gemm' op expected a schedule; run tracea-select-schedule first}}
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
  return %0 : tensor<8x8xf32>
}
}

// -----

// expected-error @below {{expected the module to carry 'tracea.target'; run tracea-select-schedule first}}
module {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

// expected-error @below {{expected the target's vector_bits to be a power of two from 64 to 8192, found 0}}
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x">} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

// expected-error @below {{expected the target's vector_bits to be a power of two from 64 to 8192, found 3}}
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 3>} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

// expected-error @below {{expected the target's vector_bits to be a power of two from 64 to 8192, found -128}}
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = -128>} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

// expected-error @below {{expected the target's vector_bits to be a power of two from 64 to 8192, found 16384}}
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 16384>} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{'tracea.gemm' op expects a schedule of variant 'gemm.packed' with 4 extents of 'tile', found}}
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{'tracea.gemm' op expects a schedule of variant 'gemm.packed' with 4 extents of 'tile', found}}
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects a schedule whose tile is a multiple of its register tile, found #tracea.schedule<variant = "gemm.packed"}}
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [10, 8, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects a schedule whose tile is a multiple of its register tile, found #tracea.schedule<variant = "gemm.packed"}}
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 12, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects a schedule whose tile is a multiple of its register tile, found #tracea.schedule<variant = "gemm.packed"}}
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 6], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expects rows of rhs to be contiguous along n for the variant 'gemm.direct', found transpose_rhs}}
  %0 = tracea.gemm transpose_rhs ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [8, 8, 8], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

// A slot of more than 2^31 elements.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{'tracea_pipe.stage' op makes staged memory expects a static shape of at most 2^31 elements}}
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [1048576, 8, 1048576, 1048576], registers = [4, 8]>
  return %0 : tensor<8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x9x9x4xf32>, %w: tensor<3x?x4x8xf32>, %d: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  // expected-error @below {{expects a filter of static height and width for the variant 'conv2d.patch', found 'tensor<3x?x4x8xf32>'}}
  %0 = tracea.conv2d layout nhwc filter rsck ins(%x, %w : tensor<1x9x9x4xf32>, tensor<3x?x4x8xf32>) outs(%d : tensor<1x7x7x8xf32>)
    schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8]>
  return %0 : tensor<1x7x7x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x9x9x4xf32>, %w: tensor<3x3x4x8xf32>, %d: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  // expected-error @below {{expects one filter of static height and width a channel for the variant 'conv2d.depthwise', found 'tensor<3x3x4x8xf32>' in 1 groups}}
  %0 = tracea.conv2d layout nhwc filter rsck ins(%x, %w : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%d : tensor<1x7x7x8xf32>)
    schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8]>
  return %0 : tensor<1x7x7x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x9x9x8xf32>, %w: tensor<8x?x3x1xf32>, %d: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  // expected-error @below {{expects one filter of static height and width a channel for the variant 'conv2d.depthwise'}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 8 ins(%x, %w : tensor<1x9x9x8xf32>, tensor<8x?x3x1xf32>) outs(%d : tensor<1x7x7x8xf32>)
    schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8]>
  return %0 : tensor<1x7x7x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x8x9x9xf32>, %w: tensor<8x1x3x3xf32>, %d: tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32> {
  // expected-error @below {{reads its image where it lies (staged = 0), which has to have channels last and the accumulator's element type, found nchw and 'tensor<1x8x9x9xf32>'}}
  %0 = tracea.conv2d layout nchw filter kcrs groups 8 ins(%x, %w : tensor<1x8x9x9xf32>, tensor<8x1x3x3xf32>) outs(%d : tensor<1x8x7x7xf32>)
    schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8], staged = 0>
  return %0 : tensor<1x8x7x7xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x9x9x8xbf16>, %w: tensor<8x3x3x1xbf16>, %d: tensor<1x7x7x8xbf16>) -> tensor<1x7x7x8xbf16> {
  // expected-error @below {{reads its image where it lies (staged = 0), which has to have channels last and the accumulator's element type, found nhwc and 'tensor<1x9x9x8xbf16>'}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 8 ins(%x, %w : tensor<1x9x9x8xbf16>, tensor<8x3x3x1xbf16>) outs(%d : tensor<1x7x7x8xbf16>)
    schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8], staged = 0>
  return %0 : tensor<1x7x7x8xbf16>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x9x9x4xf32>, %w: tensor<3x3x4x8xf32>, %d: tensor<1x7x8x8xf32>) -> tensor<1x7x8x8xf32> {
  // expected-error @below {{reads its image where it lies (staged = 0), which has to have no border that taps meet}}
  %0 = tracea.conv2d layout nhwc filter rsck pads [0, 1, 0, 0] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%d : tensor<1x7x8x8xf32>)
    schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8], staged = 0>
  return %0 : tensor<1x7x8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x9x9x4xf32>, %w: tensor<3x3x4x8xf32>, %d: tensor<1x7x8x8xf32>) -> tensor<1x7x8x8xf32> {
  // expected-error @below {{reads its image where it lies (staged = 0), which has to have no border that taps meet}}
  %0 = tracea.conv2d layout nhwc filter rsck pads [0, 0, 0, 1] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%d : tensor<1x7x8x8xf32>)
    schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8], staged = 0>
  return %0 : tensor<1x7x8x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x4x9x9xf32>, %w: tensor<3x3x4x8xf32>, %d: tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32> {
  // expected-error @below {{reads its image where it lies (staged = 0), which has to have channels last}}
  %0 = tracea.conv2d layout nchw filter rsck ins(%x, %w : tensor<1x4x9x9xf32>, tensor<3x3x4x8xf32>) outs(%d : tensor<1x8x7x7xf32>)
    schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8], staged = 0>
  return %0 : tensor<1x8x7x7xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x9x9x4xbf16>, %w: tensor<3x3x4x8xbf16>, %d: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  // expected-error @below {{reads its image where it lies (staged = 0), which has to have the accumulator's element type}}
  %0 = tracea.conv2d layout nhwc filter rsck ins(%x, %w : tensor<1x9x9x4xbf16>, tensor<3x3x4x8xbf16>) outs(%d : tensor<1x7x7x8xf32>)
    schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8, 4], registers = [4, 8], staged = 0>
  return %0 : tensor<1x7x7x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @conv(%x: tensor<1x9x9x4xf32>, %w: tensor<3x3x4x8xf32>, %d: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  // expected-error @below {{expects a schedule of variant 'conv2d.patch' with 4 extents of 'tile'}}
  %0 = tracea.conv2d layout nhwc filter rsck ins(%x, %w : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%d : tensor<1x7x7x8xf32>)
    schedule <variant = "conv2d.patch", unit = vector, tile = [2, 4, 8], registers = [4, 8]>
  return %0 : tensor<1x7x7x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @attention(%q: tensor<1x2x10x?xf32>, %v: tensor<1x2x10x6xf32>, %d: tensor<1x2x10x6xf32>) -> tensor<1x2x10x6xf32> {
  // expected-error @below {{expects static head dimensions for the variant 'attention.flash', found 'tensor<1x2x10x?xf32>' and 'tensor<1x2x10x6xf32>'}}
  %0 = tracea.attention ins(%q, %q, %v : tensor<1x2x10x?xf32>, tensor<1x2x10x?xf32>, tensor<1x2x10x6xf32>)
         outs(%d : tensor<1x2x10x6xf32>)
    schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]> -> tensor<1x2x10x6xf32>
  return %0 : tensor<1x2x10x6xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @attention(%q: tensor<1x2x10x6xf32>, %v: tensor<1x2x10x?xf32>, %d: tensor<1x2x10x?xf32>) -> tensor<1x2x10x?xf32> {
  // expected-error @below {{expects static head dimensions for the variant 'attention.flash'}}
  %0 = tracea.attention ins(%q, %q, %v : tensor<1x2x10x6xf32>, tensor<1x2x10x6xf32>, tensor<1x2x10x?xf32>)
         outs(%d : tensor<1x2x10x?xf32>)
    schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]> -> tensor<1x2x10x?xf32>
  return %0 : tensor<1x2x10x?xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @attention(%q: tensor<1x2x10x6xf32>, %v: tensor<1x2x10x6xf32>, %d: tensor<1x2x10x6xf32>) -> tensor<1x2x10x6xf32> {
  // expected-error @below {{expects a schedule whose tile is a multiple of its register tile}}
  %0 = tracea.attention ins(%q, %q, %v : tensor<1x2x10x6xf32>, tensor<1x2x10x6xf32>, tensor<1x2x10x6xf32>)
         outs(%d : tensor<1x2x10x6xf32>)
    schedule <variant = "attention.flash", unit = vector, tile = [6, 16], registers = [4, 8]> -> tensor<1x2x10x6xf32>
  return %0 : tensor<1x2x10x6xf32>
}
}

// -----

// What a word has behind the last key would be in no tile of scores.
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
    features = "+avx512f,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512>} {
func.func @attention(%q: tensor<1x2x10x6xbf16>, %d: tensor<1x2x10x6xbf16>) -> tensor<1x2x10x6xbf16> {
  // expected-error @below {{expects a register tile whose columns are a multiple of 32 for the variant 'attention.dot', found}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x2x10x6xbf16>, tensor<1x2x10x6xbf16>, tensor<1x2x10x6xbf16>)
         outs(%d : tensor<1x2x10x6xbf16>)
    schedule <variant = "attention.dot", unit = amx, tile = [16, 32], registers = [16, 16]> -> tensor<1x2x10x6xbf16>
  return %0 : tensor<1x2x10x6xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
    features = "+avx512f,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512>} {
func.func @attention(%q: tensor<1x2x10x6xf16>, %d: tensor<1x2x10x6xf16>) -> tensor<1x2x10x6xf16> {
  // expected-error @below {{expects dot products of 'f16' into 'f32' for the variant 'attention.dot', which the unit 'amx' of the target 't' does not have}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x2x10x6xf16>, tensor<1x2x10x6xf16>, tensor<1x2x10x6xf16>)
         outs(%d : tensor<1x2x10x6xf16>)
    schedule <variant = "attention.dot", unit = amx, tile = [16, 32], registers = [16, 32]> -> tensor<1x2x10x6xf16>
  return %0 : tensor<1x2x10x6xf16>
}
}

// -----

// A register tile would see two blocks of the mask.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @attention(%q: tensor<1x2x10x6xf32>, %v: tensor<1x2x10x6xf32>, %d: tensor<1x2x10x6xf32>, %m: tensor<1x2x2x2xi1>) -> tensor<1x2x10x6xf32> {
  // expected-error @below {{expects a schedule whose register tile divides the mask's block of 5x8, found}}
  %0 = tracea.attention ins(%q, %q, %v : tensor<1x2x10x6xf32>, tensor<1x2x10x6xf32>, tensor<1x2x10x6xf32>)
         block_mask(%m : tensor<1x2x2x2xi1>) block_size [5, 8]
         outs(%d : tensor<1x2x10x6xf32>)
    schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]> -> tensor<1x2x10x6xf32>
  return %0 : tensor<1x2x10x6xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @row(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expects a schedule whose tile and register tile are one row of equal length, found}}
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
    schedule <variant = "row", unit = vector, tile = [1, 8192], registers = [1, 8]>
  return %0 : tensor<4x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @row(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expects a schedule whose tile and register tile are one row of equal length, found}}
  %0 = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
    schedule <variant = "row", unit = vector, tile = [2, 8], registers = [2, 8]>
  return %0 : tensor<4x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @row(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expects a schedule whose tile and register tile are one row of equal length, found}}
  %0 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
    schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 16]>
  return %0 : tensor<4x8xf32>
}
}

// -----

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @row(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{with 2 extents of 'tile'}}
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
    schedule <variant = "row", unit = vector, registers = [1, 8]>
  return %0 : tensor<4x8xf32>
}
}
