//===- TileOffsets.h - From lane maps to byte offsets in memory -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_ALGEBRA_TILEOFFSETS_H
#define TRACEA_UNITTESTS_ALGEBRA_TILEOFFSETS_H

#include "tracea/Algebra/LaneMap.h"
#include "tracea/Algebra/Swizzle.h"

namespace tracea::algebra {

/// The byte offset of a tile element with the given byte strides, as a linear
/// map from the coordinate bits of `map` (its matrix()'s outputs). Fails when
/// the sum is not linear over F2: strides must be powers of two whose index
/// bits do not overlap, as in a dense tile of power-of-two extents in any
/// order.
Expected<F2Matrix> tileToBytes(const LaneMap &map,
                               const std::vector<int64_t> &byteStrides);

/// What one lane index contributes to the byte offset: swizzle ∘ offsets ∘ the
/// lane part of `map`, padded with replicas to `laneBits`. The argument of
/// conflictDegree. Fails as tileToBytes, or when the map has more lane bits.
Expected<F2Matrix> lanesToBytes(const LaneMap &map,
                                const std::vector<int64_t> &byteStrides,
                                const Swizzle &swizzle, unsigned laneBits);

} // namespace tracea::algebra

#endif // TRACEA_UNITTESTS_ALGEBRA_TILEOFFSETS_H
