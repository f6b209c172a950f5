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

/// A schedule as code needs it, for one block: every index is a constant of the
/// round plus (XOR) a linear map of lane and warp, the same in all rounds.
struct ShuffleProgram {
  struct Round {
    /// The word comes from the lane's own registers.
    bool isLocal = false;
    /// Of lane and warp 0: the registers offered, in the order of those filled,
    /// and the lane that is read.
    std::vector<int64_t> offered, filled;
    int64_t source = 0;
  };
  std::vector<Round> rounds;
  /// What each lane and warp bit adds. `offered` by the bits of the source's
  /// lanes.
  F2Vectors offeredByLane, offeredByWarp, filledByLane, filledByWarp,
      sourceByLane, sourceByWarp;
};

/// The shuffles of one conversion, for the linear registers; repeats (outer
/// counts) do the same each. With the destination registers counted by a round
/// index t and what is packed into one word, round t has lane l fill the
/// register word t ⊕ X·l, where X is chosen such that
///   - if possible, every lane reads from a lane at a distance that depends on
///   t
///     alone (C_lr X ⊕ C_ll = I), and 2^(n − rank C_lr) rounds stay at home;
///   - otherwise the source lanes of a round are a permutation, or lanes with
///     one source want the same word.
/// So each lane offers one word a round, which is what one shuffle can move.
class ShuffleSchedule {
public:
  /// Rounds, those without a shuffle included.
  int64_t numRounds() const { return int64_t(1) << rounds.size(); }
  /// Whether every lane finds the word of this round in its own registers.
  bool isLocal(int64_t round) const;

  /// Where a lane's word of this round goes: 1, 2 or 4 registers.
  std::vector<int64_t> destinations(int64_t round, const Location &at) const;
  /// The lane it comes from.
  int64_t sourceLane(int64_t round, const Location &at) const;
  /// The registers a lane offers in this round, in the order of the
  /// destinations of who reads it; empty when nobody does.
  std::vector<int64_t> offered(int64_t round, const Location &at) const;

  /// Destination registers that repeat others are not shuffled: the register
  /// with the same value that is.
  int64_t representative(int64_t reg) const;

  /// All of the above for block 0. Lanes that nobody reads offer something.
  ShuffleProgram program() const;

private:
  friend class Conversion;
  ShuffleSchedule() = default;

  uint64_t roundIndex(int64_t round, const Location &at) const;
  uint64_t sourceOf(int64_t reg, const Location &at) const;

  /// Masks over the destination's register bits: what one word packs, and the
  /// registers that the bits of a round index stand for.
  F2Vectors packed, rounds;
  /// X, by lane, warp and block bit: masks over the round index.
  F2Vectors byLane, byWarp, byBlock;
  /// Register bits that repeat others, each with the mask of those.
  F2Vectors repeated, stands;
  bool inPlace = false;
  /// C and the fields of its results and arguments.
  F2Matrix map;
  std::array<unsigned, numLaneDims> fromBits{}, toBits{};
  /// The lane part of C after X, to find who reads a lane.
  F2Matrix laneOfLane;
};

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

  /// How to carry them out, if the class is Shuffle. Nothing otherwise, and
  /// nothing for sources with replicas whose readers cannot be arranged that
  /// way: such conversions go through shared memory.
  const std::optional<ShuffleSchedule> &schedule() const { return shuffles; }

private:
  Conversion() = default;

  ConversionClass cls = ConversionClass::NoOp;
  int64_t rounds = 0;
  std::optional<ShuffleSchedule> shuffles;
  /// C over the padded locations; bits per dimension of its inputs (B) and
  /// outputs (A), low to high reg, lane, warp, block.
  F2Matrix map;
  std::array<unsigned, numLaneDims> fromBits{}, toBits{};
  int64_t outerRegisters = 1;
};

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_CONVERSION_H
