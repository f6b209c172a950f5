//===- CPUConvTest.cpp - Choices for convolutions on CPUs -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CPUProblems.h"
#include "tracea/Doctor/CPUModel.h"

#include "gmock/gmock.h"

#include <array>

using namespace tracea::doctor;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

// The rows of a convolution's tile are pixels, which nothing transposes: any
// number of them may divide the width.
TEST(CPUConv, TilesOfChannels) {
  TargetDescription target = cpu("sapphirerapids", 1);
  for (ElementType type : {ElementType::I8, ElementType::BF16}) {
    int64_t step = type == ElementType::I8 ? 64 : 32;
    Problem problem = conv(1, 28, 128, 128, 3);
    problem.operand = problem.second = type;
    problem.accumulator =
        type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
    problem.result = problem.accumulator;
    Candidate found = best(problem, target);
    EXPECT_EQ(found.variant->name(), "conv2d.dot");
    EXPECT_EQ(found.plan.unit, UnitKind::AMX);
    EXPECT_EQ(found.plan.tile[3] % step, 0);
    EXPECT_EQ(found.plan.registers()[0] % 16, 0);
    auto check = [&](const Problem &problem, const Plan &plan) {
      return checkSchedule(Registry::builtin(), problem, target, "conv2d.dot",
                           plan);
    };
    EXPECT_EQ(check(problem, found.plan), "");
    Plan odd = found.plan;
    odd.tile[3] += step / 2;
    EXPECT_THAT(check(problem, odd),
                HasSubstr("tile extent channels must be a multiple of " +
                          std::to_string(step)));
    // An image that fills tiles and that no tap leaves is read where it lies,
    // and another one is not.
    Problem whole = problem;
    whole.filterHeight = whole.filterWidth = 1;
    whole.padTop = whole.padLeft = 0;
    whole.imageHeight = whole.outputHeight = 1;
    whole.imageWidth = whole.outputWidth = 784;
    Plan inPlace = best(whole, target).plan;
    EXPECT_EQ(inPlace.params.as<schedule::CPUConv>().staged, 0);
    EXPECT_EQ(check(whole, inPlace), "");
    whole.imageWidth = whole.outputWidth = 783;
    EXPECT_THAT(check(whole, inPlace),
                HasSubstr("in whole tiles of a unit, where no tap leaves it"));
    // What is not staged takes no memory.
    whole.imageWidth = whole.outputWidth = 1 << 18;
    inPlace.tile = {1, 1 << 18, 32, step};
    inPlace.registers() = {32, 32};
    EXPECT_EQ(check(whole, inPlace), "");
    inPlace.params.as<schedule::CPUConv>().staged = 1;
    EXPECT_THAT(check(whole, inPlace), HasSubstr("take more than 8388608"));
    // What is beyond a group is another one's: tiles of channels are whole, or
    // vectors take words.
    Problem groups = problem;
    groups.groups = 4;
    groups.groupChannels = groups.groupFilters = step / 2;
    EXPECT_EQ(refusal(groups, target, "conv2d.dot"), "");
    EXPECT_EQ(best(groups, target).plan.unit, UnitKind::Vector);
    EXPECT_THAT(check(groups, found.plan), HasSubstr("on the unit 'amx'"));
  }
}

TEST(CPUConv, RowsOfOneTileAreMultipliedTogether) {
  TargetDescription target = cpu("sapphirerapids", 1);
  for (ElementType type : {ElementType::I8, ElementType::BF16}) {
    auto typed = [&](int64_t image, int64_t channels, int64_t filter) {
      Problem problem = conv(1, image, channels, 256, filter);
      problem.operand = problem.second = type;
      problem.accumulator =
          type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
      problem.result = problem.accumulator;
      problem.isFilterConstant = true;
      return problem;
    };
    auto check = [&](const Problem &problem, const Plan &plan) {
      return checkSchedule(Registry::builtin(), problem, target, "conv2d.dot",
                           plan);
    };
    for (int64_t filter : {1, 3}) {
      Problem problem = typed(14, 1024, filter);
      Plan plan = best(problem, target).plan;
      EXPECT_EQ(plan.tile[1], 16);
      EXPECT_THAT(plan.registers(), ElementsAre(32, 32));
      EXPECT_EQ(check(problem, plan), "");
      Plan narrow = plan;
      narrow.tile[1] = 8;
      EXPECT_THAT(check(problem, narrow),
                  HasSubstr("tile extent width must be a multiple of 16"));
      Plan inPlace = plan;
      inPlace.params.as<schedule::CPUConv>().staged = 0;
      EXPECT_THAT(check(problem, inPlace), HasSubstr("(staged = 0)"));
      Plan many = plan;
      many.registers() = {48, 32};
      EXPECT_THAT(check(problem, many),
                  HasSubstr("takes 9 tiles, operands included, more than 8"));
    }
    // Rows of more pixels are register tiles of their own.
    Plan wide = best(typed(32, 64, 3), target).plan;
    EXPECT_GE(wide.tile[1], 32);
  }
}

