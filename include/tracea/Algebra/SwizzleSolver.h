//===- SwizzleSolver.h - Conflict-free swizzles, or the proof that none exists
//-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A swizzle S has to keep vectors of 2^v bytes whole, so it acts on chunks of
// that size: on F2^m, whose low b bits choose the banks and K = {x : low b bits
// are 0}. Within one phase an access reaches a coset of some subspace T of
// chunks that start at the same word; it is free of conflicts exactly if
// S(T) ∩ K = 0. So all accesses are free of conflicts iff U = S⁻¹(K), which has
// dimension m − b, meets every T in 0, and every such U comes from some S:
//
//   a conflict-free swizzle exists  ⇔  some U of dimension m − b avoids all T.
//
// The search is complete. U meets every subspace H of dimension b + 1 in more
// than 0, so it contains one of the 2^(b+1) − 1 vectors of H: those that lie in
// a T are out, the others are tried, modulo what was chosen before. When all
// fail, the tree of the H is a proof that can be checked without search.
//
// docs/Proofs/Banks.md has the theorems and an example.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_SWIZZLESOLVER_H
#define TRACEA_ALGEBRA_SWIZZLESOLVER_H

#include "tracea/Algebra/Banks.h"
#include "tracea/Algebra/Swizzle.h"

namespace tracea::algebra {

//===----------------------------------------------------------------------===//
// Subspaces that avoid others
//===----------------------------------------------------------------------===//

/// A proof that no subspace of dimension m − b contains the vectors chosen so
/// far and avoids all T: `subspace` spans b + 1 dimensions beside the chosen
/// vectors, and each of its vectors lies in T + span(chosen) for some T or
/// continues in a branch that chooses it.
struct Refutation {
  F2Vectors subspace;
  struct Branch;
  std::vector<Branch> branches;

  /// Without branches the subspace itself lies in the union of the T: its
  /// 2^(b+1) chunks want pairwise different banks of 2^b. Then no layout is
  /// free of conflicts, linear or not, padded or not.
  bool excludesEveryLayout() const;
  /// Nodes of the tree.
  int64_t size() const;
};
struct Refutation::Branch {
  uint64_t chosen;
  Refutation rest;
};

/// Exactly one of the two.
struct Avoidance {
  std::optional<F2Vectors> subspace; // Dimension m − b, canonical basis.
  std::optional<Refutation> refutation;
};

/// Decides whether some subspace of F2^spaceBits of dimension
/// spaceBits − bankBits meets every span of `spans` in 0 only. Fails on vectors
/// outside of the space, when the spans together have more than 20 dimensions
/// or when the search exceeds `maxNodes` nodes (an answer was not reached).
Expected<Avoidance> findAvoidingSubspace(const std::vector<F2Vectors> &spans,
                                         unsigned spaceBits, unsigned bankBits,
                                         int64_t maxNodes = 100000);

/// Whether the refutation proves its claim; linear in its size.
bool isValidRefutation(const Refutation &refutation,
                       const std::vector<F2Vectors> &spans, unsigned spaceBits,
                       unsigned bankBits);

/// An invertible map of F2^spaceBits that sends `subspace`, of dimension
/// spaceBits − bankBits, onto the vectors with zero bank bits. It adds higher
/// bits to bank bits only whenever the subspace meets the bank bits in 0.
Expected<F2Matrix> mapOntoBankZero(const F2Vectors &subspace,
                                   unsigned spaceBits, unsigned bankBits);

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

/// Lane l touches `widthBytes` bytes at lanesToBytes(l) of the tile.
struct SwizzleAccess {
  std::string name;
  F2Matrix lanesToBytes;
  unsigned widthBytes = 4;
  AccessKind kind = AccessKind::Read;
  /// Byte offsets of the index bits that one lane runs through (registers,
  /// unrolled iterations). They decide how many addresses it has to keep.
  F2Vectors unrolled;
};

struct SwizzleProblem {
  BankModel model;
  /// The tile has 2^offsetBits bytes; the swizzle permutes these.
  unsigned offsetBits = 0;
  std::vector<SwizzleAccess> accesses;
  /// Only swizzles that add higher bits to bank bits: those that a staged
  /// buffer's attribute can say, and whose inverse is as cheap.
  bool xorOnly = false;
};

/// Bit `bit` of the swizzled offset is bit `bit` ⊕ bit `source` of the offset.
struct SwizzleTerm {
  unsigned bit, source;
  friend bool operator==(const SwizzleTerm &a, const SwizzleTerm &b) {
    return a.bit == b.bit && a.source == b.source;
  }
};

/// What the address computation costs, compared in this order.
struct SwizzleCost {
  /// Distances bit − source that occur: a shift, a mask and an xor each.
  unsigned shifts = 0;
  /// Addresses that lanes keep in registers, summed over the accesses; all
  /// other unrolled offsets are immediates.
  int64_t baseRegisters = 0;
  unsigned xoredBits = 0;

  friend bool operator<(const SwizzleCost &a, const SwizzleCost &b);
};

struct SwizzleAnswer {
  /// Chunks of 2^vectorBits bytes, 2^chunkBits of them, the low bankBits of
  /// whose index choose the banks.
  unsigned vectorBits = 0, chunkBits = 0, bankBits = 0;
  /// U or the proof that there is none (among XOR swizzles with xorOnly).
  Avoidance decision;
  /// Free of conflicts if there is such a swizzle; else of least total cycles
  /// among XOR swizzles of at most two shifts.
  Swizzle swizzle;
  /// The swizzle's terms; nothing when it is not of XOR form.
  std::optional<std::vector<SwizzleTerm>> terms;
  SwizzleCost cost;
  /// No XOR swizzle of this quality is cheaper: the enumeration was complete.
  bool leastCost = false;
  /// By access, with the swizzle. The last is what no linear layout beats.
  std::vector<ConflictDegree> degrees;
  std::vector<int64_t> degreeBounds;

  bool isConflictFree() const { return decision.subspace.has_value(); }
};

struct SwizzleLimits {
  int64_t maxNodes = 100000;
  /// XOR swizzles that are tried for the least cost.
  int64_t maxCandidates = 400000;
};

/// Fails on offsets outside of the tile, on what conflictDegree refuses, on
/// tiles above 2^31 bytes and beyond the limits of findAvoidingSubspace.
Expected<SwizzleAnswer> solveSwizzle(const SwizzleProblem &problem,
                                     const SwizzleLimits &limits = {});

/// The chunk subspaces T of the accesses (with xorOnly, the bank bits last).
/// Fails as solveSwizzle.
Expected<std::vector<F2Vectors>> chunkSubspaces(const SwizzleProblem &problem,
                                                unsigned &vectorBits,
                                                unsigned &chunkBits,
                                                unsigned &bankBits);

/// Verifies an answer without search: the swizzle is invertible, keeps vectors
/// whole and has the degrees it claims; the subspace avoids every T and is what
/// the swizzle sends to bank 0; the refutation proves its claim. Empty when all
/// holds, else what does not.
std::string checkSwizzle(const SwizzleProblem &problem,
                         const SwizzleAnswer &answer);

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_SWIZZLESOLVER_H
