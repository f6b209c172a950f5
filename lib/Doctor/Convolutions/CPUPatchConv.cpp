//===- CPUPatchConv.cpp - Convolutions of staged patches on CPUs ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPUPatchConv.h"

#include <cmath>

using namespace tracea::doctor;

/// Two tiles of a unit by two: of an image whose rows are a tile two rows,
/// for both of which each tile of filters is loaded. And four by one, of one
/// row or several, beside the smallest panel of filters.
static void addTilesOfUnit(const Problem &problem, const CPUModel &model,
                           std::vector<MicroTile> &tiles) {
  int64_t width = roundUp(problem.outputWidth, model.tile.rows);
  for (int64_t columns : {2, 1}) {
    MicroTile tile{4 / columns * model.tile.rows, columns * model.lanes};
    int64_t rows = ceilDiv(tile.rows, width);
    bool isWhole = rows > 1 ? tile.rows % width == 0
                            : columns == 1 && width % tile.rows == 0;
    if (isWhole && assumed(problem.outputHeight, rows) >= rows &&
        model.tileRegistersOf(tile) <= model.tile.registers)
      tiles.push_back(tile);
  }
}

/// Register tiles worth trying: `usual`, those of a unit, and the one of the
/// most rows beside as many columns that equal parts of a row of pixels are:
/// the more rows, the fewer runs begin. Where registers are few those of other
/// columns as well: each fits other extents.
static std::vector<MicroTile>
microTiles(const Problem &problem, const CPUModel &model, MicroTile usual) {
  std::vector<MicroTile> tiles = {usual};
  if (!problem.channelsLast || problem.outputWidth < 1)
    return tiles;
  if (model.hasTiles()) {
    addTilesOfUnit(problem, model, tiles);
    return tiles;
  }
  std::vector<int64_t> vectors = {usual.columns / model.lanes};
  if (model.hasFewRegisters())
    for (int64_t others : {1, 2, 3})
      if (others != vectors.front())
        vectors.push_back(others);
  for (int64_t count : vectors) {
    int64_t columns = count * model.lanes;
    int64_t most = columns == usual.columns ? usual.rows : 0;
    while (model.fits({most + 1, columns}))
      ++most;
    if (most == 0)
      continue;
    int64_t width = problem.outputWidth;
    int64_t rows = ceilDiv(width, ceilDiv(width, most));
    rows = roundUp(rows, model.tile.rows);
    if (rows <= most && (columns != usual.columns || rows > usual.rows))
      tiles.push_back({rows, columns});
  }
  return tiles;
}

/// Rows of the image in a register tile of a unit: several where it has more
/// pixels than the tile is wide.
static int64_t imageRows(const Problem &problem, const CPUModel &model,
                         int64_t pixels, int64_t width) {
  bool isWide = !problem.channelsLast || !model.hasTiles() || width < 1 ||
                width >= pixels;
  return isWide ? 1 : ceilDiv(pixels, width);
}

/// What a register tile of a unit waits for panels that the first level does
/// not hold, of so many words along k.
static double panelStreamCycles(const CPUModel &model, MicroTile micro,
                                int64_t words) {
  // Measured on Sapphire Rapids, and less than loads of vectors get.
  constexpr double bytesPerCycle = 29;
  int64_t lineBytes = model.lanes * model.elementBytes;
  int64_t lines = ceilDiv(micro.columns, model.lanes);
  if (!model.hasTiles() || words * lines * lineBytes <= model.l1 * 5 / 4)
    return 0;
  double stream = static_cast<double>(lines * lineBytes) / bytesPerCycle;
  return static_cast<double>(words) *
         std::max(0.0, stream - model.cyclesPerStep(micro));
}

/// Whether the part of the patch that a register tile of `rows` rows of the
/// image sees stays in the first level from one tap to the next.
static bool isSeenNear(const Problem &problem, const CPUModel &model,
                       int64_t rows, int64_t width, int64_t channels) {
  return problem.filterHeight * problem.filterWidth > 1 &&
         patchArea(problem, rows, width) *
                 static_cast<double>(channels * model.elementBytes) <=
             static_cast<double>(model.l1);
}