TEST(CPUConv, PatchesLeaveReadyPanelsTheSecondLevel) {
  TargetDescription target = cpu("sapphirerapids", 1);
  auto typed = [](int64_t image, int64_t channels, int64_t filters,
                  int64_t filter) {
    Problem problem = conv(1, image, channels, filters, filter);
    problem.operand = problem.second = ElementType::BF16;
    problem.accumulator = ElementType::F32;
    problem.result = ElementType::F32;
    problem.isFilterConstant = true;
    return problem;
  };
  // 512 KiB of filters stay, beside which a patch is small.
  Plan ready = best(typed(14, 1024, 256, 1), target).plan;
  EXPECT_LE(ready.tile[0] * ready.tile[1] * ready.tile[3] * 2, 2 * 48 * 1024);
  // A patch that crowds them may be what takes the least all the same: more
  // rows of an image are read anew where it is cut.
  EXPECT_EQ(best(typed(28, 128, 128, 3), target).plan.tile[0], 28);
  EXPECT_LE(best(typed(56, 64, 128, 3), target).plan.tile[0], 8);
  // Filters that are not constant lie in no panels that could be crowded.
  Problem made = typed(14, 1024, 256, 1);
  made.isFilterConstant = false;
  EXPECT_GT(best(made, target).plan.tile[0], ready.tile[0]);
  // Of panels that do not stay each tile of pixels reads all.
  EXPECT_EQ(best(typed(14, 256, 256, 3), target).plan.tile[0], 14);
  // Of a small image, whose taps are channels, all are staged at once: 576 KiB.
  Problem small = typed(7, 9 * 512, 512, 1);
  small.imageHeight = small.outputHeight = 1;
  small.imageWidth = small.outputWidth = 49;
  EXPECT_EQ(best(small, target).plan.tile[3], 9 * 512);
}

// Where filters are shared between cores each reads the whole image, and none
// finds in its second level what another has read there.
TEST(CPUConv, CoresShareTheImageRatherThanItsFilters) {
  Problem problem = conv(1, 14, 256, 1024, 1);
  problem.imageHeight = problem.imageWidth = 14;
  problem.isFilterConstant = true;
  EXPECT_EQ(best(problem, cpu("sapphirerapids", 1)).plan.tile[0], 14);
  EXPECT_EQ(best(problem, cpu("sapphirerapids", 2)).plan.tile[0], 7);
  // More of them than stay beside it would be fetched for each tile of pixels.
  Problem deep = conv(1, 7, 2048, 512, 1);
  deep.imageHeight = deep.imageWidth = 7;
  deep.isFilterConstant = true;
  EXPECT_EQ(best(deep, cpu("sapphirerapids", 2)).plan.tile[0], 7);
}

