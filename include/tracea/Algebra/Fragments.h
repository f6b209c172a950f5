//===- Fragments.h - Lane maps of the matrix instructions of GPUs -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A is M × K with coordinates (m, k), B is K × N with (k, n), C and D are M × N
// with (m, n). A register is one element: element i of the operand's vector
// expression in PTX, half of a VGPR for the 16-bit operands of AMD, a VGPR for
// 32-bit ones.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_FRAGMENTS_H
#define TRACEA_ALGEBRA_FRAGMENTS_H

#include "tracea/Algebra/LaneMap.h"

namespace tracea::algebra {

enum class MatrixOperand { A, B, D };

/// mma.sync m16n8kK, the operands A and B (PTX ISA, "Matrix fragments for
/// mma.m16n8k*"). `elementBits` is 32 (tf32), 16 (f16, bf16) or 8 (s8, u8,
/// fp8); with E = 32 / elementBits elements a word, K is 4E or 8E. D (and C) is
/// the 32-bit accumulator, the same for all: K and elementBits are checked
/// alike.
Expected<LaneMap> mmaM16N8(MatrixOperand operand, int64_t k,
                           unsigned elementBits);

/// What ldmatrix .x1, .x2, .x4 of 16-bit elements delivers: `count` 8×8
/// matrices stacked along the rows, (row, col) of the stack; `transposed` for
/// .trans. Fails unless count is 1, 2 or 4.
Expected<LaneMap> ldmatrix(int64_t count, bool transposed);

/// The accumulator of wgmma m64nN: four warps of 16 rows. N is a multiple of 8
/// from 8 to 256; what is not a power of two goes to outer.
Expected<LaneMap> wgmmaD(int64_t n);
/// The A operand of wgmma from registers, m64kK with K = 8 · 32 / elementBits.
Expected<LaneMap> wgmmaA(unsigned elementBits);

/// v_mfma_f32_16x16x16_{f16,bf16}, wave of 64 (AMD matrix instruction
/// calculator, CDNA 2 and 3).
LaneMap mfma16x16x16(MatrixOperand operand);
/// v_mfma_f32_32x32x8_{f16,bf16}, wave of 64.
LaneMap mfma32x32x8(MatrixOperand operand);
/// v_wmma_f32_16x16x16_{f16,bf16} on gfx11, wave of 32. A and B are replicated
/// over the upper half of the wave; D interleaves rows over it.
LaneMap wmmaGfx11(MatrixOperand operand);

/// simdgroup_matrix 8×8 for every operand. Apple documents no mapping; this is
/// the one that public libraries rely on.
LaneMap simdgroup8x8();

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_FRAGMENTS_H
