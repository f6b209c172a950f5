//===- CPUConv.cpp - Convolutions on CPUs ---------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patch of the image that a tile of output pixels reads is staged, borders
// included, so that the multiplies need no masks. Where no tap leaves the image
// it may be read where it lies; so may that of a depthwise convolution, which
// uses a pixel a few times only, if masks are cheap. Tiles are chosen by trying
// the sensible ones against the cost model.
//
//===----------------------------------------------------------------------===//
#include "../CPU/CPUDots.h"
#include "../Numbers.h"
#include "../Variants.h"
#include "PatchModel.h"
#include "tracea/Doctor/CPUModel.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

/// Elements of the patch under a tile of outputs, for one channel. Sizes are
/// floating-point numbers: a tile written by hand may overflow integers.
double patchArea(const Problem &problem, int64_t height, int64_t width) {
  // A filter of one tap passes over what a stride leaves out, but for columns
  // of images with channels first, which are staged by their remainders.
  bool passesRows = problem.filterHeight == 1;
  bool passesColumns = problem.filterWidth == 1 && problem.channelsLast;
  return static_cast<double>(
             patchExtent(height, passesRows ? 1 : problem.strideHeight,
                         problem.filterHeight, problem.dilationHeight)) *
         static_cast<double>(
             patchExtent(width, passesColumns ? 1 : problem.strideWidth,
                         problem.filterWidth, problem.dilationWidth));
}

/// A filter, stride or dilation so large that sizes may overflow is refused
/// before any are computed.
Reason refuseHuge(const Problem &problem) {
  if (problem.filterHeight == kUnknownExtent ||
      problem.filterWidth == kUnknownExtent)
    return "the filter's height or width is not static";
  constexpr int64_t most = 1 << 12;
  for (int64_t value :
       {problem.filterHeight, problem.filterWidth, problem.strideHeight,
        problem.strideWidth, problem.dilationHeight, problem.dilationWidth})
    if (value > most)
      return "a filter extent, stride or dilation of " + std::to_string(value) +
             " is above " + std::to_string(most);
  return "";
}

/// Heights and widths of output tiles worth trying: all of it, and halves, down
/// to `least`; unknown extents get one fixed size.
std::vector<int64_t> extentsToTry(int64_t extent, int64_t factor,
                                  int64_t whenUnknown) {
  if (extent == kUnknownExtent)
    return {roundUp(whenUnknown, factor)};
  std::vector<int64_t> extents;
  for (int64_t pieces = 1;; ++pieces) {
    int64_t share =
        roundUp(ceilDiv(std::max<int64_t>(1, extent), pieces), factor);
    share = std::min(share, roundDown(kMaxTileExtent, factor));
    if (extents.empty() || extents.back() != share)
      extents.push_back(share);
    if (share <= factor || pieces >= 128)
      break;
  }
  if (extents.back() != factor)
    extents.push_back(factor);
  return extents;
}

/// Values of the schedules' field `staged`.
constexpr int64_t kInPlace = 0, kStaged = 1;

/// Whether no tap of any output pixel is known to leave the image.
bool staysInImage(const Problem &problem) {
  auto stays = [](int64_t image, int64_t output, int64_t before, int64_t stride,
                  int64_t filter, int64_t dilation) {
    return image != kUnknownExtent && output != kUnknownExtent && before == 0 &&
           patchExtent(output, stride, filter, dilation) <= image;
  };
  return stays(problem.imageHeight, problem.outputHeight, problem.padTop,
               problem.strideHeight, problem.filterHeight,
               problem.dilationHeight) &&
         stays(problem.imageWidth, problem.outputWidth, problem.padLeft,
               problem.strideWidth, problem.filterWidth, problem.dilationWidth);
}