TEST(CPUConv, DotProductsOfChannels) {
  Problem problem = conv(1, 28, 128, 128, 3);
  problem.operand = problem.second = ElementType::I8;
  problem.accumulator = ElementType::I32;
  problem.result = ElementType::I32;
  for (const char *name : {"cascadelake", "alderlake", "znver5"}) {
    Candidate found = best(problem, cpu(name, 1));
    EXPECT_EQ(found.variant->name(), "conv2d.dot") << name;
    EXPECT_EQ(found.plan.tile[3] % 4, 0) << name;
  }
  // Words are whole, and of one group.
  TargetDescription target = cpu("znver4", 1);
  Plan odd = best(problem, target).plan;
  odd.tile[3] += 2;
  EXPECT_EQ(
      checkSchedule(Registry::builtin(), problem, target, "conv2d.dot", odd),
      "variant 'conv2d.dot' cannot use this plan: tile extent channels "
      "must be a multiple of 4, found " +
          std::to_string(odd.tile[3]));
  Problem few = problem;
  few.groupChannels = 3;
  EXPECT_EQ(refusal(few, target, "conv2d.dot"), "");
  few.groups = 2;
  EXPECT_EQ(refusal(few, target, "conv2d.dot"),
            "the channels of a group are not known to fill words of 4");
  few.groupChannels = 8;
  EXPECT_EQ(refusal(few, target, "conv2d.dot"), "");
  Problem first = problem;
  first.channelsLast = false;
  EXPECT_EQ(refusal(first, target, "conv2d.dot"),
            "words are of neighbouring channels, which are not last");
  EXPECT_EQ(refusal(problem, cpu("haswell", 1), "conv2d.dot"), "");
  EXPECT_THAT(refusal(problem, cpu("armv8-a", 1), "conv2d.dot"),
              HasSubstr("no dot products of i8"));
  EXPECT_EQ(best(conv(1, 28, 128, 128, 3), target).variant->name(),
            "conv2d.patch");
}

// Of long runs there are as few as possible: a tile has as many rows as
// registers hold sums of.
TEST(CPUConv, LongRunsHaveManyRows) {
  TargetDescription target = cpu("sapphirerapids", 1);
  EXPECT_THAT(best(conv(1, 56, 64, 64, 3), target).plan.registers(),
              ElementsAre(14, 32));
  EXPECT_THAT(best(conv(1, 56, 256, 64, 1), target).plan.registers(),
              ElementsAre(14, 32));
  EXPECT_THAT(best(conv(1, 48, 64, 64, 3), target).plan.registers(),
              ElementsAre(12, 32));
}

TEST(CPUConv, RegisterTilesDivideTheWidth) {
  TargetDescription target = cpu("znver4", 2);
  EXPECT_THAT(best(conv(1, 7, 512, 512, 3), target).plan.registers(),
              ElementsAre(7, 32));
  EXPECT_EQ(28 % best(conv(1, 28, 128, 128, 3), target).plan.registers()[0], 0);
}

// Panels of a constant filter are asked for ahead, so that a step may take more
// of them: 80 filters are one panel of five vectors by few pixels.
TEST(CPUConv, PanelsOfConstantsStream) {
  TargetDescription target = cpu("sapphirerapids", 1);
  Problem problem = conv(1, 47, 48, 80, 3);
  EXPECT_THAT(best(problem, target).plan.registers(), ElementsAre(24, 16));
  problem.isFilterConstant = true;
  EXPECT_THAT(best(problem, target).plan.registers(), ElementsAre(4, 80));
  problem.groups = 2;
  EXPECT_THAT(best(problem, target).plan.registers(), ElementsAre(24, 16));
}

// With channels first the lanes lie along the pixels of a row: a tile has no
// more columns than the row, and the rows are output channels.
TEST(CPUConv, LanesLieAlongTheContiguousDimension) {
  TargetDescription target = cpu("znver4", 2);
  Problem problem = conv(1, 14, 256, 256, 3);
  problem.channelsLast = false;
  Plan plan = best(problem, target).plan;
  EXPECT_EQ(plan.registers()[1], 16);
  EXPECT_EQ(plan.tile[1] % plan.registers()[1], 0);
  EXPECT_EQ(plan.tile[2] % plan.registers()[0], 0);
}

