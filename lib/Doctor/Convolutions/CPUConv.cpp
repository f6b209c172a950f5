//===- CPUConv.cpp - Convolutions on CPUs ---------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../CPU/CPUDots.h"
#include "CPUPatchConv.h"

using namespace tracea::doctor;

namespace {

/// `conv2d.patch` by words of a dot product. Channels are neighbours in the
/// image, which is what a word takes, where they are last.
class DotConv final : public ByDots<PatchConv> {
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
    int64_t length = kMaxTileExtent;
    for (UnitKind unit : dotUnits(problem, target))
      length = std::min(length, dotStepLength(problem, target, unit));
    if (problem.groups != 1 && (problem.groupChannels == kUnknownExtent ||
                                problem.groupChannels % length != 0))
      return "the channels of a group are not known to fill words of " +
             std::to_string(length);
    return PatchConv::whyNot(problem, target);
  }

protected:
  Reason checkSteps(const Plan &plan, int64_t length) const override {
    return checkWords(plan, 3, "channels", length);
  }
  bool packsFilter(UnitKind unit, const Problem &problem,
                   const TargetDescription &target) const override {
    return packsConstants(problem, target, unit);
  }
  bool multipliesOn(UnitKind unit, const Problem &problem,
                    const TargetDescription &target) const override {
    // What is beyond a group is another one's, and no zero.
    return ByDots::multipliesOn(unit, problem, target) &&
           (problem.groups == 1 ||
            problem.groupChannels % dotStepLength(problem, target, unit) == 0);
  }
};

} // namespace

void tracea::doctor::addCPUConvVariants(Registry &registry) {
  registry.add(std::make_unique<PatchConv>());
  registry.add(makeDepthwiseConv());
  registry.add(std::make_unique<DotConv>());
}