/// Tiles of the grid, with an unknown number of images taken as one.
double gridTiles(const Problem &problem, int64_t channels, int64_t height,
                 int64_t width, int64_t depth) {
  auto count = [](int64_t extent, int64_t tile, int64_t typical) {
    return static_cast<double>(
        ceilDiv(std::max<int64_t>(1, assumed(extent, typical)), tile));
  };
  return static_cast<double>(assumed(problem.images, 1)) *
         count(problem.outputHeight, height, 56) *
         count(problem.outputWidth, width, 56) * count(channels, depth, 64);
}

/// A register tile by what its sides mean. Its columns, the lanes' side, lie
/// along the result's contiguous dimension: channels when they are last, else
/// pixels of a row.
struct PixelTile {
  int64_t width;
  int64_t channels;
};

PixelTile orient(const Problem &problem, MicroTile micro) {
  if (problem.channelsLast)
    return {micro.rows, micro.columns};
  return {micro.columns, micro.rows};
}

MicroTile chooseOriented(const Problem &problem, const CPUModel &model,
                         int64_t channels) {
  int64_t width = problem.outputWidth;
  if (problem.channelsLast)
    return model.chooseMicroTile(width, channels, /*anyRows=*/true);
  return model.chooseMicroTile(channels, width);
}

/// Cycles of `width` pixels times `channels`, each a sum of `depth` products.
double pixelCycles(const Problem &problem, const CPUModel &model,
                   MicroTile micro, int64_t width, int64_t channels,
                   int64_t depth) {
  if (problem.channelsLast)
    return model.multiplyCycles(micro, width, channels, depth);
  return model.multiplyCycles(micro, channels, width, depth);
}

/// Register tiles of `width` pixels times `channels`.
double registerTiles(const Problem &problem, MicroTile micro, int64_t width,
                     int64_t channels) {
  PixelTile tile = orient(problem, micro);
  return static_cast<double>(ceilDiv(width, tile.width) *
                             ceilDiv(channels, tile.channels));
}

//===----------------------------------------------------------------------===//
// conv2d.patch
//===----------------------------------------------------------------------===//

class PatchConv : public CPUVariant {
public:
  std::string_view name() const override { return "conv2d.patch"; }
  std::string_view summary() const override {
    return "stages a patch of the image and a panel of filters, then "
           "multiplies register tiles for every tap";
  }
  bool serves(OpKind op) const override { return op == OpKind::Conv2D; }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (Reason reason = refuseHuge(problem); !reason.empty())
      return reason;
    CPUModel model = this->model(UnitKind::Vector, problem, target);
    PixelTile micro = orient(problem, microTile(problem, model));
    int64_t least =
        stagedBytes(problem, model, 1, micro.width, micro.channels, 1);
    if (least > kMaxStagedBytes)
      return "the smallest patch and filter panel take " +
             std::to_string(static_cast<int64_t>(least)) +
             " bytes, more than " + std::to_string(kMaxStagedBytes);
    return "";
  }
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    return planOn(UnitKind::Vector, problem, target);
  }
  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override {
    int64_t length = wordLength(problem, target);
    Problem words = inWords(problem, length);
    words.isFilterConstant &= packsFilter(plan.unit, problem, target);
    words.groupChannels = assumed(words.groupChannels, ceilDiv(64, length));
    return estimate(
        words, model(plan.unit, problem, target),
        {plan.registers()[0], plan.registers()[1]}, inWords(plan.tile, length),
        plan.params.as<schedule::CPUConv>().staged, joinsTaps(problem, length));
  }

protected:
  /// Channels that are packed into one, and how fast they are multiplied.
  virtual int64_t wordLength(const Problem &, const TargetDescription &) const {
    return 1;
  }
  virtual CPUModel model(UnitKind, const Problem &problem,
                         const TargetDescription &target) const {
    CPUModel model(target, problem.accumulator);
    // Panels that lie ready are asked for ahead of their use.
    constexpr double asked = 40;
    if (hasPanels(inWords(problem, 1)))
      model.streamBytes = asked;
    return model;
  }
  /// Whether panels of a constant filter are multiplied as they are.
  virtual bool packsFilter(UnitKind, const Problem &,
                           const TargetDescription &) const {
    return true;
  }
  /// The best plan for one of the units.
  Plan planOn(UnitKind unit, const Problem &problem,
              const TargetDescription &target) const;