// Panels of constant filters are made once, so that nothing transposes rows of
// any number in a run. What shifted loads of pixels cost keeps tiles low.
TEST(CPUConv, FiltersThatLieReadyAreRowsOfAnyNumber) {
  TargetDescription target = cpu("znver3", 1);
  Problem problem = conv(1, 27, 37, 41, 3, 2);
  problem.channelsLast = false;
  EXPECT_THAT(best(problem, target).plan.registers(), ElementsAre(4, 16));
  problem.isFilterConstant = true;
  Candidate choice = best(problem, target);
  EXPECT_THAT(choice.plan.registers(), ElementsAre(6, 16));
  EXPECT_EQ(choice.plan.tile[2] % 6, 0);
  problem.isFilterConstant = false;
  EXPECT_THAT(choice.variant->check(problem, target, choice.plan),
              HasSubstr("must be a power of two, found 6"));
  // With channels last pixels are broadcast, and filters lie in lines.
  CPUModel model(target, tracea::target::ElementType::F32);
  double aligned = model.cyclesPerStep({6, 16});
  model.areColumnsShifted = true;
  EXPECT_GT(model.cyclesPerStep({6, 16}), 1.1 * aligned);
  CPUModel wide(cpu("sapphirerapids", 1), tracea::target::ElementType::F32);
  wide.areColumnsShifted = true;
  EXPECT_EQ(wide.cyclesPerStep({14, 32}), 14);
}

double patchBytes(const Problem &problem, const Extents &tile) {
  auto extent = [](int64_t outputs, int64_t stride, int64_t taps) {
    return static_cast<double>((outputs - 1) * stride + taps);
  };
  double patch = extent(tile[0], problem.strideHeight, problem.filterHeight) *
                 extent(tile[1], problem.strideWidth, problem.filterWidth);
  return 4 * static_cast<double>(tile[3]) * patch;
}

// A patch takes at most a quarter of it: the rest is for what streams through.
TEST(CPUConv, ResNetLayersFitTheSecondLevel) {
  TargetDescription target = cpu("znver4", 2);
  const Problem layers[] = {conv(1, 56, 64, 64, 3),    conv(1, 28, 128, 128, 3),
                            conv(1, 14, 256, 256, 3),  conv(1, 7, 512, 512, 3),
                            conv(1, 112, 3, 64, 7, 2), conv(1, 224, 64, 128, 3),
                            conv(32, 56, 256, 64, 1),  conv(1, 57, 67, 131, 3)};
  for (const Problem &problem : layers) {
    Candidate choice = best(problem, target);
    EXPECT_EQ(choice.variant->name(), "conv2d.patch");
    const Extents &tile = choice.plan.tile;
    EXPECT_LE(patchBytes(problem, tile),
              static_cast<double>(target.cacheBytes(2)) / 4);
    int64_t tiles = problem.images * ceilDiv(problem.outputHeight, tile[0]) *
                    ceilDiv(problem.outputWidth, tile[1]) *
                    ceilDiv(problem.groupFilters, tile[2]);
    EXPECT_GE(tiles, 2);
    // Neither core has much more to do than the other.
    EXPECT_TRUE(tiles % 2 == 0 || tiles >= 8) << tiles;
  }
}

TEST(CPUConv, ChannelBlocks) {
  // As many channels as leave patches that are not read twice too often: the
  // sums of another block would be loaded and stored once more.
  TargetDescription target = cpu("sapphirerapids", 1);
  EXPECT_EQ(best(conv(1, 28, 128, 128, 3), target).plan.tile[3], 128);
  EXPECT_EQ(best(conv(1, 14, 256, 256, 3), target).plan.tile[3], 256);
  EXPECT_EQ(best(conv(1, 56, 256, 64, 1), target).plan.tile[3], 256);
  EXPECT_EQ(best(conv(1, 7, 512, 512, 3), target).plan.tile[3], 256);
  // Blocks are even: three of 200, not two of 256 and the rest.
  EXPECT_EQ(best(conv(1, 7, 600, 512, 3), target).plan.tile[3], 200);
  EXPECT_EQ(best(conv(1, 56, kUnknownExtent, 64, 3), target).plan.tile[3], 64);
  EXPECT_EQ(best(conv(1, 112, 3, 64, 7), target).plan.tile[3], 3);
}

