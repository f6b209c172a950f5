//===- Conversion.h - What it takes to move a tile between two lane maps
//-----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values are distributed by A and wanted by B. A conversion is a linear map C
// from the locations of B to those of A with A ∘ C = B: location x of B reads
// location C(x) of A. It is solved bit by bit in growing spans of A: registers,
// then lanes, warps, blocks. The widest span that some bit needs is the class
// of the conversion, and no other C does with less, since each bit was given
// the narrowest that reaches it.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_CONVERSION_H
#define TRACEA_ALGEBRA_CONVERSION_H

#include "tracea/Algebra/LaneMap.h"

namespace tracea::algebra {

/// In order of cost.
enum class ConversionClass {
  /// Every location already holds what it should.
  NoOp,
  /// Registers are renamed, the same way in every lane.
  RegisterMove,
  /// Each lane holds its values, in registers that depend on the lane.
  RegisterSelect,
  /// Values cross lanes of a warp.
  Shuffle,
  /// Values cross warps of a block.
  SharedMemory,
  /// Values cross blocks: distributed shared or global memory.
  Cluster,
};

/// "no-op", "register move", "register select", "shuffle", "shared memory",
/// "cluster".
const char *conversionClassName(ConversionClass cls);

class Conversion {
public:
  /// Fails when the linear shapes or outer counts differ, or when A does not
  /// hold a value that B wants. A dimension with fewer bits than the other
  /// map's is padded with zero vectors: lanes, warps and blocks exist in
  /// hardware and hold replicas. Registers that only A has are dropped.
  ///
  /// `elementsPerWord` (1, 2 or 4) is how many elements one shuffle can move
  /// between two lanes; it matters to shuffleRounds() only.
  static Expected<Conversion> get(const LaneMap &from, const LaneMap &to,
                                  unsigned elementsPerWord = 1);

  ConversionClass conversionClass() const { return cls; }

  /// The location of A that location `to` of B reads. Indices must be in the
  /// range of B (of the padded dimensions); nothing otherwise.
  std::optional<Location> source(const Location &to) const;

  /// Shuffle instructions for one warp, 0 unless the class is Shuffle. With n
  /// independent destination register bits after packing, C_ll and C_lr the
  /// source lane's dependence on the destination lane and register,
  ///   2^n − [im(C_ll ⊕ I) ⊆ im C_lr] · 2^(n − rank C_lr),
  /// the bracketed rounds being those that every lane serves itself; times the
  /// outer counts. For maps without replicas in A it is also the lower bound.
  int64_t shuffleRounds() const { return rounds; }

private:
  Conversion() = default;

  ConversionClass cls = ConversionClass::NoOp;
  int64_t rounds = 0;
  /// C over the padded locations; bits per dimension of its inputs (B) and
  /// outputs (A), low to high reg, lane, warp, block.
  F2Matrix map;
  std::array<unsigned, numLaneDims> fromBits{}, toBits{};
  int64_t outerRegisters = 1;
};

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_CONVERSION_H