private:
  /// Whether the taps of a row are multiplied like channels, of which there is
  /// one. Behind the last tap a word meets pixels: of infinite ones not even
  /// the product with zero is one.
  static bool joinsTaps(const Problem &problem, int64_t length) {
    return problem.channelsLast && problem.groups == 1 &&
           problem.groupChannels == 1 && problem.filterWidth > 1 &&
           (length == 1 || problem.operand == ElementType::I8);
  }
  /// The same with words in place of channels, or of the taps that are joined.
  static Problem inWords(Problem problem, int64_t length) {
    // Elements that are converted are staged, and so are words of taps.
    if (length == 1 ? problem.operand != problem.accumulator
                    : joinsTaps(problem, length))
      problem.isFilterConstant = false;
    if (joinsTaps(problem, length)) {
      problem.filterWidth = ceilDiv(problem.filterWidth, length);
      problem.strideWidth = ceilDiv(problem.strideWidth, length);
    }
    if (problem.groupChannels != kUnknownExtent)
      problem.groupChannels = ceilDiv(problem.groupChannels, length);
    return problem;
  }
  static std::vector<int64_t> inWords(std::vector<int64_t> tile,
                                      int64_t length) {
    if (tile.size() == 4)
      tile[3] = ceilDiv(tile[3], length);
    return tile;
  }
  static MicroTile microTile(const Problem &problem, const CPUModel &model) {
    return chooseOriented(problem, model, problem.groupFilters);
  }
  /// That, and the one of the most rows beside as many columns that equal parts
  /// of a row of pixels are: the more rows, the fewer runs begin.
  static std::vector<MicroTile> microTiles(const Problem &problem,
                                           const CPUModel &model) {
    MicroTile usual = microTile(problem, model);
    std::vector<MicroTile> tiles = {usual};
    if (!problem.channelsLast || problem.outputWidth < 1)
      return tiles;
    if (model.hasTiles()) {
      addTilesOfUnit(problem, model, tiles);
      return tiles;
    }
    int64_t most = usual.rows;
    while (model.fits({most + 1, usual.columns}))
      ++most;
    int64_t width = problem.outputWidth;
    int64_t rows = ceilDiv(width, ceilDiv(width, most));
    rows = roundUp(rows, model.tile.rows);
    if (rows > usual.rows && rows <= most)
      tiles.push_back({rows, usual.columns});
    return tiles;
  }
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
  /// Whether rows of the patch stay in the first level from one tap to the
  /// next, those that a register tile of `rows` rows of the image sees.
  static bool areRowsNear(const Problem &problem, const CPUModel &model,
                          int64_t rows, int64_t width, int64_t channels) {
    int64_t seen = (rows - 1) * problem.strideHeight + problem.filterHeight;
    return problem.filterHeight * problem.filterWidth > 1 &&
           seen * (width * problem.strideWidth + problem.filterWidth - 1) *
                   channels * model.elementBytes <=
               model.l1;
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
  /// Whether panels of the filter are made once for many runs, of a problem in
  /// words.
  static bool hasPanels(const Problem &problem) {
    return problem.isFilterConstant && problem.channelsLast &&
           problem.groups == 1;
  }
  /// Channels of a block worth trying: equal shares of at most `most`, and
  /// halves of these down to `block`.
  static std::vector<int64_t> channelBlocks(const Problem &problem,
                                            const CPUModel &model,
                                            int64_t block, int64_t most);
  static double stagedBytes(const Problem &problem, const CPUModel &model,
                            int64_t height, int64_t width, int64_t filters,
                            int64_t channels) {
    int64_t taps = problem.filterHeight * problem.filterWidth;
    return (patchArea(problem, height, width) +
            static_cast<double>(taps) * static_cast<double>(filters)) *
           static_cast<double>(channels * model.elementBytes);
  }
  static double scratchBytes(const Problem &problem, const CPUModel &model,
                             const std::vector<int64_t> &tile) {
    bool oneBlock = problem.groupChannels != kUnknownExtent &&
                    problem.groupChannels <= tile[3];
    if (problem.result == problem.accumulator || oneBlock)
      return 0;
    return static_cast<double>(tile[0]) * static_cast<double>(tile[1]) *
           static_cast<double>(tile[2] * model.elementBytes);
  }
  /// Of a problem in words, whose taps of a row are `joined` or not.
  static double estimate(const Problem &problem, const CPUModel &model,
                         MicroTile micro, const std::vector<int64_t> &tile,
                         int64_t staged, bool joined);
  /// What the loads of a tile wait for where filters are not staged, and where
  /// the image is not.
  static double panelCycles(const Problem &problem, const CPUModel &model,
                            const std::vector<int64_t> &tile);
  static double inPlaceCycles(const Problem &problem, const CPUModel &model,
                              const std::vector<int64_t> &tile);
  /// Whether the image can be multiplied where it lies, in register tiles of
  /// `pixels` pixels.
  bool canReadInPlace(const Problem &problem, const TargetDescription &target,
                      UnitKind unit, int64_t pixels) const {
    if (!problem.channelsLast || !staysInImage(problem))
      return false;
    int64_t length = wordLength(problem, target);
    if (length == 1)
      return problem.operand == problem.accumulator;
    // A unit loads whole tiles of words, which neighbouring channels are.
    CPUModel model = this->model(unit, problem, target);
    return model.hasTiles() && problem.groups == 1 &&
           !joinsTaps(problem, length) &&
           problem.groupChannels % (length * model.tile.words) == 0 &&
           problem.outputWidth % pixels == 0;
  }
};