// What lies ready is not staged: a sum over all channels is not stored and read
// again, and as many filters are read for a tile of pixels as stay near.
TEST(CPUConv, NothingIsStagedOfWhatLiesReady) {
  TargetDescription target = cpu("sapphirerapids", 1);
  auto inPlace = [&](int64_t size, int64_t channels, int64_t filters) {
    Problem problem = conv(1, size, channels, filters, 1);
    problem.imageHeight = problem.imageWidth = size;
    problem.isFilterConstant = true;
    Plan plan = best(problem, target).plan;
    EXPECT_EQ(plan.params.as<schedule::CPUConv>().staged, 0);
    EXPECT_LE(plan.tile[2] * plan.tile[3] * 4, target.cacheBytes(2) / 2);
    problem.isFilterConstant = false;
    EXPECT_LE(best(problem, target).plan.tile[3], 256);
    return plan.tile;
  };
  EXPECT_THAT(inPlace(28, 512, 128), ElementsAre(28, 28, 128, 512));
  EXPECT_THAT(inPlace(14, 1024, 256), ElementsAre(14, 14, 128, 1024));
  EXPECT_THAT(inPlace(7, 2048, 512), ElementsAre(7, 7, 64, 2048));
  // Nor are filters read as a copy of each tile: fewer pixels of all channels.
  Problem strided = conv(1, 28, 128, 128, 3, 2);
  EXPECT_THAT(best(strided, target).plan.tile, ElementsAre(14, 28, 128, 64));
  strided.isFilterConstant = true;
  EXPECT_THAT(best(strided, target).plan.tile, ElementsAre(14, 14, 128, 128));
  // Not even the filters of one panel stay near with all of their channels.
  EXPECT_LT(inPlace(7, 16384, 64)[3], 16384);
}

// A row of 21 taps of one channel is multiplied at once, seven taps of three
// channels one after another; but for words of floats, which have channels.
TEST(CPUConv, TapsOfOneChannelAreOneRun) {
  Problem taps = conv(1, 112, 3, 64, 7, 2), run = conv(1, 112, 1, 64, 7, 2);
  run.filterWidth = 21;
  run.strideWidth = 6;
  for (const char *name : {"sapphirerapids", "znver4"}) {
    TargetDescription target = cpu(name, 1);
    auto share = [&](ElementType type) {
      for (Problem *problem : {&taps, &run}) {
        problem->operand = problem->second = type;
        problem->accumulator =
            type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
        problem->result = problem->accumulator;
      }
      return best(run, target).cycles / best(taps, target).cycles;
    };
    // As much as a form has to gain.
    EXPECT_LT(share(ElementType::F32), 0.95) << name;
    EXPECT_LT(share(ElementType::I8), 0.9) << name;
    EXPECT_EQ(best(run, target).variant->name(), "conv2d.dot") << name;
    if (name == std::string("znver4"))
      EXPECT_GT(share(ElementType::BF16), 1);
  }
}

TEST(CPUConv, OddFiltersTakeOneVectorLess) {
  // 67 filters: two vectors a row would compute 96 of them, one vector 80.
  EXPECT_EQ(best(conv(1, 56, 64, 67, 3), cpu("znver4", 1)).plan.registers()[1],
            16);
}

TEST(CPUConv, UnknownExtents) {
  Problem problem = conv(kUnknownExtent, kUnknownExtent, 64, 64, 3);
  Plan plan = best(problem, cpu("znver4", 2)).plan;
  EXPECT_EQ(plan.tile[0], 8);
  EXPECT_EQ(plan.tile[1], 4 * plan.registers()[0]);
}

TEST(CPUConv, UnknownFilterFallsBack) {
  Problem problem = conv(1, 56, 64, 64, 3);
  problem.filterHeight = kUnknownExtent;
  std::vector<Candidate> ranked =
      rank(Registry::builtin(), problem, cpu("znver4", 1));
  EXPECT_EQ(ranked.front().variant->name(), "linalg");
  EXPECT_THAT(ranked[1].refusal, HasSubstr("not static"));
}

TEST(CPUConv, HugeFiltersFallBack) {
  for (int64_t taps : {1000, 1 << 20}) {
    std::vector<Candidate> ranked =
        rank(Registry::builtin(), conv(1, 8, 64, 64, taps), cpu("znver4", 1));
    EXPECT_EQ(ranked.front().variant->name(), "linalg") << taps;
  }
}

