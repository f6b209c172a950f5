//===- CPUPatchConv.h - Convolutions of staged patches on CPUs --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patch of the image that a tile of output pixels reads is staged, borders
// included, so that the multiplies need no masks. Where no tap leaves the image
// it may be read where it lies. Tiles are chosen by trying the sensible ones
// against the cost model.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_LIB_DOCTOR_CONVOLUTIONS_CPUPATCHCONV_H
#define TRACEA_LIB_DOCTOR_CONVOLUTIONS_CPUPATCHCONV_H

#include "../CPU/CPUUnits.h"
#include "../Numbers.h"
#include "CPUConvTiles.h"

#include <algorithm>

namespace tracea::doctor {

/// The variant "conv2d.patch", and what those share that multiply words of
/// channels.
class PatchConv : public CPUUnitVariant {
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
    CPUModel model = modelOf(UnitKind::Vector, problem, target);
    PixelTile micro = orient(problem, microTile(problem, model));
    int64_t least =
        stagedBytes(problem, model, 1, micro.width, micro.channels, 1);
    if (least > kMaxStagedBytes)
      return "the smallest patch and filter panel take " +
             std::to_string(static_cast<int64_t>(least)) +
             " bytes, more than " + std::to_string(kMaxStagedBytes);
    return "";
  }
  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override {
    int64_t length = wordLength(problem, target);
    Problem words = asMultiplied(plan.unit, problem, target);
    words.groupChannels = assumed(words.groupChannels, ceilDiv(64, length));
    CPUModel model = modelOf(plan.unit, problem, target);
    model.cutsRows = cutsPixels(problem, length);
    return estimate(words, model, {plan.registers()[0], plan.registers()[1]},
                    inWords(plan.tile, length),
                    plan.params.as<schedule::CPUConv>().staged,
                    joinsTaps(problem, length));
  }

protected:
  CPUModel modelOf(UnitKind, const Problem &problem,
                   const TargetDescription &target) const override {
    CPUModel model(target, problem.accumulator);
    // Panels that lie ready are asked for ahead of their use.
    constexpr double asked = 40;
    if (hasPanels(inWords(problem, 1)))
      model.streamBytes = asked;
    model.areColumnsShifted = !problem.channelsLast && problem.filterWidth > 1;
    return model;
  }
  /// Whether panels of a constant filter are multiplied as they are.
  virtual bool packsFilter(UnitKind, const Problem &,
                           const TargetDescription &) const {
    return true;
  }
  Plan planOn(UnitKind unit, const Problem &problem,
              const TargetDescription &target) const override;

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
  /// In words, with a constant filter where its panels are read as they lie.
  Problem asMultiplied(UnitKind unit, const Problem &given,
                       const TargetDescription &target) const {
    Problem problem = inWords(given, wordLength(given, target));
    problem.isFilterConstant &= packsFilter(unit, given, target);
    return problem;
  }
  static std::vector<int64_t> inWords(std::vector<int64_t> tile,
                                      int64_t length) {
    if (tile.size() == 4)
      tile[3] = ceilDiv(tile[3], length);
    return tile;
  }
  /// Whether the last register tile of a row multiplies as many pixels as are
  /// left.
  static bool cutsPixels(const Problem &problem, int64_t length) {
    return problem.channelsLast && length == 1;
  }
  static MicroTile microTile(const Problem &problem, const CPUModel &model) {
    return chooseOriented(problem, model, problem.groupFilters,
                          hasPanels(problem));
  }
  /// Whether panels of the filter are made once for many runs, of a problem in
  /// words.
  static bool hasPanels(const Problem &problem) {
    return problem.isFilterConstant && problem.groups == 1;
  }
  /// Channels of a block worth trying: equal shares of at most `most`, and
  /// halves of these down to `block`.
  static std::vector<int64_t> channelBlocks(const Problem &problem,
                                            const CPUModel &model,
                                            int64_t block, int64_t most);
  static double stagedBytes(const Problem &problem, const CPUModel &model,
                            int64_t height, int64_t width, int64_t filters,
                            int64_t channels, int64_t staged = kStaged) {
    int64_t taps = problem.filterHeight * problem.filterWidth;
    double patch = staged ? patchArea(problem, height, width) : 0;
    return (patch + static_cast<double>(taps) * static_cast<double>(filters)) *
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
  static double estimate(const Problem &problem, CPUModel model,
                         MicroTile micro, const std::vector<int64_t> &tile,
                         int64_t staged, bool joined);
  /// What the loads of a tile wait for where filters are not staged, and where
  /// the image is not.
  static double panelCycles(const Problem &problem, const CPUModel &model,
                            const std::vector<int64_t> &tile);
  /// Of register tiles of `columns` filters.
  static double inPlaceCycles(const Problem &problem, const CPUModel &model,
                              const std::vector<int64_t> &tile,
                              int64_t columns);
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
    CPUModel model = modelOf(unit, problem, target);
    return model.hasTiles() && problem.groups == 1 &&
           !joinsTaps(problem, length) &&
           problem.groupChannels % (length * model.tile.words) == 0 &&
           problem.outputWidth % pixels == 0;
  }
};

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_CONVOLUTIONS_CPUPATCHCONV_H