double PatchConv::estimate(const Problem &problem, const CPUModel &usual,
                           MicroTile micro, const std::vector<int64_t> &tile,
                           int64_t staged, bool joined) {
  CPUModel model = usual;
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
      staged && areRowsNear(problem, model, rows, tile[1], tile[3]);
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
  std::vector<int64_t> seen = {height, width, filters, tile[3]};
  if (!staged && (hasPanels(problem) || model.hasTiles()))
    stage += inPlaceCycles(problem, model, seen);
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

/// Cycles of elements from beyond the second level, a line after the other of a
/// stream that is asked for ahead.
static double fetchCycles(const CPUModel &model, double elements) {
  constexpr double lineCycles = 3, lineBytes = 64;
  return lineCycles * elements * static_cast<double>(model.elementBytes) /
         lineBytes;
}

double PatchConv::panelCycles(const Problem &problem, const CPUModel &model,
                              const std::vector<int64_t> &tile) {
  int64_t channels = assumed(problem.groupChannels, 64);
  double pixels = static_cast<double>(tile[0]) * static_cast<double>(tile[1]);
  double filters = static_cast<double>(tile[2]);
  double panels = static_cast<double>(problem.filterHeight *
                                      problem.filterWidth * channels) *
                  filters;
  double cycles = fetchCycles(model, panels);
  // They stay in the second level from one tile of pixels to the next where
  // there is room for all of their channels beside what streams through it.
  Problem image = problem;
  image.images = 1;
  if (panels * static_cast<double>(model.elementBytes) <=
      static_cast<double>(model.l2) / 4)
    cycles /= gridTiles(image, tile[2], tile[0], tile[1], tile[2]);
  // Between blocks of channels sums are written and read again.
  double revisits = static_cast<double>(ceilDiv(channels, tile[3]) - 1);
  return cycles + fetchCycles(model, 2 * revisits * pixels * filters);
}

double PatchConv::inPlaceCycles(const Problem &problem, const CPUModel &model,
                                const std::vector<int64_t> &tile) {
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
  double cycles =
      seen <= static_cast<double>(model.l2) / 2 ? read / passes : read;
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
  Problem problem = inWords(given, length);
  problem.isFilterConstant &= packsFilter(unit, given, target);
  bool joined = joinsTaps(given, length);
  CPUModel model = this->model(unit, given, target);

  // A patch that is read for every panel of filters leaves most of the second
  // level to what streams through it; a panel is smaller beside it.
  const double halfL2 = static_cast<double>(model.l2) / 2;
  const double mostPatch = static_cast<double>(model.l2) / 4;
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
    int64_t rows = 1;
    if (model.hasTiles() && problem.channelsLast)
      rows = imageRows(problem, model, micro.rows,
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
          double filterBytes =
              static_cast<double>(problem.filterHeight * problem.filterWidth *
                                  held * filters * model.elementBytes);
          bool keepsFilters =
              fits || least
                  ? filterBytes <= halfL2 || filters == pixels.channels
                  : hasPanels(problem) && filterBytes <= mostPatch;
          if (isInPlace && keepsFilters)
            tryForm(micro, tile, kInPlace);
          if (fits || least)
            tryForm(micro, tile, kStaged);
        }
    }
  };
  std::vector<MicroTile> tiles = microTiles(problem, model);
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
  plan.tile[3] *= length;
  return plan;
}

