//===- CPUGemm.h - What products of matrices on CPUs share ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DOCTOR_CPU_CPUGEMM_H
#define TRACEA_LIB_DOCTOR_CPU_CPUGEMM_H

#include "CPUProduct.h"

namespace tracea::doctor {

constexpr int64_t kPageBytes = 4096;
/// Bytes of rows of B above which a block of them is many streams.
constexpr int64_t kLongRow = 2048;
/// Lines of a set of the first level.
constexpr int64_t kWaysOfSet = 8;

/// Bytes of the right operand; unknown extents are typical ones.
int64_t bytesOfSecond(const Problem &problem);

/// Whether the right operand is far beyond the second level.
bool isSecondFar(const Problem &problem, const CPUModel &model);

/// Whether rows of B are whole pages apart: they meet in a few sets of a small
/// second level, and in one of the first, which keeps as many as it has ways.
bool isCrowded(const Problem &problem, const CPUModel &model);

/// The fewest rows that are worth packing long rows of B, where register tiles
/// ask for the next block of it meanwhile; those of fewer read it where it
/// lies. More than few where B is near, or its extents are unknown.
///
/// Measured from memory, packed over direct. On a Zen 3 16 rows by 4096 x 4096
/// 1.2, 8 rows 1.2, 4 rows 0.6; 16 by 1000 x 1000 1.2 to 1.5, 8 rows 0.7. On a
/// Sapphire Rapids 32 rows by 768 x 3072 1.3, 24 and 32 by 1000 x 1000 1.05 and
/// 1.2, 32, 48 and 64 by 4096 x 4096 0.8, 1.0 and 1.1; what its second level
/// has of 768 x 768 is as fast to read where it lies, and 0.9 to pack.
int64_t rowsOfBlocks(const Problem &problem, const CPUModel &model);

/// Extent of k staged at a time: long enough to amortise the loads and stores
/// of the accumulators, short enough for two slivers in the first-level cache.
/// A k not much longer is taken whole, unless its products in one sum lose more
/// than twice what those of blocks of 256 do; a longer one is cut evenly, into
/// about as many blocks.
int64_t chooseKBlock(const CPUModel &model, int64_t k, int64_t usual = 256);

/// `extent` cut into the fewest equal pieces that are multiples of `factor` and
/// not above `most`.
int64_t evenShare(int64_t extent, int64_t factor, int64_t most);

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_CPU_CPUGEMM_H
