//===- ClaimWordsTest.cpp - The page of claims and the checks -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/ClaimWords.h"
#include "tracea/Analysis/Recheck.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tracea::analysis;

/// The rows of the page's tables, without their heads.
static std::vector<std::string> getRows() {
  std::ifstream file(TRACEA_SOURCE_DIR "/docs/Proofs/Claims.md");
  EXPECT_TRUE(bool(file));
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(file, line))
    if (line.rfind("| `", 0) == 0)
      rows.push_back(line);
  return rows;
}

TEST(ClaimWords, ThePageHasTheTables) {
  std::vector<std::string> expected;
  auto text = [](std::string_view view) { return std::string(view); };
  for (const CheckScope &scope : getCheckScopes())
    expected.push_back("| `" + text(scope.check) + "` | " + text(scope.level) +
                       " | " + text(scope.demanded) + " | " +
                       text(scope.reliesOn) + " | " + text(scope.notClaimed) +
                       " |");
  for (const ClaimWords &entry : getClaimWords())
    expected.push_back("| `" + text(entry.check) + "` | " + text(entry.words) +
                       " | " + text(entry.meaning) + " |");
  EXPECT_THAT(getRows(), ::testing::ElementsAreArray(expected));
}

TEST(ClaimWords, EveryCheckHasAScopeAndWords) {
  std::vector<std::string_view> scopes;
  for (const CheckScope &scope : getCheckScopes()) {
    scopes.push_back(scope.check);
    bool hasWords = false;
    for (const ClaimWords &entry : getClaimWords())
      hasWords |= entry.check == scope.check;
    EXPECT_TRUE(hasWords) << scope.check;
  }
  EXPECT_THAT(getRecheckedChecks(),
              ::testing::UnorderedElementsAreArray(scopes));
  for (const ClaimWords &entry : getClaimWords())
    EXPECT_THAT(scopes, ::testing::Contains(entry.check));
}

TEST(ClaimWords, KnowsWordsByTheirPlaces) {
  EXPECT_TRUE(
      hasKnownWords("protocol", "2 roles, 1 channels, every trip count"));
  EXPECT_FALSE(
      hasKnownWords("protocol", "2 roles, 1 channels, some trip counts"));
  EXPECT_FALSE(hasKnownWords("banks", "2 roles, 1 channels"));
  EXPECT_FALSE(hasKnownWords("protocol", ""));
  EXPECT_TRUE(hasKnownWords(
      "coverage", "all elements of 1 result written exactly once, 2 accesses "
                  "in bounds, for all sizes with dim1_0 = min(dim0_0, 4), no "
                  "index beyond 64 bits"));
  EXPECT_FALSE(hasKnownWords(
      "coverage", "all elements of 1 result written, for all sizes"));
  EXPECT_FALSE(hasKnownWords("coverage",
                             "2 accesses in bounds, and everything is right"));
}