Reason PatchConv::checkTiles(const Problem &problem,
                             const TargetDescription &target,
                             const Plan &plan) const {
  CPUModel model = this->model(plan.unit, problem, target);
  PixelTile pixels =
      orient(problem, {plan.registers()[0], plan.registers()[1]});
  int64_t rows = 1;
  if (plan.tile.size() == 4)
    rows = imageRows(problem, model, pixels.width, plan.tile[1]);
  if (rows > 1)
    pixels.width = roundUp(ceilDiv(pixels.width, rows), model.tile.rows);
  if (Reason reason = checkTile(model, plan,
                                {{"height"},
                                 {"width", pixels.width},
                                 {"filters", pixels.channels},
                                 {"channels"}},
                                problem.channelsLast);
      !reason.empty())
    return reason;
  if (!plan.params.as<schedule::CPUConv>().staged &&
      (rows > 1 || !canReadInPlace(problem, target, plan.unit, pixels.width)))
    return "an image is read where it lies (staged = 0) with channels last, in "
           "the accumulator's type or in whole tiles of a unit, where no tap "
           "leaves it";
  int64_t length = wordLength(problem, target);
  int64_t words =
      joinsTaps(problem, length) ? 1 : inWords(plan.tile, length)[3];
  if (stagedBytes(problem, model, plan.tile[0], plan.tile[1], plan.tile[2],
                  words) > static_cast<double>(kMaxStagedBytes))
    return "the patch and the filter panel take more than " +
           std::to_string(kMaxStagedBytes) + " bytes";
  return "";
}

