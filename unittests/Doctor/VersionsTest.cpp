//===- VersionsTest.cpp - Several plans where only the run knows a size ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Doctor/Registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <limits>

using namespace tracea::doctor;
using testing::HasSubstr;

namespace {

TargetDescription target(const char *name) {
  return *tracea::target::lookup(name);
}

Problem gemm(int64_t m, int64_t n, int64_t k) {
  Problem problem;
  problem.operand = problem.second = ElementType::BF16;
  problem.accumulator = ElementType::F32;
  problem.result = ElementType::BF16;
  problem.transposeSecond = true;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return problem;
}

Problem conv(int64_t images) {
  Problem problem = gemm(1, 1, 1);
  problem.kind = OpKind::Conv2D;
  problem.images = images;
  problem.outputHeight = problem.outputWidth = 56;
  problem.groupChannels = problem.imageRow = problem.filterRow = 64;
  problem.groupFilters = 256;
  return problem;
}

Candidate best(const Problem &problem, const char *name) {
  return rank(Registry::builtin(), problem, target(name)).front();
}

Versions versions(const Problem &problem, const char *name) {
  return findVersions(Registry::builtin(), problem, target(name),
                      best(problem, name));
}

double cyclesOf(const Candidate &candidate, const Problem &problem,
                const char *name) {
  return candidate.variant->cycles(problem, target(name), candidate.plan);
}

/// That of the versions which takes a result of so many elements.
const Candidate &find(const Versions &versions, int64_t elements) {
  for (const Version &version : versions.list)
    if (!version.most || elements <= version.most)
      return version.candidate;
  ADD_FAILURE() << "no version for " << elements << " elements";
  return versions.list.back().candidate;
}

TEST(Versions, ComeNearToTheBestPlanOfEachSize) {
  for (const char *name : {"sm_90a", "sm_80"}) {
    Versions found = versions(gemm(kUnknownExtent, 4096, 4096), name);
    ASSERT_GE(found.list.size(), 2u) << name;
    EXPECT_GT(found.gain, 1.05);
    EXPECT_EQ(found.list.back().most, 0);
    for (size_t i = 1; i + 1 < found.list.size(); ++i)
      EXPECT_LT(found.list[i - 1].most, found.list[i].most);
    for (int64_t m : {1, 16, 200, 4096, 16384}) {
      Problem known = gemm(m, 4096, 4096);
      EXPECT_LE(cyclesOf(find(found, m * 4096), known, name),
                1.4 * best(known, name).cycles)
          << name << " " << m;
    }
  }
  Versions images = versions(conv(kUnknownExtent), "sm_90a");
  ASSERT_GE(images.list.size(), 1u);
  for (int64_t n : {1, 32, 128})
    EXPECT_LE(cyclesOf(find(images, n * 56 * 56 * 256), conv(n), "sm_90a"),
              1.4 * best(conv(n), "sm_90a").cycles)
        << n;
}

// An image may be a row of patches: hundreds of them are usual then.
TEST(Versions, FewPixelsMakeManyImages) {
  auto rows = [](int64_t images) {
    Problem patches = conv(images);
    patches.imageHeight = patches.filterHeight = 16;
    patches.filterWidth = 1;
    patches.outputHeight = 1;
    patches.imageWidth = patches.outputWidth = 14;
    patches.padTop = patches.padLeft = 0;
    patches.groupChannels = patches.imageRow = patches.filterRow = 48;
    patches.groupFilters = 768;
    return patches;
  };
  Versions found = versions(rows(kUnknownExtent), "sm_90a");
  ASSERT_GE(found.list.size(), 2u);
  for (int64_t images : {14, 8 * 14, 32 * 14, 128 * 14})
    EXPECT_LE(cyclesOf(find(found, images * 14 * 768), rows(images), "sm_90a"),
              1.5 * best(rows(images), "sm_90a").cycles)
        << images;
}

// Images of any size are few pixels, or as many as a batch of them has.
TEST(Versions, ImagesOfAnySizeHaveTilesForManyPixels) {
  auto sized = [](int64_t images, int64_t height, int64_t width) {
    Problem problem = conv(images);
    problem.imageHeight = problem.outputHeight = height;
    problem.imageWidth = problem.outputWidth = width;
    problem.filterHeight = problem.filterWidth = 3;
    problem.padTop = problem.padLeft = 1;
    problem.groupFilters = 64;
    return problem;
  };
  auto least = [&](Problem known) {
    known.imageHeight = kUnknownExtent;
    double cycles = std::numeric_limits<double>::max();
    for (const Candidate &candidate :
         rank(Registry::builtin(), known, target("sm_90a")))
      if (candidate.accepted() && candidate.variant->name() == "conv2d.warp")
        cycles = candidate.cycles;
    return cycles;
  };
  constexpr int64_t any = kUnknownExtent;
  for (const Problem &open : {sized(any, any, any), sized(1, any, any),
                              sized(32, any, 56), sized(any, 56, any)}) {
    Versions found = versions(open, "sm_90a");
    ASSERT_GE(found.list.size(), 2u);
    EXPECT_GT(found.gain, 1.05);
    for (auto [images, side] : {std::pair<int64_t, int64_t>(1, 7),
                                {1, 56},
                                {8, 56},
                                {32, 56},
                                {1, 317},
                                {128, 56}}) {
      Problem known = sized(images, side, side);
      known.imageHeight = any;
      EXPECT_LE(
          cyclesOf(find(found, images * side * side * 64), known, "sm_90a"),
          1.4 * least(known))
          << images << " images of " << side;
    }
  }
  // The pixels of a batch of small images are many, and have large tiles.
  Problem deep = sized(any, any, any), batch = sized(32, 14, 14);
  for (Problem *problem : {&deep, &batch})
    problem->groupChannels = problem->imageRow = problem->filterRow =
        problem->groupFilters = 256;
  Candidate found = find(versions(deep, "sm_90a"), int64_t(32) * 14 * 14 * 256);
  EXPECT_GE(found.plan.tile[0] * found.plan.tile[1], 64 * 64);
  // Gradients sum over pixels: more of them are no larger a result.
  Problem gradient = sized(any, any, any);
  gradient.kind = OpKind::Conv2DWGrad;
  for (const Version &version : versions(gradient, "sm_90a").list)
    EXPECT_EQ(version.most, 0);
}

// A launch has one view of its tensors, and of pixels kernels of different
// variants may have different ones.
TEST(Versions, KernelsOfALaunchHaveOneView) {
  for (int64_t channels : {64, 128, 256}) {
    Problem thin = conv(kUnknownExtent);
    thin.filterHeight = thin.filterWidth = 1;
    thin.padTop = thin.padLeft = 0;
    thin.groupChannels = thin.imageRow = thin.filterRow = channels;
    thin.groupFilters = 4 * channels;
    thin.addends = 1;
    for (const char *name : {"sm_90a", "sm_80"}) {
      Versions found = versions(thin, name);
      for (const Version &version : found.list)
        EXPECT_EQ(version.candidate.variant->name(),
                  found.list.front().candidate.variant->name())
            << channels << " " << name;
    }
  }
}

TEST(Versions, AreOnlyWhereAnExtentIsOpen) {
  EXPECT_TRUE(versions(gemm(4096, 4096, 4096), "sm_90a").list.empty());
  // Rows in memory depend on k.
  EXPECT_TRUE(versions(gemm(512, 512, kUnknownExtent), "sm_90a").list.empty());
  EXPECT_TRUE(versions(conv(32), "sm_90a").list.empty());
  Problem batch = gemm(64, 64, 64);
  batch.batch = kUnknownExtent;
  EXPECT_FALSE(versions(batch, "sm_90a").list.empty());
}

TEST(Versions, AreOnlyWhereKernelsCanStandBesideEachOther) {
  Problem open = gemm(kUnknownExtent, 4096, 4096);
  // A CPU's programs have one kernel a launch.
  EXPECT_TRUE(versions(open, "x86-64-v4").list.empty());
  // Operands whose rows are padded have another kernel, and fast ones.
  EXPECT_TRUE(
      versions(gemm(kUnknownExtent, 4096, 1001), "sm_90a").list.empty());
  Problem reduces = open;
  reduces.reductions = 1;
  EXPECT_TRUE(versions(reduces, "sm_90a").list.empty());
  for (const Version &version : versions(open, "sm_90a").list)
    EXPECT_EQ(version.candidate.variant->whyAlone(open, target("sm_90a"),
                                                  version.candidate.plan),
              "");
}

// Sums in parts have another kernel, whichever operation they are of.
TEST(Versions, ConvolutionsAreWholeSums) {
  Problem deep = conv(kUnknownExtent);
  deep.outputHeight = deep.outputWidth = 7;
  deep.imageHeight = deep.imageWidth = 7;
  deep.padTop = deep.padLeft = 1;
  deep.filterHeight = deep.filterWidth = 3;
  deep.groupChannels = deep.imageRow = deep.filterRow = 512;
  deep.groupFilters = 512;
  Problem one = deep;
  one.images = 1;
  Candidate parts = best(one, "sm_90a");
  ASSERT_NE(parts.variant->whyAlone(one, target("sm_90a"), parts.plan), "");
  Versions found = versions(deep, "sm_90a");
  ASSERT_FALSE(found.list.empty());
  for (const Version &version : found.list)
    EXPECT_EQ(version.candidate.variant->whyAlone(deep, target("sm_90a"),
                                                  version.candidate.plan),
              "");
}

TEST(Versions, PlansByHandAreChecked) {
  Problem open = gemm(kUnknownExtent, 512, 16384);
  Candidate parts = best(gemm(512, 512, 16384), "sm_90a");
  const Registry &registry = Registry::builtin();
  EXPECT_THAT(checkVersion(registry, open, target("sm_90a"),
                           parts.variant->name(), parts.plan),
              HasSubstr("most: another kernel adds up the parts of its sums"));
  Candidate onCPU = best(open, "x86-64-v4");
  EXPECT_THAT(checkVersion(registry, open, target("x86-64-v4"),
                           onCPU.variant->name(), onCPU.plan),
              HasSubstr("most: programs for a CPU do not choose"));
  Versions found = versions(open, "sm_90a");
  for (const Version &version : found.list)
    EXPECT_EQ(checkVersion(registry, open, target("sm_90a"),
                           version.candidate.variant->name(),
                           version.candidate.plan),
              "");
}

} // namespace
