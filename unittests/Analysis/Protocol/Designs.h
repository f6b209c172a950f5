//===- Designs.h - The protocols of well-known kernels --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each design is correct as it stands; a named fault breaks one place of it.

#ifndef TRACEA_UNITTESTS_ANALYSIS_PROTOCOL_DESIGNS_H
#define TRACEA_UNITTESTS_ANALYSIS_PROTOCOL_DESIGNS_H

#include "tracea/Analysis/Protocol/Protocol.h"

#include <set>
#include <string>

namespace tracea::analysis {

using Faults = std::set<std::string>;

/// A persistent matrix product: one producer, consumers of one ring, and a
/// role that stores results through staging slots.
struct GemmDesign {
  int slots = 4;
  int consumers = 2;
  int staging = 1;
  /// Consumers release the slot before the one that they read.
  bool skew = true;
  bool store = true;
  /// There is at least one step along K.
  bool atLeastOne = false;
  bool drain = true;
};
Protocol makeGemm(const GemmDesign &design, const Faults &faults = {});

/// Attention: rings of Q, K and V, two consumers that take turns at the matrix
/// unit through named barriers.
struct AttentionDesign {
  int querySlots = 1;
  int keySlots = 2;
  int valueSlots = 2;
  bool store = true;
  bool turns = true;
  bool drain = true;
};
Protocol makeAttention(const AttentionDesign &design,
                       const Faults &faults = {});

/// Convolution: a ring of filters and a ring of patches that serve all taps.
struct ConvDesign {
  int filterSlots = 4;
  int patchSlots = 2;
  int consumers = 2;
  int taps = 9;
  bool drain = true;
};
Protocol makeConv(const ConvDesign &design, const Faults &faults = {});

/// Split K: two consumers sum alternate steps from a ring each; one hands its
/// sum to the other.
struct SplitKDesign {
  int slots = 2;
};
Protocol makeSplitK(const SplitKDesign &design, const Faults &faults = {});

/// A persistent loop whose tiles a scheduler hands out through a ring.
struct PersistentDesign {
  int slots = 2;
  int tileSlots = 2;
};
Protocol makePersistent(const PersistentDesign &design,
                        const Faults &faults = {});

/// A product whose consumer stores its result itself: multiplies and stores
/// are groups of two queues, staging slots are its own.
struct FusedDesign {
  int slots = 2;
  int staging = 1;
};
Protocol makeFused(const FusedDesign &design, const Faults &faults = {});

/// One role copies asynchronously, `ahead` steps before it reads.
Protocol makeAhead(int ahead, const Faults &faults = {});

/// A product whose two consumers take tiles in turn, out of one ring: each
/// passes the turn on when it has started its last multiply.
struct TurnsDesign {
  int slots = 3;
};
Protocol makeTurns(const TurnsDesign &design, const Faults &faults = {});

/// One role plays both sides, as on a processor without roles.
Protocol makeSingleRole(int slots, const Faults &faults = {});

/// One elected lane releases for a role whose lanes are not in step.
Protocol makeElected(int slots, const Faults &faults = {});

/// Lanes wait for a slot one by one; what reads it, all of them as one, is in a
/// loop that may be empty; one of them gives it back.
Protocol makeUnread(int slots, const Faults &faults = {});

/// The same protocol with slots and parities as lowered code computes them:
/// in variables, without positions.
Protocol lower(const Protocol &protocol);

} // namespace tracea::analysis

#endif // TRACEA_UNITTESTS_ANALYSIS_PROTOCOL_DESIGNS_H
