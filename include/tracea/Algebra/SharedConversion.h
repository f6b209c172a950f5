//===- SharedConversion.h - Conversions through shared memory -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile that is held by A and wanted by B is written to shared memory and read
// back. Two accesses always have a common conflict-free layout (SwizzleSolver.h
// and docs/Proofs/Banks.md), so there is one for every pair of lane maps, at
// the widest vectors that both sides can move.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_SHAREDCONVERSION_H
#define TRACEA_ALGEBRA_SHAREDCONVERSION_H

#include "tracea/Algebra/Banks.h"
#include "tracea/Algebra/LaneMap.h"

namespace tracea::algebra {

struct SharedConversion {
  /// Where an element of the linear tile goes: from the coordinate bits
  /// (LaneMap::matrix()'s outputs) to the byte offset. A bijection on the tile;
  /// repeats (outer counts) use the same memory one after the other.
  F2Matrix tileToBytes;
  int64_t bytes = 0;
  /// What one instruction of one lane moves: the registers that combine to
  /// offsets below this hold consecutive elements on both sides.
  unsigned vectorBytes = 0;
  /// The conflicts of writes and of reads; a layout is taken where both have
  /// degree 1.
  ConflictDegree write{}, read{};
};

/// Fails as Conversion::get, when the values are in other blocks, on elements
/// other than 1, 2, 4 or 8 bytes, when a map has more lanes than the model, and
/// when the model lacks accesses of the element's width.
Expected<SharedConversion> planSharedConversion(const LaneMap &from,
                                                const LaneMap &to,
                                                unsigned elementBytes,
                                                const BankModel &model);

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_SHAREDCONVERSION_H