/// The same by words of a dot product. Channels are neighbours in the image,
/// which is what a word takes, where they are last.
class DotConv final : public PatchConv {
public:
  std::string_view name() const override { return "conv2d.dot"; }
  std::string_view summary() const override {
    return "stages a patch of the image and a panel of filters in words of "
           "channels, then multiplies register tiles by dot products for every "
           "tap";
  }
  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (Reason reason = whyNoDots(problem, target); !reason.empty())
      return reason;
    if (!problem.channelsLast)
      return "words are of neighbouring channels, which are not last";
    // What is beyond a group is another one's, and no zero.
    int64_t length = 0;
    for (UnitKind unit : dotUnits(problem, target))
      if (int64_t step = dotStepLength(problem, target, unit);
          length == 0 || step < length)
        length = step;
    if (problem.groups != 1 && (problem.groupChannels == kUnknownExtent ||
                                problem.groupChannels % length != 0))
      return "the channels of a group are not known to fill words of " +
             std::to_string(length);
    return PatchConv::whyNot(problem, target);
  }
  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override {
    if (Reason reason = whyNot(problem, target); !reason.empty())
      return reason;
    if (Reason reason = checkWords(plan, 3, "channels",
                                   dotStepLength(problem, target, plan.unit));
        !reason.empty())
      return reason;
    return PatchConv::checkTiles(problem, target, plan);
  }
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    return cheapestPlan(*this, problem, target);
  }
  /// One for each unit that multiplies such words.
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override {
    std::vector<Plan> plans;
    for (UnitKind unit : dotUnits(problem, target))
      if (multipliesOn(unit, problem, target))
        plans.push_back(planOn(unit, problem, target));
    return plans;
  }

protected:
  int64_t wordLength(const Problem &problem,
                     const TargetDescription &target) const override {
    return dotWordLength(problem, target);
  }
  CPUModel model(UnitKind unit, const Problem &problem,
                 const TargetDescription &target) const override {
    return dotModel(problem, target, unit);
  }
  bool packsFilter(UnitKind unit, const Problem &problem,
                   const TargetDescription &target) const override {
    return packsConstants(problem, target, unit);
  }
  bool multipliesOn(UnitKind unit, const Problem &problem,
                    const TargetDescription &target) const override {
    // What is beyond a group is another one's, and no zero.
    return multipliesDots(unit, problem, target) &&
           (problem.groups == 1 ||
            problem.groupChannels % dotStepLength(problem, target, unit) == 0);
  }
};

//===----------------------------------------------------------------------===//
// conv2d.depthwise
//===----------------------------------------------------------------------===//

class DepthwiseConv final : public CPUVariant {
public:
  std::string_view name() const override { return "conv2d.depthwise"; }
  std::string_view summary() const override {
    return "multiplies a patch, staged or where it lies, channel by channel: "
           "lanes are channels, and no product is summed over them";
  }
  bool serves(OpKind op) const override { return op == OpKind::Conv2D; }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (problem.groupChannels != 1 || problem.groupFilters != 1)
      return "the convolution is not depthwise: each group must have one "
             "input and one output channel";
    if (Reason reason = refuseHuge(problem); !reason.empty())
      return reason;
    CPUModel model(target, problem.accumulator);
    PixelTile micro = orient(problem, microTile(problem, model));
    double least =
        stagedBytes(problem, model, 1, micro.width, micro.channels,
                    isReadInPlace(problem, target) ? kInPlace : kStaged);
    if (least > kMaxStagedBytes)
      return "the smallest patch takes " +
             std::to_string(static_cast<int64_t>(least)) +
             " bytes, more than " + std::to_string(kMaxStagedBytes);
    return "";
  }
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override;
  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override {
    CPUModel model(target, problem.accumulator);
    return estimate(problem, model, {plan.registers()[0], plan.registers()[1]},
                    plan.tile, plan.params.as<schedule::CPUConv>().staged);
  }