/// Words of the panels of `filters` filters.
static double panelWords(const Problem &problem, int64_t filters) {
  return static_cast<double>(problem.filterHeight * problem.filterWidth *
                             assumed(problem.groupChannels, 64)) *
         static_cast<double>(filters);
}

/// Whether so many words of filters stay in the second level, beside what
/// streams through it, from one tile of pixels to the next: in a quarter of it,
/// or in half where no patch is staged.
static bool doFiltersStay(const CPUModel &model, double words,
                          bool isPatchStaged = true) {
  return words * static_cast<double>(model.elementBytes) <=
         static_cast<double>(model.l2) / (isPatchStaged ? 4 : 2);
}

/// Whether a patch of so many words crowds panels of filters that stay in the
/// second level: it leaves the first one for it.
static bool crowdsPanels(const Problem &problem, const CPUModel &model,
                         double patch, int64_t filters) {
  return model.hasTiles() &&
         patch * static_cast<double>(model.elementBytes) >
             static_cast<double>(2 * model.l1) &&
         doFiltersStay(model, panelWords(problem, filters));
}

/// Whether the processor has to be asked ahead for panels of filters that lie
/// ready beyond the second level, by tiles of `pixels`. Measured: a Zen 3 has;
/// a Sapphire Rapids foresees them, and loses 3 to 30 % to such requests, its
/// tile unit half.
static bool needsPrefetch(const Problem &problem, const CPUModel &model,
                          const std::vector<int64_t> &tile, PixelTile pixels) {
  // Register tiles that read a panel, so that each asks for a small part of the
  // next one.
  constexpr int64_t readers = 4;
  double bytes = panelWords(problem, roundUp(assumed(problem.groupFilters, 64),
                                             pixels.channels)) *
                 static_cast<double>(model.elementBytes);
  return model.hasFewRegisters() && bytes > static_cast<double>(2 * model.l2) &&
         tile[0] * roundUp(tile[1], pixels.width) >= readers * pixels.width;
}

/// Cycles of elements from beyond the second level, a line after the other of a
/// stream that is asked for ahead; nothing is asked for beside short vectors.
/// Measured on Sapphire Rapids and Zen 3.
static double fetchCycles(const CPUModel &model, double elements) {
  constexpr double lineBytes = 64;
  double lineCycles = model.hasFewRegisters() ? 10 : 3;
  return lineCycles * elements * static_cast<double>(model.elementBytes) /
         lineBytes;
}

