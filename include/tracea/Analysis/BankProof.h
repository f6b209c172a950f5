//===- BankProof.h - The accesses of a kernel and their cycles --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the certificate of a kernel's banks says, and the text from which it is
// decided again. Plain C++ over lib/Algebra and the tables of targets. Words
// are separated by spaces, elements by commas, vectors by semicolons; "-" is an
// empty list:
//
//   banks/1 TARGET
//   access COUNT read|write ELEMENT-BYTES SHAPE OUTER REG LANE WARP BLOCK
//          BYTE-STEPS OFFSET STEP SWIZZLE
//
// REG to BLOCK are the basis vectors of the lane map, SWIZZLE the images of the
// offset's bits in hexadecimal. The target's banks are not part of the text:
// they are looked up again.

#ifndef TRACEA_ANALYSIS_BANKPROOF_H
#define TRACEA_ANALYSIS_BANKPROOF_H

#include "tracea/Algebra/TileAccess.h"
#include <string_view>

namespace tracea::analysis {

/// `count` accesses that are alike.
struct BankedAccess {
  algebra::TileAccess access;
  algebra::Swizzle swizzle;
  int64_t count = 1;
};

struct BankProof {
  /// A name of the tables; "cpu": memory without banks; "-" where there are no
  /// accesses.
  std::string target;
  std::vector<BankedAccess> accesses;
};

/// Figures of all accesses together.
struct BankFigures {
  int64_t accesses = 0;
  /// Decided by rank; the others by enumeration.
  int64_t byRank = 0;
  /// Cycles of the worst phase.
  int64_t worst = 1;

  void add(const algebra::TileAccessDegree &degree, int64_t count = 1);
};

/// The claim, in words.
std::string describeBanks(const BankFigures &figures,
                          const std::string &target);

/// One line of text; accesses that are alike are written once.
std::string writeModel(const BankProof &proof);

/// Reads what `writeModel` wrote. The text may come from anywhere.
algebra::Expected<BankProof> readBankProof(std::string_view text);

/// The banks of a target by its name.
algebra::Expected<algebra::BankModel> getBankModel(const std::string &target);

/// Decides all accesses and says what holds of them. Fails where something is
/// not known or takes too long.
algebra::Expected<std::string> decideBanks(const BankProof &proof);

} // namespace tracea::analysis

#endif // TRACEA_ANALYSIS_BANKPROOF_H
