//===- SwizzleSolverTest.cpp - The solver against brute force -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/SwizzleSolver.h"
#include "RandomF2.h"
#include "tracea/Algebra/BankSimulator.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace tracea::algebra;

/// A set of vectors of at most five bits.
static uint32_t setOf(const F2Vectors &basis) {
  uint32_t set = 0;
  for (uint64_t x : combinations(basis))
    set |= uint32_t(1) << x;
  return set;
}

/// All subspaces of F2^m of dimension m − b, as the kernels of all maps to F2^b
/// of full rank.
static std::set<uint32_t> allKernels(unsigned m, unsigned b) {
  std::set<uint32_t> kernels;
  for (uint64_t code = 0; code < (uint64_t(1) << (m * b)); ++code) {
    F2Vectors columns;
    for (unsigned i = 0; i < m; ++i)
      columns.push_back(code >> (i * b) & ((1u << b) - 1));
    F2Matrix map = *F2Matrix::get(b, columns);
    if (map.rank() == b)
      kernels.insert(setOf(map.kernel()));
  }
  return kernels;
}

static void expectDecided(const std::vector<F2Vectors> &spans, unsigned m,
                          unsigned b, bool exists, const std::string &context) {
  Expected<Avoidance> answer = findAvoidingSubspace(spans, m, b);
  ASSERT_TRUE(answer) << answer.message();
  ASSERT_EQ(answer->subspace.has_value(), exists) << context;
  ASSERT_EQ(answer->refutation.has_value(), !exists) << context;
  if (!exists) {
    ASSERT_TRUE(isValidRefutation(*answer->refutation, spans, m, b)) << context;
    return;
  }
  ASSERT_EQ(rankOf(*answer->subspace), m - b) << context;
  for (const F2Vectors &span : spans)
    ASSERT_TRUE(intersection(span, *answer->subspace).empty()) << context;
  F2Matrix map = *mapOntoBankZero(*answer->subspace, m, b);
  ASSERT_TRUE(map.isInvertible()) << context;
  for (uint64_t x : *answer->subspace)
    ASSERT_EQ(map.apply(x) & ((1u << b) - 1), 0u) << context;
}

TEST(SwizzleSolver, AgreesWithBruteForceOnSmallSpaces) {
  constexpr uint64_t seed = 40;
  RandomF2 random(seed);
  unsigned possible = 0, impossible = 0, withBranches = 0, twoAccesses = 0;
  for (auto [m, b] : {std::pair<unsigned, unsigned>{3, 1},
                      {3, 2},
                      {4, 1},
                      {4, 2},
                      {4, 3},
                      {5, 2},
                      {5, 3}}) {
    std::set<uint32_t> kernels = allKernels(m, b);
    for (int round = 0; round < 400; ++round) {
      std::vector<F2Vectors> spans(2 + random.below(5));
      uint32_t forbidden = 0;
      for (F2Vectors &span : spans) {
        size_t dim = random.below(5) ? b : 1 + random.below(b);
        while (rankOf(span) < dim)
          span = random.vectors(dim, m);
        forbidden |= setOf(span);
      }
      bool exists = false;
      for (uint32_t kernel : kernels)
        exists |= (kernel & forbidden) == 1;
      std::string context = "seed " + std::to_string(seed) + " m " +
                            std::to_string(m) + " b " + std::to_string(b) +
                            " round " + std::to_string(round);
      expectDecided(spans, m, b, exists, context);
      ++(exists ? possible : impossible);
      if (!exists)
        withBranches += !findAvoidingSubspace(spans, m, b)
                             ->refutation->excludesEveryLayout();
      // Two accesses of at most b dimensions always have a common subspace.
      if (spans.size() == 2) {
        ++twoAccesses;
        ASSERT_TRUE(exists) << context;
      }
    }
  }
  EXPECT_GT(possible, 1000u);
  EXPECT_GT(impossible, 300u);
  EXPECT_GT(withBranches, 5u);
  EXPECT_GT(twoAccesses, 300u);
}

