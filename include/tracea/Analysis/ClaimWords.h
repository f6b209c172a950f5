//===- ClaimWords.h - What the words of a claim mean ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A claim is a line of words and figures. Which words there are, what each of
// them says and what a certificate does not say at all stands here once; the
// page docs/Proofs/Claims.md has the same tables, and a test compares them.

#ifndef TRACEA_ANALYSIS_CLAIMWORDS_H
#define TRACEA_ANALYSIS_CLAIMWORDS_H

#include <string>
#include <string_view>
#include <vector>

namespace tracea::analysis {

/// A check whose certificates can be decided again.
struct CheckScope {
  std::string_view check;
  /// Where it stands, "kernel" or "target IR"; whether `--require-proof`
  /// demands it: "yes", "no", or of which kernels.
  std::string_view level, demanded;
  /// What else has to hold for the claim to be about what runs, and what it
  /// leaves open.
  std::string_view reliesOn, notClaimed;
};

/// Some words of a claim. "N" stands for figures, "…" for any text, and "(s)"
/// for a plural.
struct ClaimWords {
  std::string_view check, words, meaning;
};

const std::vector<CheckScope> &getCheckScopes();
const std::vector<ClaimWords> &getClaimWords();

/// Whether all of `claim` is words that are known of `check`.
bool hasKnownWords(std::string_view check, std::string_view claim);

} // namespace tracea::analysis

#endif // TRACEA_ANALYSIS_CLAIMWORDS_H