double PatchConv::estimate(const Problem &problem, CPUModel model,
                           MicroTile micro, const std::vector<int64_t> &tile,
                           int64_t staged, bool joined) {
  auto within = [](int64_t tile, int64_t extent) {
    return extent == kUnknownExtent
               ? tile
               : std::min(tile, std::max<int64_t>(1, extent));
  };
  int64_t height = within(tile[0], problem.outputHeight);
  int64_t width = within(tile[1], problem.outputWidth);
  int64_t filters = within(tile[2], problem.groupFilters);
  int64_t channels = assumed(problem.groupChannels, 64);
  int64_t taps = problem.filterHeight * problem.filterWidth;
  int64_t blocks = ceilDiv(std::max<int64_t>(1, channels), tile[3]);
  // A multiply goes through the channels of a tap, or the taps of a row. In
  // front of each the pipes wait for addresses, and behind it for its end,
  // which processors foretell the less the longer it is.
  constexpr double beginCycles = 8, endCycles = 22, longRun = 128;
  int64_t run = joined ? problem.filterWidth : within(tile[3], channels);
  double runCycles =
      beginCycles +
      endCycles * std::min(1.0, static_cast<double>(run) / longRun);
  int64_t runs = joined ? problem.filterHeight : taps;
  int64_t rows = imageRows(problem, model, micro.rows, tile[1]);
  int64_t pixels = rows > 1 ? micro.rows : width;
  model.areRowsNear =
      staged && isSeenNear(problem, model, rows, tile[1], tile[3]);
  int64_t words = runs * roundUp(run, model.tile.words);
  double multiply =
      static_cast<double>(ceilDiv(height, rows) * blocks) *
      (pixelCycles(problem, model, micro, pixels, filters, words) +
       (runCycles * static_cast<double>(runs) +
        panelStreamCycles(model, micro, words)) *
           registerTiles(problem, micro, pixels, filters));
  // Every block of channels but the first visits the accumulators once more.
  double revisit = model.stageCycles(
      static_cast<double>(blocks - 1) * static_cast<double>(height) *
      static_cast<double>(width) * static_cast<double>(filters));
  double patch = staged ? patchArea(problem, height, width) : 0;
  double stage = model.stageCycles(patch * static_cast<double>(channels));
  // Measured on Sapphire Rapids: about a third as much again. With half as much
  // 3x3 of 128 channels of bf16 at 28 x 28 are cut into tiles of four rows, and
  // take 1.1 times as long; with none those of 64 into 128 are not cut, and 1.2
  // to 2 times.
  constexpr double crowded = 1.3;
  double block = patch * static_cast<double>(within(tile[3], channels));
  if (hasPanels(problem) && crowdsPanels(problem, model, block, filters))
    stage *= crowded;
  // Its lines are asked for while the patch before is multiplied, and half of
  // the time is left that they take. Measured on Zen 3.
  if (model.hasFewRegisters())
    stage += fetchCycles(model, patch * static_cast<double>(channels)) / 2;
  std::vector<int64_t> seen = {height, width, filters, tile[3]};
  if (!staged && (hasPanels(problem) || model.hasTiles()))
    stage += inPlaceCycles(problem, model, seen, micro.columns);
  if (hasPanels(problem)) {
    stage += panelCycles(problem, model, seen);
  } else {
    stage += model.stageCycles(static_cast<double>(taps * channels) *
                               static_cast<double>(filters));
  }
  double tiles =
      gridTiles(problem, problem.groupFilters, tile[0], tile[1], tile[2]) *
      static_cast<double>(assumed(problem.groups, 1));
  return model.spread(tiles, multiply + revisit + stage);
}

double PatchConv::panelCycles(const Problem &problem, const CPUModel &model,
                              const std::vector<int64_t> &tile) {
  int64_t channels = assumed(problem.groupChannels, 64);
  double pixels = static_cast<double>(tile[0]) * static_cast<double>(tile[1]);
  double filters = static_cast<double>(tile[2]);
  double panels = panelWords(problem, tile[2]);
  double cycles = fetchCycles(model, panels);
  Problem image = problem;
  image.images = 1;
  if (doFiltersStay(model, panels))
    cycles /= gridTiles(image, tile[2], tile[0], tile[1], tile[2]);
  // Between blocks of channels sums are written and read again.
  double revisits = static_cast<double>(ceilDiv(channels, tile[3]) - 1);
  return cycles + fetchCycles(model, 2 * revisits * pixels * filters);
}

double PatchConv::inPlaceCycles(const Problem &problem, const CPUModel &model,
                                const std::vector<int64_t> &tile,
                                int64_t columns) {
  int64_t channels = assumed(problem.groupChannels, 64);
  double pixels = static_cast<double>(tile[0]) * static_cast<double>(tile[1]);
  double read = fetchCycles(model, pixels * static_cast<double>(channels));
  // Every tile of filters reads the image, which may have stayed in the second
  // level. Of a block of channels pixels are apart in memory, and no stream.
  double seen = patchArea(problem, assumed(problem.outputHeight, 56),
                          assumed(problem.outputWidth, 56)) *
                static_cast<double>(channels * model.elementBytes);
  double passes =
      static_cast<double>(ceilDiv(assumed(problem.groupFilters, 64), tile[2]));
  // What another core has read is in that one's. Where filters do not all stay
  // beside it, tiles of pixels that take turns at them would fetch them anew.
  double all = panelWords(problem, assumed(problem.groupFilters, 64));
  if (doFiltersStay(model, all, /*isPatchStaged=*/false))
    passes = std::min(passes, std::ceil(gridTiles(problem, problem.groupFilters,
                                                  tile[0], tile[1], tile[2]) /
                                        static_cast<double>(model.cores)));
  double cycles =
      seen <= static_cast<double>(model.l2) / 2 ? read / passes : read;
  // Every panel of filters reads the tile's pixels: where they do not stay, not
  // from the second level.
  double bytes = pixels * static_cast<double>(channels * model.elementBytes);
  if (model.hasFewRegisters() && bytes > static_cast<double>(model.l2) / 2)
    cycles += read * static_cast<double>(ceilDiv(tile[2], columns) - 1);
  return tile[3] < channels ? cycles + read : cycles;
}