// The known instance in which nothing of dimension 3 lies in the union, yet no
// subspace of dimension 2 avoids it: the proof needs branches.
TEST(SwizzleSolver, ProofWithBranches) {
  std::vector<F2Vectors> spans{{4, 5},  {11, 2}, {15, 13},
                               {8, 13}, {5, 8},  {2, 8}};
  Expected<Avoidance> answer = findAvoidingSubspace(spans, 4, 2);
  ASSERT_TRUE(answer && answer->refutation);
  EXPECT_FALSE(answer->refutation->excludesEveryLayout());
  EXPECT_TRUE(isValidRefutation(*answer->refutation, spans, 4, 2));
  // Damage to it is noticed.
  Refutation proof = *answer->refutation;
  proof.branches.pop_back();
  EXPECT_FALSE(isValidRefutation(proof, spans, 4, 2));
  proof = *answer->refutation;
  proof.subspace.pop_back();
  EXPECT_FALSE(isValidRefutation(proof, spans, 4, 2));
  proof = *answer->refutation;
  proof.branches[0].chosen = 4;
  EXPECT_FALSE(isValidRefutation(proof, spans, 4, 2));
  proof = *answer->refutation;
  proof.branches[0].rest = *answer->refutation;
  EXPECT_FALSE(isValidRefutation(proof, spans, 4, 2));
  proof = *answer->refutation;
  proof.subspace[1] = proof.subspace[0];
  EXPECT_FALSE(isValidRefutation(proof, spans, 4, 2));
  // And it proves nothing about fewer accesses.
  std::vector<F2Vectors> fewer(spans.begin(), spans.end() - 1);
  EXPECT_FALSE(isValidRefutation(*answer->refutation, fewer, 4, 2) &&
               findAvoidingSubspace(fewer, 4, 2)->subspace.has_value());
}

// Three coordinate subspaces that together cover one of four dimensions.
TEST(SwizzleSolver, CoveredSubspace) {
  std::vector<F2Vectors> spans{{1, 2, 4}, {1, 2, 8}, {1, 2, 12}};
  Expected<Avoidance> answer = findAvoidingSubspace(spans, 9, 3);
  ASSERT_TRUE(answer && answer->refutation);
  EXPECT_TRUE(answer->refutation->excludesEveryLayout());
  EXPECT_EQ(answer->refutation->size(), 1);
  EXPECT_TRUE(sameSpan(answer->refutation->subspace, {1, 2, 4, 8}));
}

