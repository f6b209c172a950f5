//===- Banks.h - The banks of shared memory and exact conflict degrees
//-----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory is divided into banks that each deliver one word a cycle; word
// w lives in bank w mod the number of banks. One instruction is executed in
// phases of some of the lanes. Lanes that want the same word share it;
// different words of one bank are served one after the other.
//
// Phases are cosets of a subspace P of the lane bits, fixed by the
// architecture, the width and the direction of the access. When the address is
// linear in the lane, the words of one phase form a coset of
//   W = A(P) in words + the words inside one vector,
// the projection on the bank bits is linear, and each bank that is hit holds
// exactly |W ∩ K| of them, K the words of bank 0. Hence
//   degree = 2^(dim W − rank(bank bits of W)) = 2^dim(W ∩ K)
// cycles for every phase. Adding a constant to the final addresses changes
// nothing when it is a multiple of the access width and of the word.
//
// Some machines merge phases of wide reads in which neighbouring lanes want the
// same vector; the larger phases are cosets of a subspace too, so the same
// formula gives their cycles.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_BANKS_H
#define TRACEA_ALGEBRA_BANKS_H

#include "tracea/Algebra/F2Matrix.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tracea::algebra {

enum class AccessKind { Read, Write };

/// The lanes that one phase executes, for one width and direction.
struct AccessPhases {
  unsigned widthBytes;
  AccessKind kind;
  /// A basis of P: lane masks. A phase is { l ⊕ p : p ∈ P }.
  F2Vectors lanes;
  /// Lane masks m of which one suffices: when all lanes l and l ⊕ m that are
  /// both active have the same address, the phases are cosets of the larger
  /// space with basis `merged`. Empty when phases are never merged.
  F2Vectors pairs = {}, merged = {};
  /// Whether it is known when phases merge; if not, cycles are an upper bound
  /// for reads that repeat a vector.
  bool mergingKnown = false;

  /// The phases of an access in which exactly the masks in the span of
  /// `repeats` never change the address.
  const F2Vectors &lanesWhen(const F2Vectors &repeats) const;
};

/// One architecture's shared memory, as data.
struct BankModel {
  std::string name;
  /// A warp (wave) is 2^laneBits lanes.
  unsigned laneBits;
  /// 2^bankBits banks of 2^wordBits bytes.
  unsigned bankBits;
  unsigned wordBits;
  std::vector<AccessPhases> phases;

  int64_t numLanes() const { return int64_t(1) << laneBits; }
  int64_t numBanks() const { return int64_t(1) << bankBits; }
  int64_t wordBytes() const { return int64_t(1) << wordBits; }

  /// The phases of an access. Accesses narrower than a word go as one word.
  /// Fails when the model has no entry.
  Expected<AccessPhases> phasesOf(unsigned widthBytes, AccessKind kind) const;

  /// Empty when the model is consistent: at most 10 lane and 16 bank bits,
  /// words of 1 to 64 bytes, power-of-two widths of at least a word, no
  /// duplicate entries, independent masks that fit the lanes, merged phases
  /// that contain the plain ones. Else what is wrong.
  std::string verify() const;
};

/// The models known here, by name: "nvidia" (sm_70 and later), "gfx942",
/// "gfx950", "gfx1100", "gfx1201". Nothing is claimed about Apple GPUs.
const std::vector<BankModel> &knownBankModels();
/// Fails on an unknown name, listing the known ones.
Expected<BankModel> bankModel(const std::string &name);

/// How an access is serialised.
struct ConflictDegree {
  /// Cycles that each phase takes; 1 is conflict-free.
  int64_t degree = 0;
  /// Phases of the instruction, none of them merged.
  int64_t phases = 0;
  /// Cycles of the whole instruction: degree · phases, or less when the
  /// hardware merges phases. It does not for ldmatrix and stmatrix.
  int64_t cycles = 0;

  int64_t wavefronts() const { return cycles; }
};

/// The exact degree of an access in which lane l touches `widthBytes` bytes at
/// lanesToBytes(l) + a constant multiple of the width and the word. Fails when
/// the map does not have the model's lane bits as inputs, when an address is
/// not a multiple of the width, when the width is not a power of two, or when
/// the model has no such access.
Expected<ConflictDegree> conflictDegree(const BankModel &model,
                                        const F2Matrix &lanesToBytes,
                                        unsigned widthBytes, AccessKind kind);

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_BANKS_H
