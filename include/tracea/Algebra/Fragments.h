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
/// mma.m16n8k*"). `elementBits` is 32 (tf32), 16 (f16, bf16), 8 (s8, u8, fp8),
/// 4 (s4, u4) or 1 (b1); with E = 32 / elementBits elements a word, K is 4E or
/// 8E. D (and C) is the accumulator, the same for f32, s32 and, as elements of
/// f16x2 words, f16: K and elementBits are checked alike.
Expected<LaneMap> mmaM16N8(MatrixOperand operand, int64_t k,
                           unsigned elementBits);

/// mma.sync m8n8kK (PTX ISA, "Matrix fragments for mma.m8n8k*"): f64 with K =
/// 4, 8-bit integers with 16, 4-bit integers with 32, b1 with 128, that is K =
/// 4 lanes of one word (one element of f64). The older f16 form of K = 4 has
/// another layout and is not offered.
Expected<LaneMap> mmaM8N8(MatrixOperand operand, unsigned elementBits);

/// What ldmatrix .x1, .x2, .x4 of 16-bit elements delivers: `count` 8×8
/// matrices stacked along the rows, (row, col) of the stack; `transposed` for
/// .trans. Fails unless count is 1, 2 or 4.
Expected<LaneMap> ldmatrix(int64_t count, bool transposed);

/// What stmatrix .x1, .x2, .x4 takes from registers: the fragment that ldmatrix
/// delivers (PTX ISA, stmatrix).
Expected<LaneMap> stmatrix(int64_t count, bool transposed);
/// Whose address ldmatrix and stmatrix read from a lane: lane l gives the row
/// l of the stack of `count` matrices; the lanes above are replicas.
Expected<LaneMap> ldmatrixRows(int64_t count);

/// The accumulator of wgmma m64nN: four warps of 16 rows. N is a multiple of 8
/// from 8 to 256; what is not a power of two goes to outer.
Expected<LaneMap> wgmmaD(int64_t n);
/// The A operand of wgmma from registers, m64kK with K = 8 · 32 / elementBits.
Expected<LaneMap> wgmmaA(unsigned elementBits);

/// One MFMA instruction of a wave of 64 lanes that multiplies a single block of
/// 16×16 or 32×32 (AMD matrix instruction calculator, CDNA 2 and 3). A lane
/// holds `perLane` consecutive elements of K of one row of A, so that
/// K = perLane · 64 / extent:
///   1: f32 (16×16×4, 32×32×2), f64 (16×16×4)
///   2: xf32 (16×16×8, 32×32×4), bf16 without _1k (16×16×8, 32×32×4)
///   4: f16, bf16 (16×16×16, 32×32×8), i8 of gfx90a (16×16×16, 32×32×8)
///   8: i8, fp8 and bf8 of gfx942 (16×16×32, 32×32×16)
/// D is the same for all but f64, whose registers step over four rows.
/// Fails on other extents and counts.
Expected<LaneMap> mfma(MatrixOperand operand, int64_t extent, int64_t perLane,
                       bool f64 = false);
/// v_mfma_f32_16x16x16_{f16,bf16} and v_mfma_f32_32x32x8_{f16,bf16}.
LaneMap mfma16x16x16(MatrixOperand operand);
LaneMap mfma32x32x8(MatrixOperand operand);

/// v_wmma_*_16x16x16_* on gfx11, wave of 32, operands of 16, 8 and 4 bits alike
/// (AMD RDNA 3 ISA, "WMMA"). A and B are replicated over the upper half of the
/// wave; D (32 bits an element) interleaves rows over it.
LaneMap wmmaGfx11(MatrixOperand operand);
/// The same on gfx12 (AMD RDNA 4 ISA, "WMMA"), operands of 16 and 8 bits: no
/// replicas; the upper half of the wave holds the upper half of K, and of the
/// rows of D.
LaneMap wmmaGfx12(MatrixOperand operand);

/// The operand of a CPU dot product that all rows share (vdpbf16ps, vpdpbusd,
/// BFDOT, SDOT): lanes × perLane elements (k, n), perLane consecutive k beside
/// each other in a vector. Fails unless both are powers of two.
Expected<LaneMap> dotOperandB(int64_t lanes, int64_t perLane);

/// simdgroup_matrix 8×8 for every operand. Apple documents no mapping; this is
/// the one that public libraries rely on.
LaneMap simdgroup8x8();

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_FRAGMENTS_H
