//===- BankView.h - Which banks the lanes of an access want -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The worst instruction of an access, phase by phase: each bank delivers one
// word a cycle, so that the words that a phase wants of one bank stand below
// each other.

#ifndef TRACEA_EXPLAIN_BANKVIEW_H
#define TRACEA_EXPLAIN_BANKVIEW_H

#include "tracea/Analysis/BankProof.h"
#include <map>

namespace tracea::explain {

struct BankPhase {
  std::vector<int64_t> lanes;
  /// For each bank the words that are wanted of it, each with its lanes.
  std::vector<std::map<uint64_t, std::vector<int64_t>>> banks;
  /// The most words of one bank.
  int64_t cycles = 0;
};

struct BankPicture {
  /// "read of 16x16 elements of 2 bytes, 4 bytes an instruction, on sm_90a".
  std::string title;
  /// "1 cycle a phase, by rank".
  std::string verdict;
  /// The instruction that is shown.
  int64_t reg = 0, warp = 0, offset = 0;
  std::vector<BankPhase> phases;
};

algebra::Expected<BankPicture>
pictureBanks(const analysis::BankedAccess &access, const std::string &target);

/// A table for each phase: banks across, cycles down, the first lane of each
/// word in the cells.
std::string bankText(const BankPicture &picture);
/// The same as a drawing, coloured by lane; what waits is framed in red.
std::string bankSvg(const BankPicture &picture);

} // namespace tracea::explain

#endif // TRACEA_EXPLAIN_BANKVIEW_H
