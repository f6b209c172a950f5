//===- TileAccess.h - A register tile meets a buffer of shared memory -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact conflict degree of every instruction that moves a register tile to
// or from a swizzled buffer, for every offset that its window may have.
//
// Offsets inside of the tile are linear over F2 when strides are powers of two
// that do not overlap; then the rank decides all registers and warps at once,
// and the window's offset c does not matter if it is a multiple of the
// swizzle's period (S(x + c) = S(x) + c), if it carries into no bit of the tile
// (x + c = x ⊕ c), or if there is no swizzle. Everything else (padded rows,
// extents that are no powers of two, offsets inside of a period) repeats after
// one period of the swizzle and is enumerated: a finite proof.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_TILEACCESS_H
#define TRACEA_ALGEBRA_TILEACCESS_H

#include "tracea/Algebra/Banks.h"
#include "tracea/Algebra/LaneMap.h"
#include "tracea/Algebra/Swizzle.h"
#include "tracea/Algebra/SwizzleSolver.h"

namespace tracea::algebra {

struct TileAccess {
  LaneMap lanes;
  /// Bytes per step of each tile dimension; 0 for a broadcast.
  std::vector<int64_t> byteSteps;
  unsigned elementBytes = 4;
  AccessKind kind = AccessKind::Read;
  /// Element 0 lies at byte `offset` + n · `step` of the buffer, for any n;
  /// `step` 0 when the offset is known.
  int64_t offset = 0, step = 0;
};

/// Lanes of one phase that want different words of one bank.
struct BankCollision {
  int64_t reg = 0, warp = 0; // The first register of the instruction.
  int64_t bank = 0;
  /// One lane for each word, ascending.
  std::vector<int64_t> lanes;
};

struct TileAccessDegree {
  /// What one instruction of a lane moves.
  unsigned widthBytes = 0;
  /// The worst phase of all instructions, and the most cycles of one.
  ConflictDegree degree{};
  /// Decided by rank; otherwise by enumeration of one period.
  bool byRank = false;
  /// The hardware may merge the phases of a wide access that reads one word in
  /// several of them, by a rule that is not known: then the cycles are an upper
  /// bound.
  bool mayMerge = false;
  /// When the degree is above 1.
  BankCollision collision;
};

/// The widest instruction of a lane that the buffer and the model allow:
/// registers of consecutive elements, aligned, kept whole by the swizzle.
/// Fails as tileAccessDegree.
Expected<unsigned> vectorWidth(const BankModel &model, const TileAccess &access,
                               const Swizzle &swizzle);

/// The degree. Fails when sizes do not fit each other, when the tile has more
/// lanes than the model, when an element is not aligned, when the model has no
/// access of the width, and when an enumeration would go through more than
/// `maxAddresses` addresses (the question is not decided then).
Expected<TileAccessDegree> tileAccessDegree(const BankModel &model,
                                            const TileAccess &access,
                                            const Swizzle &swizzle,
                                            int64_t maxAddresses = 1 << 22);

/// The access as the solver takes it, at offset 0 and the width that it has
/// without a swizzle. Fails when it is not linear over F2.
Expected<SwizzleAccess> toSwizzleAccess(const BankModel &model,
                                        const TileAccess &access,
                                        const std::string &name);

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_TILEACCESS_H
