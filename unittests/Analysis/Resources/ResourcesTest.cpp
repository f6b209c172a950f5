//===- ResourcesTest.cpp - What kernels need and targets have -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Resources/Resources.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tracea::analysis;

namespace {

ResourceLimits limitsOf(const char *name) {
  std::optional<tracea::target::TargetDescription> target =
      tracea::target::lookup(name);
  EXPECT_TRUE(target.has_value()) << name;
  return target ? getResourceLimits(*target) : ResourceLimits();
}

ResourceUse product() {
  ResourceUse use;
  use.memory = {{"ring", 16384, 4, 1, 1024, 8, -1},
                {"staging", 1000, 1, 2, 128, 0, -1}};
  use.roles = {{"copy", 0, 4, 1, 40, 0, 0, false, -1, -1},
               {"multiply", 4, 12, 2, 232, 160, 128, true, -1, -1}};
  use.namedBarriers = 3;
  return use;
}

TEST(Resources, SharedMemoryIsLaidOutByAlignment) {
  // 4 * 16 KiB, two teams of 1024 bytes, eight barriers.
  EXPECT_EQ(getSharedBytes(product()), 4 * 16384 + 2 * 1024 + 8 * 8);
  ResourceUse use;
  use.memory = {{"small", 1, 1, 1, 16, 0, -1}, {"large", 1, 1, 1, 1024, 0, -1}};
  EXPECT_EQ(getSharedBytes(use), 1024 + 16);
  std::swap(use.memory[0], use.memory[1]);
  EXPECT_EQ(getSharedBytes(use), 1024 + 16);
}

TEST(Resources, LaunchRegistersAreTheFileInEights) {
  ResourceLimits limits = limitsOf("sm_90a");
  EXPECT_EQ(getLaunchRegisters(384, limits), 168);
  EXPECT_EQ(getLaunchRegisters(512, limits), 128);
  EXPECT_EQ(getLaunchRegisters(128, limits), 255);
  EXPECT_EQ(getLaunchRegisters(128, limits, 4), 128);
  EXPECT_EQ(getLaunchRegisters(0, limits), 0);
  EXPECT_EQ(getLaunchRegisters(384, ResourceLimits()), 0);
}

TEST(Resources, AProductFits) {
  ResourceReport report = checkResources(product(), limitsOf("sm_90a"));
  EXPECT_TRUE(report.fits());
  EXPECT_EQ(report.claim, "shared 66.1 of 227 KiB, 384 threads, registers "
                          "40/232/232 of 65536, 0/160/160 live, 3 named "
                          "barriers");
}

TEST(Resources, TilesOfAUnit) {
  ResourceUse use;
  use.roles = {{"kernel", 0, 1}};
  use.roles[0].tiles = 8;
  use.roles[0].tileSite = 5;
  ResourceLimits limits = limitsOf("sapphirerapids");
  // Whether this machine's system gives them away its features say.
  limits.tileRegisters = 8;
  ResourceReport report = checkResources(use, limits);
  EXPECT_TRUE(report.fits());
  EXPECT_EQ(report.claim,
            "no workspace, 0 of 32 vector registers, 8 of 8 tile registers");
  use.roles[0].tiles = 9;
  report = checkResources(use, limits);
  ASSERT_EQ(report.excesses.size(), 1u);
  EXPECT_EQ(report.excesses[0].message,
            "keeps 9 tiles of a unit alive, 'sapphirerapids' has 8");
  EXPECT_EQ(report.excesses[0].site, 5);
  // The model has both figures, and says the same.
  std::string error;
  std::optional<ResourceModel> model =
      readResourceModel(writeModel(use, limits), error);
  ASSERT_TRUE(model) << error;
  EXPECT_EQ(model->use.roles[0].tiles, 9);
  EXPECT_EQ(model->limits.tileRegisters, 8);
  EXPECT_FALSE(checkResources(model->use, model->limits).fits());
  for (const char *text :
       {"target sapphirerapids; tiles of 8 live 1",
        "target sapphirerapids; cpu vectors 1 bits 1 workspace 1; tiles of 8",
        "target sapphirerapids; cpu vectors 1 bits 1 workspace 1; tiles of 8 "
        "live 0"})
    EXPECT_FALSE(readResourceModel(text, error)) << text;
}

TEST(Resources, AccumulatorsNeedTheLaunchCap) {
  // 512 threads are launched with 128 registers: 128 accumulators and 26 others
  // do not compile, whatever the role draws later.
  ResourceUse use = product();
  use.roles.push_back({"idle", 12, 16, 1, 24, 0, 0, false, -1, -1});
  use.roles[1].budget = 224;
  use.roles[0].budget = 24;
  ResourceReport report = checkResources(use, limitsOf("sm_90a"));
  ASSERT_EQ(report.excesses.size(), 1u);
  EXPECT_NE(report.excesses[0].message.find("a launch cap of 154"),
            std::string::npos)
      << report.excesses[0].message;
}

TEST(Resources, ResidentsShareMemoryAndRegisters) {
  ResourceUse use = product();
  use.roles = {{"copy", 0, 4, 1, 24, 0, 0, false, -1, -1},
               {"multiply", 4, 8, 1, 232, 192, 96, true, -1, -1}};
  use.residents = 2;
  ResourceReport report = checkResources(use, limitsOf("sm_90a"));
  EXPECT_TRUE(report.fits());
  EXPECT_EQ(report.launchRegisters, 128);
  EXPECT_NE(report.claim.find("shared 66.1 of 113 KiB"), std::string::npos)
      << report.claim;
  // The model says it, too.
  std::string error;
  std::optional<ResourceModel> model =
      readResourceModel(writeModel(use, limitsOf("sm_90a")), error);
  ASSERT_TRUE(model.has_value()) << error;
  EXPECT_EQ(model->use.residents, 2);
  // What one workgroup could have is too much for each of two.
  use.memory[0].slots = 8;
  report = checkResources(use, limitsOf("sm_90a"));
  ASSERT_EQ(report.excesses.size(), 1u);
  EXPECT_NE(report.excesses[0].message.find("for 2 workgroups together"),
            std::string::npos)
      << report.excesses[0].message;
  use.memory[0].slots = 4;
  use.roles[1].budget = 240;
  report = checkResources(use, limitsOf("sm_90a"));
  ASSERT_EQ(report.excesses.size(), 1u);
  EXPECT_NE(report.excesses[0].message.find("the launch leaves 32768"),
            std::string::npos)
      << report.excesses[0].message;
}

TEST(Resources, WhatNobodyKnowsIsNotDecided) {
  ResourceReport report = checkResources(product(), limitsOf("apple-m1"));
  EXPECT_FALSE(report.fits());
  EXPECT_FALSE(report.undecided.empty());
}

TEST(Resources, ModelsAreReadBack) {
  for (const char *name : {"sm_90a", "sm_80", "gfx942", "znver4"}) {
    ResourceLimits limits = limitsOf(name);
    ResourceUse use = product();
    if (limits.isCPU)
      use.declaredWorkspace = 1 << 20;
    std::string text = writeModel(use, limits);
    std::string error;
    std::optional<ResourceModel> model = readResourceModel(text, error);
    ASSERT_TRUE(model.has_value()) << error;
    EXPECT_EQ(writeModel(model->use, model->limits), text);
    EXPECT_EQ(checkResources(model->use, model->limits).claim,
              checkResources(use, limits).claim);
  }
}

TEST(Resources, FaultyModelsAreRefused) {
  std::string error;
  for (const char *text :
       {"", "target", "target nowhere; barriers named 1", "sm_90a",
        "target sm_90a; memory bytes -1 slots 1 teams 1 align 1 barriers 0",
        "target sm_90a; memory bytes 1 slots 0 teams 1 align 1 barriers 0",
        "target sm_90a; memory bytes 99999999999999999999 slots 1",
        "target sm_90a; role first 4 end 4 teams 1 budget 0 live 0 "
        "accumulators 0 warpgroups 0",
        "target sm_90a; together workgroups 0",
        "target sm_90a; together workgroups 33", "target sm_90a; what named 1",
        "target sm_90a barriers named 1",
        "target sm_90a; cpu vectors 1 bits 1 workspace 1"}) {
    EXPECT_FALSE(readResourceModel(text, error).has_value()) << text;
    EXPECT_FALSE(error.empty()) << text;
  }
}

TEST(Resources, MutilatedModelsNeverCrash) {
  std::string text = writeModel(product(), limitsOf("sm_90a")), error;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string mutant = text;
    for (int j = 0; j < 3; ++j) {
      size_t at = random() % mutant.size();
      switch (random() % 3) {
      case 0:
        mutant[at] = char(' ' + random() % 95);
        break;
      case 1:
        mutant.erase(at, random() % 8);
        break;
      default:
        mutant.insert(at, std::to_string(random()) + std::to_string(random()));
      }
      if (mutant.empty())
        break;
    }
    if (auto model = readResourceModel(mutant, error))
      checkResources(model->use, model->limits);
  }
}

TEST(Resources, HugeFiguresAreAnExcessAndNoOverflow) {
  ResourceUse use = product();
  use.memory[0].slots = std::numeric_limits<int64_t>::max();
  use.memory[0].bytes = int64_t(1) << 40;
  EXPECT_EQ(getSharedBytes(use), std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(checkResources(use, limitsOf("sm_90a")).excesses.empty());
  EXPECT_FALSE(checkResources(use, limitsOf("znver4")).excesses.empty());
}

} // namespace