TEST(CPUConv, DepthwiseIsOneStreamFromBeyondASmallSecondLevel) {
  TargetDescription target = cpu("znver3", 1);
  auto depthwise = [](int64_t size, int64_t groups, int64_t taps,
                      int64_t stride) {
    Problem problem = conv(1, size, 1, 1, taps, stride);
    problem.groups = groups;
    return problem;
  };
  // One pixel by equal shares of its channels, in whole rows of all channels.
  Candidate whole = best(depthwise(56, 144, 3, 1), target);
  EXPECT_EQ(whole.variant->name(), "conv2d.depthwise");
  EXPECT_THAT(whole.plan.registers(), ElementsAre(1, 48));
  EXPECT_THAT(whole.plan.tile, ElementsAre(56, 56, 144));
  // Of few channels pixels side by side are one stream: as many as cover the
  // latency, if the row has whole ones.
  EXPECT_THAT(best(depthwise(112, 32, 3, 1), target).plan.registers(),
              ElementsAre(2, 32));
  EXPECT_THAT(best(depthwise(113, 32, 3, 1), target).plan.registers(),
              ElementsAre(1, 32));
  // Thirteen vectors have no other equal shares.
  EXPECT_THAT(best(depthwise(57, 99, 3, 2), target).plan.registers(),
              ElementsAre(1, 104));
  // Threads share the rows, and no row is cut.
  std::vector<int64_t> shared =
      best(depthwise(56, 144, 3, 1), cpu("znver3", 2)).plan.tile;
  EXPECT_THAT(shared, ElementsAre(28, 56, 144));
  // An image that stays, channels that are a long stream, seven taps that share
  // their loads, and a second level that is large: pixels of a row side by
  // side, those from memory with all channels, or a part of long runs.
  EXPECT_GT(best(depthwise(7, 960, 3, 1), target).plan.registers()[0], 1);
  Plan longStreams = best(depthwise(14, 576, 3, 1), target).plan;
  EXPECT_THAT(longStreams.registers(), ElementsAre(7, 8));
  EXPECT_THAT(longStreams.tile, ElementsAre(14, 14, 576));
  for (int64_t stride : {1, 2}) {
    int64_t size = 56 / stride;
    Plan sevenTaps = best(depthwise(size, 96, 7, stride), target).plan;
    EXPECT_THAT(sevenTaps.registers(), ElementsAre(7, 8));
    EXPECT_THAT(sevenTaps.tile, ElementsAre(size, size, 96));
  }
  EXPECT_GE(best(depthwise(14, 384, 7, 1), target).plan.tile[2], 64);
  // Lines of the image, with its border, and of the result are waited for.
  EXPECT_GE(whole.cycles, 20.0 * 144 * 4 / 64 * (58 * 58 + 56 * 56));
  EXPECT_GT(
      best(depthwise(56, 144, 3, 1), cpu("znver4", 1)).plan.registers()[0], 1);
}

// Where registers are few, panels that do not stay in the second level are
// asked for ahead, by at least four register tiles of pixels.
TEST(CPUConv, FewRegistersAskForPanelsAhead) {
  auto prefetch = [](Problem problem, const char *name) {
    Plan plan = best(problem, cpu(name, 1)).plan;
    return plan.params.as<schedule::CPUConv>().prefetch;
  };
  Problem problem = conv(8, 7, 512, 512, 3);
  EXPECT_EQ(prefetch(problem, "znver3"), 0);
  problem.isFilterConstant = true;
  EXPECT_EQ(prefetch(problem, "znver3"), 1);
  EXPECT_EQ(prefetch(problem, "sapphirerapids"), 0);
  problem.groups = 2;
  EXPECT_EQ(prefetch(problem, "znver3"), 0);
  problem = conv(1, 56, 64, 64, 3);
  problem.isFilterConstant = true;
  EXPECT_EQ(prefetch(problem, "znver3"), 0);
  problem = conv(1, 1, 2048, 512, 1);
  problem.isFilterConstant = true;
  EXPECT_EQ(prefetch(problem, "znver3"), 0);
}

// The last register tile of a row has as many pixels as are left: 28 of 30 cost
// less, by more than the staging of two pixels.
TEST(CPUConv, LastTilesOfARowAreCut) {
  TargetDescription target = cpu("znver3", 1);
  Problem whole = conv(1, 30, 64, 64, 3), cut = whole;
  cut.outputWidth = 28;
  const Variant *patch = Registry::builtin().find("conv2d.patch");
  ASSERT_NE(patch, nullptr);
  Plan plan = best(whole, target).plan;
  plan.tile = {10, 30, 64, 64};
  plan.registers() = {6, 16};
  EXPECT_LT(patch->cycles(cut, target, plan),
            0.98 * patch->cycles(whole, target, plan));
}