TEST(SwizzleSolver, TwoAccessesOfRealisticSize) {
  RandomF2 random(41);
  for (int round = 0; round < 600; ++round) {
    std::vector<F2Vectors> spans(2);
    for (F2Vectors &span : spans)
      while (rankOf(span) < 5)
        span = random.vectors(5, 12);
    expectDecided(spans, 12, 5, true, std::to_string(round));
  }
  for (int round = 0; round < 300; ++round) {
    std::vector<F2Vectors> spans(4);
    for (F2Vectors &span : spans)
      while (rankOf(span) < 3)
        span = random.vectors(3, 4);
    Expected<Avoidance> answer = findAvoidingSubspace(spans, 9, 3);
    ASSERT_TRUE(answer);
    expectDecided(spans, 9, 3, answer->subspace.has_value(),
                  std::to_string(round));
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// A row-major tile: the byte offsets of steps along rows and columns.
struct Tile {
  uint64_t pitch, elementBytes;
  F2Vectors rows(std::initializer_list<uint64_t> steps) const {
    F2Vectors offsets;
    for (uint64_t step : steps)
      offsets.push_back(step * pitch);
    return offsets;
  }
  F2Vectors cols(std::initializer_list<uint64_t> steps) const {
    F2Vectors offsets;
    for (uint64_t step : steps)
      offsets.push_back(step * elementBytes);
    return offsets;
  }
};
} // namespace

static F2Vectors operator+(F2Vectors a, const F2Vectors &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

static SwizzleAccess access(const char *name, F2Vectors lanes, unsigned width,
                            AccessKind kind, F2Vectors unrolled = {}) {
  return {name, *F2Matrix::get(64, std::move(lanes)), width, kind,
          std::move(unrolled)};
}

static constexpr AccessKind R = AccessKind::Read, W = AccessKind::Write;

/// Solves, has the answer checked, and every degree simulated at each unrolled
/// offset.
static SwizzleAnswer solve(const char *arch, unsigned offsetBits,
                           std::vector<SwizzleAccess> accesses,
                           bool xorOnly = false) {
  SwizzleProblem problem{*bankModel(arch), offsetBits, std::move(accesses),
                         xorOnly};
  Expected<SwizzleAnswer> answer = solveSwizzle(problem);
  EXPECT_TRUE(answer) << answer.message();
  if (!answer)
    return {};
  EXPECT_EQ(checkSwizzle(problem, *answer), "");
  for (size_t i = 0; i < problem.accesses.size(); ++i) {
    const SwizzleAccess &a = problem.accesses[i];
    for (uint64_t unrolled : combinations(a.unrolled)) {
      std::vector<uint64_t> addresses;
      for (int64_t l = 0; l < problem.model.numLanes(); ++l)
        addresses.push_back(
            answer->swizzle.apply(unrolled ^ a.lanesToBytes.apply(l)));
      EXPECT_EQ(*simulateAccess(problem.model, addresses, a.widthBytes, a.kind),
                std::vector<int64_t>(answer->degrees[i].phases,
                                     answer->degrees[i].degree))
          << a.name << " at " << unrolled;
    }
    EXPECT_GE(answer->degrees[i].degree, answer->degreeBounds[i]);
  }
  return *answer;
}

static std::vector<int64_t> degreesOf(const SwizzleAnswer &answer) {
  std::vector<int64_t> degrees;
  for (const ConflictDegree &degree : answer.degrees)
    degrees.push_back(degree.degree);
  return degrees;
}

using Degrees = std::vector<int64_t>;

// A 64×64 tile of 16-bit elements: 16-byte writes along rows, ldmatrix straight
// and transposed. The 128-byte mode is the cheapest.
TEST(SwizzleSolver, HalfTile64x64) {
  Tile t{128, 2};
  std::vector<SwizzleAccess> accesses{
      access("store", t.cols({8, 16, 32}) + t.rows({1, 2}), 16, W,
             t.rows({4, 8, 16, 32})),
      access("ldmatrix", t.rows({1, 2, 4, 8}) + t.cols({8}), 16, R,
             t.cols({16, 32}) + t.rows({16, 32})),
      access("ldmatrix.trans", t.rows({1, 2, 4, 8}) + t.cols({8}), 16, R,
             t.cols({16, 32}) + t.rows({16, 32}))};
  SwizzleAnswer answer = solve("nvidia", 13, accesses);
  EXPECT_TRUE(answer.isConflictFree());
  EXPECT_EQ(degreesOf(answer), (Degrees{1, 1, 1}));
  EXPECT_EQ(answer.swizzle, Swizzle::mode(SwizzleMode::Bytes128));
  EXPECT_EQ(answer.cost.shifts, 1u);
  EXPECT_TRUE(answer.leastCost);
  ASSERT_TRUE(answer.terms);
  EXPECT_EQ(*answer.terms, (std::vector<SwizzleTerm>{{4, 7}, {5, 8}, {6, 9}}));

  // A column of 2-byte reads needs 32 banks' worth of rows: five dimensions.
  accesses.push_back(access("column", t.rows({1, 2, 4, 8, 16}), 2, R));
  answer = solve("nvidia", 13, accesses);
  EXPECT_FALSE(answer.isConflictFree());
  ASSERT_TRUE(answer.decision.refutation);
  EXPECT_TRUE(answer.decision.refutation->excludesEveryLayout());
  EXPECT_EQ(answer.degreeBounds, (Degrees{1, 1, 1, 4}));
  EXPECT_EQ(degreesOf(answer), (Degrees{1, 1, 1, 4}));
}

// 128×32 of 16 bits, rows of 64 bytes: the 64-byte mode.
TEST(SwizzleSolver, HalfTile128x32) {
  Tile t{64, 2};
  SwizzleAnswer answer =
      solve("nvidia", 13,
            {access("store", t.cols({8, 16}) + t.rows({1, 2, 4}), 16, W),
             access("ldmatrix", t.rows({1, 2, 4, 8}) + t.cols({8}), 16, R)});
  EXPECT_EQ(degreesOf(answer), (Degrees{1, 1}));
  EXPECT_EQ(answer.swizzle, Swizzle::mode(SwizzleMode::Bytes64));
}

// 64×128 of 16 bits, rows of 256 bytes: a distance of four, where the 128-byte
// mode leaves two conflicts.
TEST(SwizzleSolver, HalfTile64x128) {
  Tile t{256, 2};
  SwizzleAnswer answer =
      solve("nvidia", 14,
            {access("store", t.cols({8, 16, 32, 64}) + t.rows({1}), 16, W),
             access("ldmatrix", t.rows({1, 2, 4, 8}) + t.cols({8}), 16, R),
             access("fragment", t.cols({2, 4}) + t.rows({1, 2, 4}), 4, R)});
  EXPECT_EQ(degreesOf(answer), (Degrees{1, 1, 1}));
  EXPECT_EQ(answer.swizzle, *Swizzle::xorBits(4, 3, 4));
  EXPECT_EQ(answer.cost.shifts, 1u);
}

// Transposing 32×32 words.
TEST(SwizzleSolver, Transposes) {
  Tile t{128, 4};
  F2Vectors row = t.cols({1, 2, 4, 8, 16}), column = t.rows({1, 2, 4, 8, 16});
  SwizzleAnswer words =
      solve("nvidia", 12,
            {access("rows", row, 4, W), access("columns", column, 4, R)});
  EXPECT_EQ(degreesOf(words), (Degrees{1, 1}));
  EXPECT_EQ(words.swizzle, *Swizzle::xorBits(2, 5, 5));
  // 16-byte rows and word columns: five dimensions against three bank bits.
  SwizzleAnswer mixed =
      solve("nvidia", 12,
            {access("rows", t.cols({4, 8, 16}) + t.rows({1, 2}), 16, W),
             access("columns", column, 4, R)});
  EXPECT_FALSE(mixed.isConflictFree());
  EXPECT_EQ(mixed.degreeBounds, (Degrees{1, 4}));
  EXPECT_EQ(degreesOf(mixed), (Degrees{1, 4}));
  // 4×4 blocks transposed in registers.
  SwizzleAnswer blocks =
      solve("nvidia", 12,
            {access("rows", t.cols({4, 8, 16}) + t.rows({1, 2}), 16, W),
             access("columns", t.rows({1, 2, 4, 8, 16}), 16, R)});
  EXPECT_EQ(degreesOf(blocks), (Degrees{1, 1}));
  EXPECT_EQ(blocks.swizzle, *Swizzle::xorBits(4, 3, 3));
}

// bf16 epilogue: stmatrix, 32-bit fragment writes, 16-byte row reads.
TEST(SwizzleSolver, Epilogue) {
  Tile t{128, 2};
  SwizzleAnswer answer =
      solve("nvidia", 13,
            {access("stmatrix", t.rows({1, 2, 4, 8}) + t.cols({8}), 16, W),
             access("fragment", t.cols({2, 4}) + t.rows({1, 2, 4}), 4, W),
             access("rows", t.cols({8, 16, 32}) + t.rows({1, 2}), 16, R)});
  EXPECT_EQ(degreesOf(answer), (Degrees{1, 1, 1}));
  EXPECT_EQ(answer.swizzle, Swizzle::mode(SwizzleMode::Bytes128));
}

// A byte gather of an fp8 tile needs a second distance.
TEST(SwizzleSolver, TwoShifts) {
  Tile t{128, 1};
  SwizzleAnswer answer =
      solve("nvidia", 13,
            {access("store", t.cols({16, 32, 64}) + t.rows({1, 2}), 16, W),
             access("ldmatrix", t.rows({1, 2, 4, 8}) + t.cols({16}), 16, R),
             access("gather", t.rows({4, 8}) + t.cols({1, 2, 4}), 1, R)});
  EXPECT_TRUE(answer.isConflictFree());
  EXPECT_LE(answer.cost.shifts, 2u);
  EXPECT_TRUE(answer.leastCost);
}

// AMD's paired phases, 64 lanes.
TEST(SwizzleSolver, Gfx942) {
  Tile t{128, 2};
  SwizzleAnswer answer =
      solve("gfx942", 13,
            {access("store", t.cols({8, 16, 32}) + t.rows({1, 2, 4}), 16, W,
                    t.rows({8, 16, 32})),
             access("read 16x16", t.rows({1, 2, 4, 8}) + t.cols({8, 16}), 16, R,
                    t.cols({32}) + t.rows({16, 32})),
             access("read 32x32", t.rows({1, 2, 4, 8, 16}) + t.cols({8}), 16, R,
                    t.cols({16, 32}) + t.rows({32}))});
  EXPECT_EQ(degreesOf(answer), (Degrees{1, 1, 1}));
  EXPECT_EQ(answer.swizzle, *Swizzle::xorBits(4, 3, 3));
  // 8-byte reads beside 16-byte chunks that must stay whole: impossible.
  SwizzleAnswer narrow =
      solve("gfx942", 13,
            {access("store", t.cols({8, 16, 32}) + t.rows({1, 2, 4}), 16, W),
             access("read b64", t.rows({1, 2, 4, 8}) + t.cols({4, 8}), 8, R)});
  EXPECT_FALSE(narrow.isConflictFree());
  EXPECT_EQ(degreesOf(narrow), (Degrees{1, 2}));
}

// 64 banks.
TEST(SwizzleSolver, Gfx950) {
  Tile t{128, 2};
  SwizzleAnswer answer =
      solve("gfx950", 13,
            {access("store", t.cols({8, 16, 32}) + t.rows({1, 2, 4}), 16, W),
             access("read", t.rows({1, 2, 4, 8}) + t.cols({8, 16}), 16, R)});
  EXPECT_EQ(degreesOf(answer), (Degrees{1, 1}));
  EXPECT_EQ(answer.cost.shifts, 1u);
  EXPECT_EQ(answer.cost.xoredBits, 2u);
}

TEST(SwizzleSolver, NothingToDo) {
  Tile t{128, 4};
  SwizzleAnswer rows =
      solve("nvidia", 12, {access("rows", t.cols({1, 2, 4, 8, 16}), 4, W)});
  EXPECT_TRUE(rows.swizzle.isIdentity());
  EXPECT_EQ(rows.cost.shifts, 0u);
  EXPECT_TRUE(solve("nvidia", 12, {}).swizzle.isIdentity());
  // A tile smaller than all banks.
  SwizzleAnswer small =
      solve("nvidia", 5, {access("rows", {4, 8, 16, 0, 0}, 4, R)});
  EXPECT_TRUE(small.isConflictFree());
  EXPECT_TRUE(small.swizzle.isIdentity());
}

// The chunks {1,2,8} and {1,2,12}: with those of a contiguous access, {1,2,4},
// they cover four dimensions. So no XOR swizzle is free of conflicts, but a
// general one is.
TEST(SwizzleSolver, NotEverySwizzleIsOfXorForm) {
  std::vector<SwizzleAccess> accesses{
      access("a", {16, 32, 128, 0, 0}, 16, R),
      access("b", {16, 32, 64 + 128, 0, 0}, 16, R)};
  SwizzleAnswer general = solve("nvidia", 13, accesses);
  EXPECT_TRUE(general.isConflictFree());
  EXPECT_FALSE(general.terms);
  EXPECT_EQ(degreesOf(general), (Degrees{1, 1}));
  SwizzleAnswer terms = solve("nvidia", 13, accesses, /*xorOnly=*/true);
  EXPECT_FALSE(terms.isConflictFree());
  ASSERT_TRUE(terms.terms);
  EXPECT_EQ(terms.degrees[0].degree + terms.degrees[1].degree, 3);
}

TEST(SwizzleSolver, RandomProblems) {
  constexpr uint64_t seed = 42;
  RandomF2 random(seed);
  unsigned free = 0, refuted = 0;
  for (int round = 0; round < 250; ++round) {
    const std::vector<BankModel> &models = knownBankModels();
    const BankModel &model = models[random.below(models.size())];
    unsigned offsetBits = 10 + random.below(4);
    std::vector<SwizzleAccess> accesses;
    for (uint64_t i = 0, e = 1 + random.below(4); i < e; ++i) {
      unsigned width = 4 << random.below(3);
      F2Vectors lanes;
      for (unsigned l = 0; l < model.laneBits; ++l)
        lanes.push_back((random.below(4)
                             ? uint64_t(1) << random.below(offsetBits)
                             : random.bits(offsetBits)) /
                        width * width);
      accesses.push_back(
          access("random", lanes, width, random.below(2) ? R : W, {512, 256}));
    }
    bool xorOnly = random.below(2);
    SwizzleProblem problem{model, offsetBits, accesses, xorOnly};
    SwizzleLimits limits;
    limits.maxCandidates = 20000;
    Expected<SwizzleAnswer> answer = solveSwizzle(problem, limits);
    ASSERT_TRUE(answer) << "seed " << seed << " round " << round << ": "
                        << answer.message();
    ASSERT_EQ(checkSwizzle(problem, *answer), "")
        << "seed " << seed << " round " << round;
    ++(answer->isConflictFree() ? free : refuted);
    ASSERT_TRUE(answer->terms || !xorOnly);
  }
  EXPECT_GT(free, 50u);
  EXPECT_GT(refuted, 20u);
}

TEST(SwizzleSolver, CheckerNoticesDamage) {
  Tile t{128, 2};
  SwizzleProblem problem{
      *bankModel("nvidia"),
      13,
      {access("store", t.cols({8, 16, 32}) + t.rows({1, 2}), 16, W),
       access("ldmatrix", t.rows({1, 2, 4, 8}) + t.cols({8}), 16, R)},
      false};
  SwizzleAnswer good = *solveSwizzle(problem);
  ASSERT_EQ(checkSwizzle(problem, good), "");
  auto damaged = [&](auto change) {
    SwizzleAnswer answer = good;
    change(answer);
    return checkSwizzle(problem, answer);
  };
  EXPECT_EQ(damaged([](SwizzleAnswer &a) {
              a.swizzle = Swizzle::mode(SwizzleMode::Bytes64);
              a.terms.reset();
            }),
            "ldmatrix has degree 2, not 1");
  EXPECT_EQ(damaged([](SwizzleAnswer &a) { a.terms->pop_back(); }),
            "the terms are not those of the swizzle");
  EXPECT_EQ(damaged([](SwizzleAnswer &a) { (*a.decision.subspace)[0] = 8; }),
            "the subspace meets an access");
  EXPECT_EQ(damaged([](SwizzleAnswer &a) { a.decision.subspace->pop_back(); }),
            "the subspace has the wrong dimension");
  EXPECT_EQ(damaged([](SwizzleAnswer &a) { a.decision.subspace.reset(); }),
            "expected either a subspace or a refutation");
  EXPECT_NE(damaged([](SwizzleAnswer &a) { a.degrees[0].degree = 2; }), "");
  EXPECT_NE(damaged([](SwizzleAnswer &a) { a.degrees.pop_back(); }), "");
  EXPECT_NE(damaged([](SwizzleAnswer &a) { a.bankBits = 2; }), "");
  EXPECT_EQ(damaged([](SwizzleAnswer &a) {
              a.swizzle = *Swizzle::xorBits(3, 3, 3);
              a.terms.reset();
            }),
            "the swizzle breaks vectors of 16 bytes");
  EXPECT_EQ(damaged([](SwizzleAnswer &a) {
              a.swizzle = *Swizzle::xorBits(4, 3, 10);
              a.terms.reset();
            }),
            "the swizzle leaves the tile");
  EXPECT_EQ(damaged([](SwizzleAnswer &a) {
              a.decision.subspace.reset();
              a.decision.refutation = Refutation{{1, 2, 4, 8}, {}};
            }),
            "the refutation does not prove its claim");
}

TEST(SwizzleSolver, Rejects) {
  BankModel nvidia = *bankModel("nvidia");
  auto messageOf = [&](unsigned bits, SwizzleAccess a) {
    return solveSwizzle({nvidia, bits, {a}, false}).message();
  };
  EXPECT_EQ(messageOf(8, access("store", {4, 8, 16, 32, 256}, 4, W)),
            "swizzle: expected offsets of store below 2^8, found 256");
  EXPECT_EQ(messageOf(12, access("store", {4, 8, 16, 32}, 4, W)),
            "bank conflicts: expected 5 lane bits for nvidia, found 4");
  EXPECT_NE(messageOf(12, access("store", {4, 8, 16, 32, 64}, 8, W)), "");
  EXPECT_NE(messageOf(40, access("store", {4, 8, 16, 32, 64}, 4, W)), "");
  EXPECT_FALSE(findAvoidingSubspace({{8}}, 3, 1));
  EXPECT_FALSE(findAvoidingSubspace({}, 3, 4));
  EXPECT_FALSE(mapOntoBankZero({1}, 3, 1));
  // An answer that was not reached is an error, not an answer.
  std::vector<F2Vectors> spans{{4, 5},  {11, 2}, {15, 13},
                               {8, 13}, {5, 8},  {2, 8}};
  EXPECT_EQ(findAvoidingSubspace(spans, 4, 2, 1).message(),
            "swizzle: no answer within 1 nodes of the search");
}
