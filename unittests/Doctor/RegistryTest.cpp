//===- RegistryTest.cpp - Ranking and refusals ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tracea/Doctor/Registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tracea::doctor;
using testing::HasSubstr;

namespace {

/// A variant with a given refusal and cost.
class Fake final : public Variant {
public:
  Fake(std::string name, double cost, Reason refusal = "",
       bool fallback = false, TargetKind onKind = TargetKind::CPU)
      : label(std::move(name)), cost(cost), refusal(std::move(refusal)),
        fallback(fallback), onKind(onKind) {}

  std::string_view name() const override { return label; }
  std::string_view summary() const override { return "is a test"; }
  bool serves(OpKind op) const override { return op == OpKind::Gemm; }
  bool runsOn(TargetKind kind) const override { return kind == onKind; }
  bool isFallback() const override { return fallback; }
  Reason whyNot(const Problem &, const TargetDescription &) const override {
    return refusal;
  }
  Plan plan(const Problem &, const TargetDescription &) const override {
    Plan plan;
    plan.tile = {7};
    return plan;
  }
  Reason checkPlan(const Problem &, const TargetDescription &,
                   const Plan &plan) const override {
    return plan.tile == std::vector<int64_t>{7} ? "" : "the tile is not [7]";
  }
  double cycles(const Problem &, const TargetDescription &,
                const Plan &) const override {
    return cost;
  }

private:
  std::string label;
  double cost;
  Reason refusal;
  bool fallback;
  TargetKind onKind;
};

std::vector<std::string> names(const std::vector<Candidate> &candidates) {
  std::vector<std::string> result;
  for (const Candidate &candidate : candidates)
    result.emplace_back(candidate.variant->name());
  return result;
}

TEST(Registry, NamesAreUnique) {
  Registry registry;
  EXPECT_TRUE(registry.add(std::make_unique<Fake>("a", 1)));
  EXPECT_FALSE(registry.add(std::make_unique<Fake>("a", 2)));
  EXPECT_EQ(registry.variants().size(), 1u);
  EXPECT_NE(registry.find("a"), nullptr);
  EXPECT_EQ(registry.find("b"), nullptr);
}

TEST(Registry, RanksByCostThenFallbackThenRefused) {
  Registry registry;
  registry.add(std::make_unique<Fake>("fallback", 0, "", true));
  registry.add(std::make_unique<Fake>("refused", 1, "it rains"));
  registry.add(std::make_unique<Fake>("slow", 9));
  registry.add(std::make_unique<Fake>("fast", 3));
  registry.add(std::make_unique<Fake>("fast too", 3));
  registry.add(std::make_unique<Fake>("gpu", 0, "", false, TargetKind::CUDA));
  std::vector<Candidate> ranked =
      rank(registry, Problem(), *tracea::target::lookup("znver4"));
  EXPECT_EQ(names(ranked), (std::vector<std::string>{"fast", "fast too", "slow",
                                                     "fallback", "refused"}));
  EXPECT_EQ(ranked[0].cycles, 3);
  EXPECT_EQ(ranked[4].refusal, "it rains");
  EXPECT_FALSE(ranked[4].accepted());

  Problem softmax;
  softmax.kind = OpKind::Softmax;
  EXPECT_TRUE(
      rank(registry, softmax, *tracea::target::lookup("znver4")).empty());
}

TEST(Registry, ChecksSchedulesByHand) {
  Registry registry;
  registry.add(std::make_unique<Fake>("good", 1));
  registry.add(std::make_unique<Fake>("refused", 1, "it rains"));
  registry.add(std::make_unique<Fake>("gpu", 0, "", false, TargetKind::CUDA));
  TargetDescription target = *tracea::target::lookup("znver4");
  Problem problem;
  Plan plan;
  plan.tile = {7};
  EXPECT_EQ(checkSchedule(registry, problem, target, "good", plan), "");
  EXPECT_THAT(checkSchedule(registry, problem, target, "godo", plan),
              HasSubstr("there is no variant 'godo'; tracea.gemm on target "
                        "'znver4' has 'good', 'refused'"));
  EXPECT_THAT(checkSchedule(registry, problem, target, "refused", plan),
              HasSubstr("it rains"));
  EXPECT_THAT(checkSchedule(registry, problem, target, "gpu", plan),
              HasSubstr("does not run on targets of kind cpu"));
  plan.tile = {8};
  EXPECT_THAT(checkSchedule(registry, problem, target, "good", plan),
              HasSubstr("the tile is not [7]"));
  problem.kind = OpKind::Softmax;
  EXPECT_THAT(checkSchedule(registry, problem, target, "good", plan),
              HasSubstr("does not compute tracea.softmax"));
}

TEST(Registry, VariantsHaveFamilies) {
  for (const std::unique_ptr<Variant> &variant : Registry::builtin().variants())
    EXPECT_TRUE(schedule::Params::ofVariant(variant->name()))
        << variant->name();
}

TEST(Extents, Multiply) {
  EXPECT_EQ(multiplyExtents(6, 7), 42);
  EXPECT_EQ(multiplyExtents(kUnknownExtent, 7), kUnknownExtent);
  EXPECT_EQ(multiplyExtents(kUnknownExtent, 0), 0);
  EXPECT_EQ(multiplyExtents(int64_t(1) << 40, int64_t(1) << 40),
            kUnknownExtent);
}

} // namespace