// Rows in place are where they do not stay in the second level, and single
// pixels beside many products alone.
TEST(CPUConv, RowsOfDepthwiseImagesAreAskedForAhead) {
  auto prefetch = [](int64_t size, int64_t groups, int64_t taps,
                     const char *name = "znver3", int64_t stride = 1) {
    Problem problem = conv(1, size, 1, 1, taps, stride);
    problem.groups = groups;
    Plan plan = best(problem, cpu(name, 1)).plan;
    return plan.params.as<schedule::CPUConv>().prefetch;
  };
  EXPECT_EQ(prefetch(14, 576, 3), 1);
  EXPECT_EQ(prefetch(56, 96, 7), 1);
  // Many registers: not beside many taps, nor for long pixels, and with a
  // stride for images alone that are far larger than the second level.
  EXPECT_EQ(prefetch(56, 128, 3, "sapphirerapids"), 1);
  EXPECT_EQ(prefetch(28, 128, 3, "sapphirerapids"), 0);
  EXPECT_EQ(prefetch(56, 96, 7, "sapphirerapids"), 0);
  EXPECT_EQ(prefetch(56, 512, 3, "sapphirerapids"), 0);
  EXPECT_EQ(prefetch(56, 96, 3, "sapphirerapids", 2), 1);
  EXPECT_EQ(prefetch(28, 144, 3, "sapphirerapids", 2), 0);
  EXPECT_EQ(prefetch(7, 576, 3), 0);
  EXPECT_EQ(prefetch(56, 144, 3), 1);
  EXPECT_EQ(prefetch(57, 99, 3, "znver3", 2), 0);
}

TEST(CPUConv, DepthwisePixelsWithAStrideHoldTheirChannels) {
  auto plan = [](int64_t size, int64_t groups, int64_t taps, int64_t stride,
                 const char *name = "sapphirerapids") {
    Problem problem = conv(1, size, 1, 1, taps, stride);
    problem.groups = groups;
    return best(problem, cpu(name, 1)).plan;
  };
  EXPECT_THAT(plan(29, 99, 3, 2).registers(), ElementsAre(2, 112));
  EXPECT_THAT(plan(29, 99, 3, 2).tile, ElementsAre(29, 30, 112));
  EXPECT_THAT(plan(56, 96, 3, 2).registers(), ElementsAre(2, 96));
  EXPECT_THAT(plan(56, 96, 3, 2).tile, ElementsAre(56, 56, 96));
  // Whole rows too where fewer pixels would leave them in the first level: an
  // image that does not stay in the second one is read as a stream.
  EXPECT_THAT(plan(28, 144, 3, 2).tile, ElementsAre(28, 28, 144));
  // Pixels side by side share loads, of seven taps with a stride as well, and
  // more channels than registers hold are parts.
  EXPECT_GT(plan(56, 96, 3, 1).registers()[0], 2);
  EXPECT_GT(plan(28, 96, 7, 2).registers()[0], 2);
  EXPECT_GT(plan(14, 576, 3, 2).registers()[0], 2);
  EXPECT_GT(plan(56, 32, 3, 2).registers()[0], 2);
}

