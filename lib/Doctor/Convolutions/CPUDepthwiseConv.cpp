//===- CPUDepthwiseConv.cpp - Depthwise convolutions on CPUs --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A depthwise convolution uses a pixel a few times only: its image is read
// where it lies if masks are cheap, and staged otherwise.
//
//===----------------------------------------------------------------------===//
#include "../Numbers.h"
#include "../Variants.h"
#include "CPUConvTiles.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

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
    PixelTile micro = orient(problem, microTile(problem, target));
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
  /// Taps of a row that share few of their pixels with each other.
  static constexpr int64_t kFewTaps = 4;
  /// Pixels of far images that are longer are followed by the processor, also
  /// where several of them are read side by side.
  static constexpr int64_t kFollowedBytes = 1024;

  /// Whether a vector of the image is channels of one pixel.
  static bool canReadInPlace(const Problem &problem) {
    return problem.channelsLast && problem.operand == problem.accumulator;
  }
  /// Whether the image is read where it lies: loads at its border are masked.
  /// AVX2 masks elements of 32 bits and more.
  static bool isReadInPlace(const Problem &problem,
                            const TargetDescription &target) {
    return canReadInPlace(problem) &&
           (target.hasFeature("avx512f") ||
            (target.hasFeature("avx2") && bitWidth(problem.operand) >= 32));
  }
  /// Taps of a row share the pixels that they load, so that a tile has as many
  /// sums as cover the latency and leaves registers to pixels and weights:
  /// neighbours by two vectors of channels, or by one where a stride lets them
  /// share less, where what many taps see of a few tiles would not stay in the
  /// first level twice, where the second of the last two would be empty, or
  /// where all pixels of a row are one tile then; and few neighbours where each
  /// is a stream. Of few registers sums take as many as there are, of one
  /// vector: weights are loaded for each product. With channels first pixels of
  /// a row lie along the lanes.
  static MicroTile microTile(const Problem &problem,
                             const TargetDescription &target) {
    CPUModel model(target, problem.accumulator);
    if (!problem.channelsLast)
      return chooseOriented(problem, model, problem.groups);
    int64_t width = std::max<int64_t>(1, assumed(problem.outputWidth, 56));
    int64_t channels = std::max<int64_t>(1, assumed(problem.groups, 64));
    bool isDense = problem.strideWidth == 1;
    int64_t sums = model.mostColumns(1) / model.lanes;
    // Of two tiles in a row both are at the border, with masks for all pixels.
    bool isNarrow = problem.filterWidth <= kFewTaps ||
                    ceilDiv(width, sums) == 2 || staysInPairs(problem, model);
    // Half of them are two tiles, each with a border of its own.
    bool isOneTile = width > sums / 2 && width <= sums;
    bool hasMany = !model.hasFewRegisters();
    constexpr int64_t fewPixels = 4;
    if (hasMany && isDense && !isOneTile && isReadInPlace(problem, target) &&
        isReadInStreams(problem, model))
      return {fewPixels, 2 * model.lanes};
    bool inPairs =
        hasMany && isDense && isNarrow && !isOneTile &&
        roundUp(channels, 2 * model.lanes) == roundUp(channels, model.lanes);
    int64_t vectors = inPairs ? 2 : 1;
    int64_t most = std::max<int64_t>(
        1, inPairs || (hasMany && !isDense) ? sums / 2 : sums);
    int64_t rows = ceilDiv(width, ceilDiv(width, most));
    return {rows, vectors * model.lanes};
  }
  /// Whether the rows that four tiles of half the sums see stay in the first
  /// level, by two vectors of channels.
  static bool staysInPairs(const Problem &problem, const CPUModel &model) {
    int64_t sums = model.mostColumns(1) / model.lanes;
    return patchArea(problem, 1, 4 * (sums / 2)) *
               static_cast<double>(2 * model.lanes * model.elementBytes) <=
           static_cast<double>(model.l1) * 2 / 3;
  }
  /// Bytes of an image, with its border.
  static double imageBytes(const Problem &problem, const CPUModel &model) {
    return patchArea(problem, assumed(problem.outputHeight, 56),
                     assumed(problem.outputWidth, 56)) *
           static_cast<double>(assumed(problem.groups, 64) *
                               model.elementBytes);
  }
  /// Whether the image comes from beyond a small second level, line by line as
  /// kernels ask for it.
  static bool isFar(const Problem &problem, const CPUModel &model) {
    return model.hasFewRegisters() && model.isSecondLevelSmall() &&
           imageBytes(problem, model) > static_cast<double>(model.l2);
  }
  /// Whether such an image is read as one stream, pixel by pixel with all
  /// channels. Pixels side by side in registers are streams of their own, each
  /// as long as a pixel has channels: of short ones more lines are waited for,
  /// with a stride twice as many. On a Zen 3 144 channels of 56 x 56 take 0.75
  /// ms that way and 0.70 as one stream, 96 of 112 x 112 with a stride 0.87 and
  /// 0.66, but 576 of 14 x 14 0.18 and 0.20. Pixels share no loads then, which
  /// many taps in a row do not make up for.
  static bool isStreamed(const Problem &problem, const CPUModel &model) {
    constexpr int64_t longBytes = 2048;
    return isFar(problem, model) && problem.filterWidth <= kFewTaps &&
           assumed(problem.groups, 64) * model.elementBytes < longBytes;
  }
  /// One pixel by as many vectors of channels as cover the latency, where two
  /// loads a product leave one product a cycle, and as leave the fewest lanes
  /// empty at the last channels; or several pixels of few channels.
  static MicroTile streamedTile(const Problem &problem, const CPUModel &model) {
    // Of AVX2's 16 registers, beside weights, a pixel and its mask.
    constexpr int64_t least = 6, most = 13, several = 8;
    int64_t vectors =
        ceilDiv(std::max<int64_t>(1, assumed(problem.groups, 64)), model.lanes);
    int64_t best = std::min(vectors, least);
    for (int64_t sums = best + 1; sums <= std::min(vectors, most); ++sums)
      if (roundUp(vectors, sums) < roundUp(vectors, best))
        best = sums;
    // Of few channels pixels side by side are one stream as well.
    int64_t width = std::max<int64_t>(1, assumed(problem.outputWidth, 56));
    int64_t rows = best == vectors ? std::max<int64_t>(1, several / best) : 1;
    while (width % rows)
      --rows;
    return {rows, best * model.lanes};
  }
  /// Whether two pixels hold all of their channels in registers, and share few
  /// of their loads for a stride: then rows are read as they lie. On a Sapphire
  /// Rapids 96 channels of 112 x 112 take 0.258 ms that way and 0.270 by seven
  /// pixels of one vector, 99 of 57 x 57 0.048 and 0.050, and where eight
  /// images come from beyond the second level 0.56 and 0.62.
  static bool holdsPixels(const Problem &problem, const CPUModel &model) {
    constexpr int64_t least = 4, most = 7;
    int64_t vectors = ceilDiv(assumed(problem.groups, 64), model.lanes);
    return !model.hasFewRegisters() && problem.strideWidth > 1 &&
           problem.filterWidth <= kFewTaps && vectors >= least &&
           vectors <= most && assumed(problem.outputWidth, 56) > 1;
  }
  /// Bytes of images and results.
  static double imagesBytes(const Problem &problem, const CPUModel &model) {
    double result =
        static_cast<double>(assumed(problem.outputHeight, 56) *
                            assumed(problem.outputWidth, 56)) *
        static_cast<double>(assumed(problem.groups, 64) * model.elementBytes);
    return (imageBytes(problem, model) + result) *
           static_cast<double>(assumed(problem.images, 64));
  }
  /// Whether they do not stay in the second level. In a network an image has
  /// just been written: what stays there need not be asked for.
  static bool areImagesFar(const Problem &problem, const CPUModel &model) {
    return imagesBytes(problem, model) > static_cast<double>(model.l2);
  }
  /// Whether pixels of far images are so long that each in a register tile is a
  /// stream of its own, yet too short for the processor to follow it. Few at a
  /// time are best then. On a Sapphire Rapids, with requests, 8 images of 192
  /// channels of 28 x 28 take 0.51 ms by four pixels and 0.62 by seven, 240
  /// channels of four images 0.34, and 0.36 by fourteen of one vector.
  static bool isReadInStreams(const Problem &problem, const CPUModel &model) {
    constexpr int64_t shortBytes = 512;
    int64_t bytes = assumed(problem.groups, 64) * model.elementBytes;
    return areImagesFar(problem, model) && problem.filterWidth <= kFewTaps &&
           bytes > shortBytes && bytes <= kFollowedBytes;
  }
  /// Whether rows in place and their results, which come from beyond the second
  /// level, are asked for ahead.
  ///
  /// With few registers single pixels with all channels are a stream, which
  /// the processor follows where it is given time to: requests are worth it
  /// beside many products. With many the processor follows pixels side by side
  /// where they are long, and many taps leave it the time. Measured on a
  /// Sapphire Rapids in turns with other images and after rests: requests save
  /// 5 to 45 % where it does not, and cost 5 to 20 % where it does. If one
  /// image is repeated they cost up to 10 %. With a stride they save 3 to 25 %
  /// of images of 1.6 times the second level and more, and cost 5 to 10 % of
  /// those of 1.0 to 1.5 times.
  static bool needsPrefetch(const Problem &problem, const CPUModel &model,
                            MicroTile micro, int64_t channels) {
    constexpr int64_t productsOfLine = 8, lineBytes = 64, manyTaps = 7;
    constexpr double farWithStride = 1.5;
    if (!areImagesFar(problem, model))
      return false;
    if (!model.hasFewRegisters())
      return problem.filterWidth < manyTaps &&
             channels * model.elementBytes <= kFollowedBytes &&
             (problem.strideWidth == 1 ||
              imagesBytes(problem, model) >
                  farWithStride * static_cast<double>(model.l2));
    PixelTile pixelTile = orient(problem, micro);
    int64_t taps = problem.filterHeight * problem.filterWidth;
    int64_t products = taps * ceilDiv(pixelTile.channels, model.lanes);
    int64_t lines = ceilDiv(pixelTile.channels * model.elementBytes, lineBytes);
    int64_t newRows =
        std::min(problem.strideHeight,
                 (problem.filterHeight - 1) * problem.dilationHeight + 1);
    return pixelTile.width > 1 ||
           products >=
               productsOfLine * lines * (newRows * problem.strideWidth + 1);
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
    if (isFar(problem, model))
      image += farCycles(problem, model, tile);
    double tiles =
        gridTiles(problem, problem.groups, tile[0], tile[1], tile[2]);
    return model.spread(tiles, multiply + weights + image);
  }
  /// What loads wait for where the image is read in place. Its rows are read
  /// once for each row of taps, and stay in the first level where those that a
  /// row of pixels sees have room there. Fewer channels at a time make room,
  /// but are apart in memory: what the second level does not hold then comes
  /// line by line, and not as a stream; what it could hold need not be there
  /// either. Where an image that is larger than that level, or has a stride
  /// and does not stay there, comes in more slowly than it is multiplied,
  /// nothing waits for the first one; but each part of a row begins another
  /// stream.
  static double inPlaceCycles(const Problem &problem, const CPUModel &model,
                              MicroTile micro, const std::vector<int64_t> &tile,
                              double multiply) {
    constexpr double loadCycles = 1, tileCycles = 100;
    constexpr double lineCycles = 3, heldLineCycles = 2.5;
    constexpr double beyondCycles = 6, streamCycles = 40;
    constexpr double lineBytes = 64;
    // What a far image waits for is that of its staged patch.
    if (isFar(problem, model))
      return tileCycles;
    int64_t pixels = orient(problem, micro).width;
    double bytes = static_cast<double>(tile[2] * model.elementBytes);
    double loads = 0;
    if (patchArea(problem, 1, tile[1]) * bytes >
        static_cast<double>(model.l1) * 2 / 3)
      loads = loadCycles * static_cast<double>(tile[0] * tile[2]) /
              static_cast<double>(model.lanes) *
              static_cast<double>(ceilDiv(tile[1], pixels)) *
              patchArea(problem, 1, pixels);
    double image = imageBytes(problem, model);
    double lines = (static_cast<double>(tile[0] * tile[1]) +
                    patchArea(problem, tile[0], tile[1])) *
                   bytes / lineBytes;
    double cycles = tileCycles;
    if (image > static_cast<double>(model.l2) ||
        (problem.strideWidth > 1 && areImagesFar(problem, model))) {
      int64_t rows = patchExtent(tile[0], problem.strideHeight,
                                 problem.filterHeight, problem.dilationHeight);
      cycles += streamCycles * static_cast<double>(rows);
      loads -= std::max(0.0, beyondCycles * lines - multiply);
    }
    cycles += std::max(0.0, loads);
    if (tile[2] < assumed(problem.groups, 64))
      cycles += (image > static_cast<double>(model.l2) / 2 ? lineCycles
                                                           : heldLineCycles) *
                lines;
    return cycles;
  }
  /// What a tile waits for the lines of a far image and of its result. Of a
  /// part of the channels each pixel begins anew, and shares lines with others.
  static double farCycles(const Problem &problem, const CPUModel &model,
                          const std::vector<int64_t> &tile) {
    constexpr double lineCycles = 20, lineBytes = 64;
    double bytes = static_cast<double>(tile[2] * model.elementBytes);
    bool hasAll = tile[2] >= assumed(problem.groups, 64);
    double lines = std::max(1.0, bytes / lineBytes) + (hasAll ? 0 : 1);
    return lineCycles * lines *
           (static_cast<double>(tile[0] * tile[1]) +
            patchArea(problem, tile[0], tile[1]));
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
  Plan plan = emptyPlan();
  // Each pixel is read a few times only: the patch is small beside what streams
  // through the second level.
  const double mostPatch = static_cast<double>(model.l2) / 8;
  double best = -1;
  auto tryTiles = [&](MicroTile micro, int64_t staged,
                      const std::vector<int64_t> &widths,
                      const std::vector<int64_t> &channelCounts) {
    for (int64_t channels : channelCounts)
      for (int64_t width : widths)
        for (int64_t height : extentsToTry(problem.outputHeight, 1, 8)) {
          if (stagedBytes(problem, model, height, width, channels, staged) >
              mostPatch)
            continue;
          std::vector<int64_t> tile = {height, width, channels};
          double cycles = estimate(problem, model, micro, tile, staged);
          if (best < 0 || cycles < best) {
            best = cycles;
            plan.registers() = {micro.rows, micro.columns};
            plan.tile = tile;
            auto &fields = plan.params.as<schedule::CPUConv>();
            fields.staged = staged;
            fields.prefetch =
                !staged && needsPrefetch(problem, model, micro, channels);
          }
        }
  };
  bool isStream = isStreamed(problem, model);
  if (isReadInPlace(problem, target) &&
      (isStream || holdsPixels(problem, model))) {
    int64_t groups = assumed(problem.groups, 64);
    MicroTile micro = isStream ? streamedTile(problem, model)
                               : MicroTile{2, roundUp(groups, model.lanes)};
    int64_t width = std::max<int64_t>(1, assumed(problem.outputWidth, 56));
    tryTiles(micro, kInPlace, {roundUp(width, micro.rows)},
             {roundUp(groups, micro.columns)});
    if (best >= 0)
      return plan;
  }
  MicroTile micro = microTile(problem, target);
  PixelTile pixels = orient(problem, micro);
  plan.registers() = {micro.rows, micro.columns};
  plan.tile = {1, pixels.width, pixels.channels};
  auto tryForm = [&](int64_t staged) {
    tryTiles(micro, staged,
             extentsToTry(problem.outputWidth, pixels.width, 4 * pixels.width),
             extentsToTry(problem.groups, pixels.channels, 64));
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

std::unique_ptr<Variant> tracea::doctor::makeDepthwiseConv() {
  return std::make_unique<DepthwiseConv>();
}