private:
  /// Whether a vector of the image is channels of one pixel.
  static bool canReadInPlace(const Problem &problem) {
    return problem.channelsLast && problem.operand == problem.accumulator;
  }
  /// Whether the image is read where it lies: loads at its border are masked.
  static bool isReadInPlace(const Problem &problem,
                            const TargetDescription &target) {
    return canReadInPlace(problem) && target.hasFeature("avx512f");
  }
  /// Taps of a row share the pixels that they load, so that a tile has as many
  /// sums as cover the latency and leaves registers to pixels and weights:
  /// neighbours by two vectors of channels, or by one where a stride lets them
  /// share less, where a row of taps sees more pixels than registers hold
  /// twice, where the second of the last two would be empty, or where all
  /// pixels of a row are one tile then. With channels first pixels of a row lie
  /// along the lanes.
  static MicroTile microTile(const Problem &problem, const CPUModel &model) {
    if (!problem.channelsLast)
      return chooseOriented(problem, model, problem.groups);
    int64_t width = std::max<int64_t>(1, assumed(problem.outputWidth, 56));
    int64_t channels = std::max<int64_t>(1, assumed(problem.groups, 64));
    bool isDense = problem.strideWidth == 1;
    constexpr int64_t mostTaps = 4;
    int64_t sums = model.mostColumns(1) / model.lanes;
    // Of two tiles in a row both are at the border, with masks for all pixels.
    bool isNarrow =
        problem.filterWidth <= mostTaps || ceilDiv(width, sums) == 2;
    // Half of them are two tiles, each with a border of its own.
    bool isOneTile = width > sums / 2 && width <= sums;
    bool inPairs =
        isDense && isNarrow && !isOneTile &&
        roundUp(channels, 2 * model.lanes) == roundUp(channels, model.lanes);
    int64_t vectors = inPairs ? 2 : 1;
    int64_t most = std::max<int64_t>(1, inPairs || !isDense ? sums / 2 : sums);
    int64_t rows = ceilDiv(width, ceilDiv(width, most));
    return {rows, vectors * model.lanes};
  }
  static double stagedBytes(const Problem &problem, const CPUModel &model,
                            int64_t height, int64_t width, int64_t channels,
                            int64_t staged) {
    int64_t taps = problem.filterHeight * problem.filterWidth;
    double patch = staged ? patchArea(problem, height, width) : 0;
    return (patch + static_cast<double>(taps)) *
           static_cast<double>(channels * model.elementBytes);
  }
  static double estimate(const Problem &problem, const CPUModel &model,
                         MicroTile micro, const std::vector<int64_t> &tile,
                         int64_t staged) {
    int64_t taps = problem.filterHeight * problem.filterWidth;
    double multiply =
        static_cast<double>(tile[0]) *
        pixelCycles(problem, model, micro, tile[1], tile[2], taps);
    double weights = model.stageCycles(static_cast<double>(taps) *
                                       static_cast<double>(tile[2]));
    double image = staged
                       ? patchCycles(problem, model, tile)
                       : inPlaceCycles(problem, model, micro, tile, multiply);
    double tiles =
        gridTiles(problem, problem.groups, tile[0], tile[1], tile[2]);
    return model.spread(tiles, multiply + weights + image);
  }
  /// What loads wait for where the image is read in place. Its rows are read
  /// once for each row of taps, and stay in the first level where those that a
  /// row of pixels sees have room there. Fewer channels at a time make room,
  /// but are apart in memory: what the second level does not hold then comes
  /// line by line, and not as a stream. Where an image that is larger than that
  /// level comes in more slowly than it is multiplied, nothing waits for the
  /// first one; but each part of a row begins another stream.
  static double inPlaceCycles(const Problem &problem, const CPUModel &model,
                              MicroTile micro, const std::vector<int64_t> &tile,
                              double multiply) {
    constexpr double loadCycles = 1, lineCycles = 3, tileCycles = 100;
    constexpr double beyondCycles = 6, streamCycles = 40;
    constexpr double lineBytes = 64;
    int64_t pixels = orient(problem, micro).width;
    double bytes = static_cast<double>(tile[2] * model.elementBytes);
    double loads = 0;
    if (patchArea(problem, 1, tile[1]) * bytes >
        static_cast<double>(model.l1) * 2 / 3)
      loads = loadCycles * static_cast<double>(tile[0] * tile[2]) /
              static_cast<double>(model.lanes) *
              static_cast<double>(ceilDiv(tile[1], pixels)) *
              patchArea(problem, 1, pixels);
    double image =
        patchArea(problem, assumed(problem.outputHeight, 56),
                  assumed(problem.outputWidth, 56)) *
        static_cast<double>(assumed(problem.groups, 64) * model.elementBytes);
    double lines = (static_cast<double>(tile[0] * tile[1]) +
                    patchArea(problem, tile[0], tile[1])) *
                   bytes / lineBytes;
    double cycles = tileCycles;
    if (image > static_cast<double>(model.l2)) {
      int64_t rows = patchExtent(tile[0], problem.strideHeight,
                                 problem.filterHeight, problem.dilationHeight);
      cycles += streamCycles * static_cast<double>(rows);
      loads -= std::max(0.0, beyondCycles * lines - multiply);
    }
    cycles += std::max(0.0, loads);
    if (tile[2] < assumed(problem.groups, 64) &&
        image > static_cast<double>(model.l2) / 2)
      cycles += lineCycles * lines;
    return cycles;
  }
  static double patchCycles(const Problem &problem, const CPUModel &model,
                            const std::vector<int64_t> &tile) {
    double area = patchArea(problem, tile[0], tile[1]);
    // Runs of a few channels are copied one by one.
    constexpr double runCycles = 2;
    return model.stageCycles(area * static_cast<double>(tile[2])) +
           runCycles * area;
  }
};