TEST(CPUConv, DepthwiseHasItsOwnVariant) {
  Problem problem = conv(1, 56, 1, 1, 7);
  problem.groups = 96;
  TargetDescription target = cpu("znver4", 2);
  Candidate choice = best(problem, target);
  EXPECT_EQ(choice.variant->name(), "conv2d.depthwise");
  EXPECT_EQ(choice.plan.tile.size(), 3u);
  EXPECT_EQ(choice.plan.tile[2] % choice.plan.registers()[1], 0);
  // Equal shares of a row, of one vector where what seven taps see of two does
  // not stay in the first level; but not of two shares, which would both be at
  // the border.
  EXPECT_THAT(choice.plan.registers(), ElementsAre(14, 16));
  // Rows of 31 KiB stay in a first level of 48: two vectors go by together.
  EXPECT_THAT(best(problem, cpu("sapphirerapids", 1)).plan.registers(),
              ElementsAre(7, 32));
  Problem half = problem;
  half.outputHeight = half.outputWidth = 28;
  EXPECT_THAT(best(half, target).plan.registers(), ElementsAre(7, 32));
  // Nine vectors of channels go by ones: of five pairs one would be half empty.
  Problem odd = conv(1, 28, 1, 1, 3);
  odd.groups = 144;
  EXPECT_THAT(best(odd, target).plan.registers(), ElementsAre(14, 16));
  // Pixels of images from beyond the second level are streams: few at a time,
  // unless they are short or the processor follows them.
  for (auto [groups, rows, columns] : {std::array<int64_t, 3>{128, 7, 32},
                                       {144, 4, 32},
                                       {256, 4, 32},
                                       {512, 7, 32}}) {
    Problem far = conv(1, 56, 1, 1, 3);
    far.groups = groups;
    EXPECT_THAT(best(far, target).plan.registers(), ElementsAre(rows, columns))
        << groups;
  }
  // A row that one tile holds is one, and not two at the border each.
  for (auto [width, rows, columns] :
       {std::array<int64_t, 3>{7, 7, 32}, {8, 8, 16}, {14, 14, 16}}) {
    Problem small = conv(1, width, 1, 1, 3);
    small.groups = 576;
    EXPECT_THAT(best(small, target).plan.registers(),
                ElementsAre(rows, columns))
        << width;
  }
  // Of few taps all channels go by together, as memory has them; of many, which
  // read each row again and again, as many as the first level holds.
  Problem few = conv(1, 7, 1, 1, 3), many = conv(1, 14, 1, 1, 7);
  few.groups = 960;
  many.groups = 384;
  TargetDescription single = cpu("sapphirerapids", 1);
  EXPECT_EQ(best(few, single).plan.tile[2], 960);
  EXPECT_LT(best(many, single).plan.tile[2], 384);
  // A stride leaves registers for what is not shared.
  Problem strided = conv(1, 57, 1, 1, 3, 2);
  strided.groups = 144;
  EXPECT_THAT(best(strided, target).plan.registers(), ElementsAre(7, 16));

  // The image is read where it lies, where loads take masks and nothing is to
  // be converted.
  auto isStaged = [](const Candidate &candidate) {
    return candidate.plan.params.as<schedule::CPUConv>().staged;
  };
  EXPECT_EQ(isStaged(choice), 0);
  // Seven rows of a few channels stay in the first level, of an image that the
  // second one holds; three rows of a larger image are streams.
  EXPECT_EQ(choice.plan.tile[2], 16);
  Problem large = odd;
  large.outputHeight = large.outputWidth = 112;
  EXPECT_EQ(best(large, target).plan.tile[2], 160);
  // Whole rows of it, where memory hides what waits for the first level.
  Problem fast = conv(1, 56, 1, 1, 3, 2);
  fast.groups = 96;
  EXPECT_THAT(best(fast, cpu("sapphirerapids", 1)).plan.tile,
              ElementsAre(56, 56, 96));
  // AVX2 has masks too, and SSE has none. Few registers hold sums of one
  // vector.
  Candidate masked = best(problem, cpu("x86-64-v3", 2));
  EXPECT_EQ(isStaged(masked), 0);
  EXPECT_EQ(masked.plan.registers()[1], 8);
  EXPECT_EQ(isStaged(best(problem, cpu("x86-64-v2", 2))), 1);
  Problem narrow = problem, planes = problem;
  narrow.operand = tracea::target::ElementType::BF16;
  planes.channelsLast = false;
  EXPECT_EQ(isStaged(best(planes, target)), 1);
  Candidate staged = best(narrow, target);
  EXPECT_EQ(isStaged(staged), 1);
  EXPECT_LE(patchBytes(narrow, {staged.plan.tile[0], staged.plan.tile[1], 0,
                                staged.plan.tile[2]}),
            static_cast<double>(target.cacheBytes(2)) / 8);

  const Variant *depthwise = Registry::builtin().find("conv2d.depthwise");
  ASSERT_NE(depthwise, nullptr);
  EXPECT_THAT(depthwise->whyNot(conv(1, 56, 64, 64, 3), target),
              HasSubstr("not depthwise"));
  problem.groupFilters = 2;
  EXPECT_THAT(depthwise->whyNot(problem, target), HasSubstr("not depthwise"));
}

} // namespace
