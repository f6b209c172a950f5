//===- MutantsTest.cpp - Faults are found, with a witness -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"
#include "gtest/gtest.h"
#include <set>

using namespace tracea::coverage;
using namespace tracea::coverage::designs;

namespace {
struct Mutant {
  std::string name;
  Problem problem;
  std::set<Property> properties;
};

constexpr Property C = Property::Cover, D = Property::Unique,
                   B = Property::Bounds, L = Property::Claim;

std::vector<Mutant> mutants() {
  using T = Tiles;
  std::vector<Mutant> all;
  auto add = [&](const char *name, Problem problem, std::set<Property> p) {
    all.push_back({name, std::move(problem), std::move(p)});
  };
  T good;
  add("grid rounded down", tiles({{128, 128, T::Less, T::Floor}}), {C});
  add("last tile dropped", tiles({{128, 128, T::Less, T::OneLess}, good}), {C});
  add("mask at most", tiles({{128, 128, T::AtMost}}), {B});
  add("no mask", tiles({good, {256, 256, T::None}}), {B});
  add("tile stride 127", tiles({{128, 127}}), {D});
  add("tile stride 129", tiles({{128, 129}}), {C});
  add("tile stride 129 in the third dimension",
      tiles({{16, 16}, {16, 16}, {128, 129}}), {C});
  add("tiles overlap by 8", tiles({{128, 120}, good}), {D});
  add("one element a tile lost", tiles({{127, 128}}), {C});
  add("symbolic tile without a mask", symbolicTiles(true, false), {B});
  add("symbolic tile, last dropped", symbolicTiles(true, true, 1), {C});
  add("symbolic products, last tile dropped", symbolicTiles(false, true, 1),
      {C});
  for (auto [name, fault] :
       {std::pair{"raster without a clipped group", RasterFault::FullGroups},
        {"raster groups overlap", RasterFault::Overlap},
        {"raster quotient and remainder swapped", RasterFault::Swapped},
        {"raster without the last group", RasterFault::NoLastGroup}})
    add(name, rasterByCases(8, fault), {B, C, D});
  add("raster with one tile more", raster(false, 1), {B});
  add("raster with one tile less", raster(true, -1), {C});
  add("persistent stride 131", persistent({132, 131, 0, false}), {D});
  add("persistent with 128 ctas", persistent({128, 132, 0, false}), {C});
  add("persistent from 1", persistent({132, 132, 1, false}), {C});
  add("persistent one step too far", persistent({132, 132, 0, true}), {B});
  add("split-K chunk rounded down", splitK(4, SplitFault::FloorChunk), {C});
  add("split-K inclusive end", splitK(4, SplitFault::InclusiveEnd), {D});
  add("split-K without a clip", splitK(4, SplitFault::NoClip), {B});
  add("split-K tail lost", splitK(4, SplitFault::LostTail), {C});
  add("pixels divided by 55", pixels(56, 56, PixelFault::Divisor), {B, C});
  add("pixels without a mask", pixels(55, 57, PixelFault::NoMask), {B});
  add("pixels in tiles of stride 127", pixels(56, 56, PixelFault::Stride), {D});
  add("pixels, height for width", pixelsSymbolic(true), {B, C});
  add("convolution with one output more", convInput({2, 3, 1, 7, 1}), {B});
  add("convolution dilated by one more", convInput({3, 2, 2, 5, 0, 1}), {B});
  add("symbolic convolution with one output more", convInputSymbolic(1), {B});
  add("leading dimension one short of a row", rowMajor(-1), {B});
  add("buffer one row short", rowMajor(0, 1), {B});
  add("halo one short", halo({8, 1, 3, 1, 9}), {B});
  add("halo mask at most", halo({8, 1, 3, 1, 10, 8, Halo::AtMost}), {B});
  add("halo without a mask", halo({8, 2, 3, 1, 17, 8, Halo::None}), {B});
  add("halo of tiles 7 apart", halo({8, 1, 3, 1, 10, 7}), {B});
  for (auto [name, fault] :
       {std::pair{"tile list ends early", AttentionFault::NoLastTile},
        {"tile list with the offset's sign", AttentionFault::OffsetSign},
        {"tile list window starts late", AttentionFault::WindowEnd},
        {"mask-free test at the last row", AttentionFault::FreeByEnd},
        {"tile list with one tile more", AttentionFault::OneMore}})
    add(name, attention(fault), {L});
  add("head as long as the offset", vectorStores(VectorFault::Head),
      {L, B, C, D});
  add("vector store over the end", vectorStores(VectorFault::BodyEnd), {B});
  add("tail from the second element", vectorStores(VectorFault::TailStart),
      {C});
  add("head not clipped", vectorStores(VectorFault::HeadUnclipped), {B});
  add("register basis doubled", fragments(FragmentFault::DoubledRegister),
      {C, D});
  add("basis vectors swapped", fragments(FragmentFault::SwappedBasis), {C, D});
  add("replicas without a guard", fragments(FragmentFault::UnguardedReplicas),
      {D});
  add("guard on a bit too many", fragments(FragmentFault::GuardTooTight), {C});
  add("fragment rows 4 apart", fragmentByDivision(32, 4), {C, D});
  add("fragment columns 1 apart", fragmentByDivision(32, 8, 1), {C, D});
  add("whole product, tiles of 127 rows", wholeGemm(127), {D, C});
  add("whole product without a row mask", wholeGemm(128, false), {B});
  add("whole product, loop not clipped", wholeGemm(128, true, false), {B});
  return all;
}

/// The sizes of a finding; those that it does not name are 1.
std::map<std::string, int64_t> sizesOf(const Problem &problem,
                                       const Finding &finding) {
  std::map<std::string, int64_t> sizes;
  for (uint32_t i = 0; i < problem.space.size(); ++i)
    if (problem.space.kind({i}) == TermKind::Symbol)
      sizes[problem.space.name({i})] = 1;
  for (const auto &[name, value] : finding.point)
    if (sizes.count(name))
      sizes[name] = value;
  return sizes;
}

/// What a writer writes at a point; nothing where its guard fails.
std::optional<std::vector<int64_t>>
writes(const Problem &problem, const Writer &writer,
       const std::map<std::string, int64_t> &sizes,
       const std::vector<std::pair<std::string, int64_t>> &point) {
  std::map<Term, int64_t> values;
  for (const auto &[name, value] : sizes)
    values[*problem.space.find(name)] = value;
  for (const auto &[name, value] : point)
    values[*problem.space.find(name)] = value;
  for (Term id : writer.ids) {
    const Range &range = problem.space.range(id);
    if (!values.count(id) ||
        values[id] < problem.space.evaluate(range.lower, values) ||
        (range.upper &&
         values[id] >= problem.space.evaluate(*range.upper, values)))
      return std::nullopt;
  }
  for (const Constraint &constraint : writer.guard)
    if (!problem.space.holds(constraint, values).value_or(false))
      return std::nullopt;
  std::vector<int64_t> element;
  for (const Expr &expr : writer.map)
    element.push_back(*problem.space.evaluate(expr, values));
  return element;
}

TEST(Mutants, AreRefuted) {
  std::vector<Mutant> all = mutants();
  std::set<std::string> names;
  for (const Mutant &mutant : all) {
    SCOPED_TRACE(mutant.name);
    EXPECT_TRUE(names.insert(mutant.name).second);
    Result result = decide(mutant.problem);
    ASSERT_EQ(result.verdict, Verdict::Refuted) << result.reason;
    const Finding &finding = result.finding;
    EXPECT_TRUE(mutant.properties.count(finding.property)) << finding.str();
    if (getenv("TRACEA_COVERAGE_TIMES"))
      printf("%-44s %7.2f ms  %s\n", mutant.name.c_str(),
             result.statistics.milliseconds, finding.str().c_str());
    // Counting finds a fault at the same sizes.
    std::map<std::string, int64_t> sizes = sizesOf(mutant.problem, finding);
    Result counted = enumerate(mutant.problem, sizes, 1 << 22);
    EXPECT_EQ(counted.verdict, Verdict::Refuted)
        << finding.str() << counted.reason;
    // And the events that are named do what is said of them.
    if (finding.stage < 0)
      continue;
    const auto *affine = std::get_if<AffineStage>(
        &mutant.problem.stages[size_t(finding.stage)].kind);
    if (!affine || finding.writer < 0)
      continue;
    auto first = writes(mutant.problem, affine->writers[size_t(finding.writer)],
                        sizes, finding.point);
    EXPECT_TRUE(first) << finding.str();
    if (finding.property != D)
      continue;
    auto second =
        writes(mutant.problem, affine->writers[size_t(finding.otherWriter)],
               sizes, finding.otherPoint);
    EXPECT_EQ(first, second) << finding.str();
    EXPECT_TRUE(finding.writer != finding.otherWriter ||
                !std::includes(finding.point.begin(), finding.point.end(),
                               finding.otherPoint.begin(),
                               finding.otherPoint.end()))
        << finding.str();
  }
  EXPECT_GE(all.size(), 50u);
}

/// Right designs are right for small sizes by counting as well: the two ways
/// agree on what the problems mean.
TEST(Mutants, RightDesignsByCounting) {
  std::vector<std::pair<Problem, std::vector<std::map<std::string, int64_t>>>>
      cases;
  cases.push_back({tiles({{4, 4}, {3, 3}}), {}});
  for (int64_t a = 0; a < 10; ++a)
    for (int64_t b : {0, 1, 7})
      cases.back().second.push_back({{"N0", a}, {"N1", b}});
  cases.push_back({rasterByCases(4), {}});
  cases.push_back({raster(false), {}});
  for (int64_t a : {0, 1, 3, 4, 5, 16, 17, 35})
    for (int64_t b : {0, 1, 3})
      for (size_t i : {1u, 2u})
        cases[i].second.push_back({{"nM", a}, {"nN", b}});
  cases.push_back({raster(true), {}});
  for (int64_t a : {0, 1, 5, 12})
    for (int64_t g : {1, 3, 5, 20})
      cases.back().second.push_back({{"nM", a}, {"nN", 3}, {"G", g}});
  cases.push_back({vectorStores(), {}});
  for (int64_t n = 0; n < 30; ++n)
    for (int64_t a = 0; a < 8; ++a)
      cases.back().second.push_back({{"N", n}, {"a", a}});
  cases.push_back({splitK(3), {}});
  for (int64_t k : {0, 1, 64, 65, 200, 400})
    cases.back().second.push_back({{"K", k}});
  cases.push_back({splitKSymbolic(), {}});
  for (int64_t k : {1, 2, 7, 12})
    for (int64_t split : {1, 2, 5, 20})
      cases.back().second.push_back({{"nK", k}, {"S", split}});
  cases.push_back({pixelsSymbolic(), {}});
  for (int64_t n : {0, 1, 3})
    cases.back().second.push_back({{"N", n}, {"P", 5}, {"Q", 7}});
  cases.push_back({attention(), {}});
  for (int64_t q : {0, 1, 129})
    for (int64_t k : {0, 1, 70})
      for (int64_t w : {1, 65})
        cases.back().second.push_back({{"Sq", q}, {"Sk", k}, {"W", w}});
  cases.push_back({wholeGemm(), {}});
  for (int64_t m : {0, 1, 130})
    cases.back().second.push_back({{"M", m}, {"N", 33}, {"ctas", 3}});
  for (const auto &[problem, sizes] : cases) {
    EXPECT_EQ(decide(problem).verdict, Verdict::Proved);
    EXPECT_FALSE(sizes.empty());
    for (const auto &at : sizes) {
      Result counted = enumerate(problem, at, 1 << 23);
      EXPECT_EQ(counted.verdict, Verdict::Proved)
          << writeModel(problem) << ": " << counted.reason
          << counted.finding.str();
    }
  }
}
} // namespace