std::vector<int64_t> PatchConv::channelBlocks(const Problem &problem,
                                              const CPUModel &model,
                                              int64_t block, int64_t most) {
  // Of words that are added up together there are all.
  int64_t words = model.tile.words;
  if (problem.groupChannels == kUnknownExtent)
    return {roundUp(block, words)};
  std::vector<int64_t> blocks;
  int64_t channels = std::max<int64_t>(1, problem.groupChannels);
  for (int64_t pieces = ceilDiv(channels, most);; pieces *= 2) {
    int64_t share = ceilDiv(channels, pieces);
    if (pieces > 1)
      share = std::min(channels, roundUp(share, 8));
    blocks.push_back(roundUp(share, words));
    if (share <= block)
      return blocks;
  }
}

Plan PatchConv::planOn(UnitKind unit, const Problem &given,
                       const TargetDescription &target) const {
  int64_t length = wordLength(given, target);
  Problem problem = asMultiplied(unit, given, target);
  bool joined = joinsTaps(given, length);
  CPUModel model = modelOf(unit, given, target);

  // A patch that is read for every panel of filters leaves most of the second
  // level to what streams through it; a panel is smaller beside it. On a unit
  // that has panels ready nothing else is staged, and there is more room: a
  // patch in shares of its channels visits all sums once more for each.
  const double halfL2 = static_cast<double>(model.l2) / 2;
  const double patchShare =
      model.hasTiles() && hasPanels(problem) ? 3.0 / 8 : 1.0 / 4;
  const double mostPatch = static_cast<double>(model.l2) * patchShare;
  constexpr double mostScratch = 1 << 20;
  constexpr int64_t mostFilters = 512;
  const int64_t block = 64 * 4 / model.elementBytes;
  // Of what is staged a few blocks at a time; of what lies ready all channels,
  // and of words beside panels that do, which stream faster the longer they
  // are.
  int64_t mostStaged = 4 * block;
  if (model.hasTiles() && hasPanels(problem))
    mostStaged = std::max(mostStaged, problem.groupChannels);
  Plan plan = emptyPlan(unit);
  double best = -1;
  auto tryForm = [&](MicroTile micro, const std::vector<int64_t> &tile,
                     int64_t staged) {
    double cycles = estimate(problem, model, micro, tile, staged, joined);
    if (best >= 0 && cycles >= best)
      return;
    best = cycles;
    plan.registers() = {micro.rows, micro.columns};
    plan.tile = tile;
    plan.params.as<schedule::CPUConv>().staged = staged;
  };
  auto tryBlock = [&](MicroTile micro, int64_t channels) {
    PixelTile pixels = orient(problem, micro);
    int64_t rows = imageRows(problem, model, micro.rows,
                             roundUp(problem.outputWidth, model.tile.rows));
    pixels.width /= rows;
    bool isInPlace =
        rows == 1 && canReadInPlace(given, target, unit, pixels.width);
    for (int64_t filters :
         extentsToTry(problem.groupFilters, pixels.channels, 64)) {
      if (filters > std::max(mostFilters, pixels.channels))
        continue;
      for (int64_t width :
           extentsToTry(problem.outputWidth, pixels.width, 4 * pixels.width))
        for (int64_t height : extentsToTry(problem.outputHeight, rows, 8)) {
          std::vector<int64_t> tile = {height, width, filters, channels};
          bool least = height == rows && width == pixels.width &&
                       filters == pixels.channels &&
                       channels == model.tile.words;
          // Rows of taps are staged as they lie, and not in whole steps.
          int64_t held = joined ? 1 : channels;
          bool fits = channels <= mostStaged &&
                      patchArea(problem, height, width) *
                              static_cast<double>(held * model.elementBytes) <=
                          mostPatch &&
                      stagedBytes(problem, model, height, width,
                                  pixels.channels, held) <= halfL2 &&
                      scratchBytes(problem, model, tile) <= mostScratch;
          // Where panels of filters go by for each tile of pixels, all of them
          // stay near, and pixels need not.
          double filterWords = static_cast<double>(
              problem.filterHeight * problem.filterWidth * held * filters);
          bool keepsFilters =
              fits || least
                  ? filterWords * static_cast<double>(model.elementBytes) <=
                            halfL2 ||
                        filters == pixels.channels
                  : hasPanels(problem) && doFiltersStay(model, filterWords);
          if (isInPlace && keepsFilters)
            tryForm(micro, tile, kInPlace);
          if (fits || least)
            tryForm(micro, tile, kStaged);
        }
    }
  };
  std::vector<MicroTile> tiles =
      microTiles(problem, model, microTile(problem, model));
  model.cutsRows = cutsPixels(problem, length);
  for (MicroTile micro : tiles) {
    int64_t width = orient(problem, micro).width;
    int64_t most = mostStaged;
    if (hasPanels(problem) && canReadInPlace(given, target, unit, width))
      most = std::max(most, problem.groupChannels);
    for (int64_t channels : channelBlocks(problem, model, block, most))
      tryBlock(micro, channels);
  }
  // Where not even the smallest tile fits: fewer channels at a time.
  int64_t fewest = model.tile.words;
  for (int64_t channels = block / 2; best < 0 && channels >= fewest;
       channels /= 2)
    tryBlock(tiles.front(), channels);
  if (best < 0) {
    PixelTile pixels = orient(problem, tiles.front());
    plan.registers() = {tiles.front().rows, tiles.front().columns};
    plan.tile = {1, pixels.width, pixels.channels, fewest};
  }
  MicroTile micro = {plan.registers()[0], plan.registers()[1]};
  plan.params.as<schedule::CPUConv>().prefetch =
      hasPanels(problem) &&
      needsPrefetch(problem, model, plan.tile, orient(problem, micro));
  plan.tile[3] *= length;
  return plan;
}