Plan DepthwiseConv::plan(const Problem &problem,
                         const TargetDescription &target) const {
  CPUModel model(target, problem.accumulator);
  MicroTile micro = microTile(problem, model);
  PixelTile pixels = orient(problem, micro);
  Plan plan = emptyPlan();
  plan.registers() = {micro.rows, micro.columns};
  plan.tile = {1, pixels.width, pixels.channels};
  // Each pixel is read a few times only: the patch is small beside what streams
  // through the second level.
  const double mostPatch = static_cast<double>(model.l2) / 8;
  double best = -1;
  auto tryForm = [&](int64_t staged) {
    for (int64_t channels : extentsToTry(problem.groups, pixels.channels, 64))
      for (int64_t width :
           extentsToTry(problem.outputWidth, pixels.width, 4 * pixels.width))
        for (int64_t height : extentsToTry(problem.outputHeight, 1, 8)) {
          if (stagedBytes(problem, model, height, width, channels, staged) >
              mostPatch)
            continue;
          std::vector<int64_t> tile = {height, width, channels};
          double cycles = estimate(problem, model, micro, tile, staged);
          if (best < 0 || cycles < best) {
            best = cycles;
            plan.tile = tile;
            plan.params.as<schedule::CPUConv>().staged = staged;
          }
        }
  };
  if (isReadInPlace(problem, target))
    tryForm(kInPlace);
  tryForm(kStaged);
  return plan;
}

Reason DepthwiseConv::checkTiles(const Problem &problem,
                                 const TargetDescription &target,
                                 const Plan &plan) const {
  CPUModel model(target, problem.accumulator);
  PixelTile pixels =
      orient(problem, {plan.registers()[0], plan.registers()[1]});
  if (Reason reason = checkTile(
          model, plan,
          {{"height"}, {"width", pixels.width}, {"channels", pixels.channels}},
          problem.channelsLast);
      !reason.empty())
    return reason;
  int64_t staged = plan.params.as<schedule::CPUConv>().staged;
  if (!staged && !canReadInPlace(problem))
    return "an image is read where it lies (staged = 0) with channels last and "
           "in the accumulator's type";
  if (stagedBytes(problem, model, plan.tile[0], plan.tile[1], plan.tile[2],
                  staged) > static_cast<double>(kMaxStagedBytes))
    return "the patch takes more than " + std::to_string(kMaxStagedBytes) +
           " bytes";
  return "";
}

} // namespace

void tracea::doctor::addCPUConvVariants(Registry &registry) {
  registry.add(std::make_unique<PatchConv>());
  registry.add(std::make_unique<DepthwiseConv>());
  registry.add(std::make_unique<DotConv>());
}
