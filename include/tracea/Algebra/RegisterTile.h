//===- RegisterTile.h - Lane maps of CPU register tiles -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_REGISTERTILE_H
#define TRACEA_ALGEBRA_REGISTERTILE_H

#include "tracea/Algebra/LaneMap.h"

namespace tracea::algebra {

/// The accumulator tile of a CPU micro-kernel: rows × cols elements in vector
/// registers of `lanesPerVector` elements (AVX-512, AVX2 and NEON alike). Lanes
/// run along the columns; with V = cols / lanesPerVector,
///
///   register row · V + v, lane l  holds  element (row, v · lanesPerVector + l)
///
/// for every extent: those that are not powers of two go to the outer counts
/// (6×16 with 8 lanes, 14×32 with 16). Fails unless lanesPerVector is a power
/// of two that divides cols, all are positive and fit 2^20.
Expected<LaneMap> vectorTile(int64_t rows, int64_t cols,
                             int64_t lanesPerVector);

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_REGISTERTILE_H