Reason PatchConv::checkTiles(const Problem &problem,
                             const TargetDescription &target,
                             const Plan &plan) const {
  CPUModel model = modelOf(plan.unit, problem, target);
  PixelTile pixels =
      orient(problem, {plan.registers()[0], plan.registers()[1]});
  int64_t rows = 1;
  if (plan.tile.size() == 4)
    rows = imageRows(problem, model, pixels.width, plan.tile[1]);
  if (rows > 1)
    pixels.width = roundUp(ceilDiv(pixels.width, rows), model.tile.rows);
  bool anyRows = problem.channelsLast ||
                 hasPanels(asMultiplied(plan.unit, problem, target));
  if (Reason reason = checkTile(model, plan,
                                {{"height"},
                                 {"width", pixels.width},
                                 {"filters", pixels.channels},
                                 {"channels"}},
                                anyRows);
      !reason.empty())
    return reason;
  int64_t staged = plan.params.as<schedule::CPUConv>().staged;
  if (!staged &&
      (rows > 1 || !canReadInPlace(problem, target, plan.unit, pixels.width)))
    return "an image is read where it lies (staged = 0) with channels last, in "
           "the accumulator's type or in whole tiles of a unit, where no tap "
           "leaves it";
  int64_t length = wordLength(problem, target);
  int64_t words =
      joinsTaps(problem, length) ? 1 : inWords(plan.tile, length)[3];
  if (stagedBytes(problem, model, plan.tile[0], plan.tile[1], plan.tile[2],
                  words, staged) > static_cast<double>(kMaxStagedBytes))
    return "the patch and the filter panel take more than " +
           std::to_string(kMaxStagedBytes) + " bytes";
  return "";
}
