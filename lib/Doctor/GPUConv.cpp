//===- GPUConv.cpp - Convolutions as products on GPUs ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution is a product of the pixels of its result by the filters of a
// group, summed over taps and channels: its tiles are those of one product, and
// so is what they cost. It differs in two things. A step has channels of one
// tap, so that each tap takes whole steps; and the image is in memory once, not
// once for each tap.

#include "GPULaneModel.h"
#include "Numbers.h"
#include "Variants.h"

using namespace tracea::doctor;

namespace {

class ImplicitGemm : public Variant {
public:
  /// `product` is the variant for one product in the same way.
  ImplicitGemm(std::string_view name, const Variant &product)
      : ownName(name), product(product),
        ownSummary("multiplies pixels by filters, tap by tap, without a matrix "
                   "of the image's windows: it " +
                   std::string(product.summary())) {}

  std::string_view name() const override { return ownName; }
  std::string_view summary() const override { return ownSummary; }
  bool serves(OpKind op) const override { return op == OpKind::Conv2D; }
  bool runsOn(TargetKind kind) const override { return product.runsOn(kind); }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
  Reason whyNotUnasked(const Problem &problem,
                       const TargetDescription &target) const override;
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override;
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override {
    return product.plans(asProduct(problem), target);
  }
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override {
    return product.check(asProduct(problem), target, plan);
  }
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override {
    Problem whole = asProduct(problem, plan.tile[2]);
    return product.cycles(whole, target, plan) + gathers(whole, target, plan);
  }
  Reason whyAlone(const Problem &problem, const TargetDescription &target,
                  const Plan &plan) const override {
    return product.whyAlone(asProduct(problem, plan.tile[2]), target, plan);
  }
  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

protected:
  /// The product that it is, whose steps have `depth` channels of a tap.
  static Problem asProduct(Problem problem, int64_t depth = 1);

private:
  /// What lanes take longer who copy elements one by one: copies in bulk are
  /// of rows.
  static double gathers(const Problem &product, const TargetDescription &target,
                        const Plan &plan);

  std::string ownName;
  const Variant &product;
  std::string ownSummary;
};

/// The copies of a step are bulk copies, which walk through the pixels of
/// images by themselves.
class BulkImplicitGemm final : public ImplicitGemm {
public:
  using ImplicitGemm::ImplicitGemm;

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
};

} // namespace

Problem ImplicitGemm::asProduct(Problem problem, int64_t depth) {
  problem.batch = problem.groups;
  problem.m =
      multiplyExtents(problem.images, multiplyExtents(problem.outputHeight,
                                                      problem.outputWidth));
  problem.n = problem.groupFilters;
  int64_t channels = problem.groupChannels;
  if (channels != kUnknownExtent)
    channels = ceilDiv(channels, depth) * depth;
  problem.k = multiplyExtents(
      channels, multiplyExtents(problem.filterHeight, problem.filterWidth));
  problem.transposeFirst = !problem.channelsLast;
  problem.transposeSecond = problem.filterAlongChannels;
  return problem;
}

double ImplicitGemm::gathers(const Problem &product,
                             const TargetDescription &target,
                             const Plan &plan) {
  if (plan.unit == UnitKind::WGMMA)
    return 0;
  // Of one multiprocessor, for an element: measured on an H200. Copies that run
  // beside lanes have four bytes at least.
  constexpr double narrow = 0.25, wide = 0.125;
  auto isApart = [&](bool isFirst, bool hasRows) {
    return !hasRows ||
           !hasAlignedRows(rowOf(product, isFirst), product.operand);
  };
  auto elements = static_cast<double>(
      (isApart(true, product.channelsLast) ? plan.tile[0] : 0) +
      (isApart(false, !product.filterAlongTaps) ? plan.tile[1] : 0));
  double depth =
      static_cast<double>(roundUp(extentOf(product.k), plan.tile[2]));
  return wavesOf(tilesOf(product, plan), std::max(target.cores, 1)) * depth *
         elements * (bytesOf(product.operand) < 4 ? narrow : wide);
}

Reason ImplicitGemm::whyNotUnasked(const Problem &problem,
                                   const TargetDescription &target) const {
  // Tiles of so few filters and channels are nearly all padding: loops, whose
  // lanes are neighbouring channels, do a fraction of the work.
  constexpr int64_t fewProducts = 4;
  if (problem.groups > 1 &&
      problem.groupFilters * problem.groupChannels <= fewProducts)
    return "groups of " + text(problem.groupFilters) + " filters and " +
           text(problem.groupChannels) + " channels fill no tile";
  return product.whyNotUnasked(asProduct(problem), target);
}

Reason ImplicitGemm::whyNot(const Problem &problem,
                            const TargetDescription &target) const {
  auto isUnknown = [](int64_t extent) { return extent == kUnknownExtent; };
  if (isUnknown(problem.filterHeight) || isUnknown(problem.filterWidth))
    return "expected a filter whose height and width are known";
  if (problem.groups > 1 &&
      (isUnknown(problem.groupChannels) || isUnknown(problem.groupFilters)))
    return "expected groups whose channels and filters are known";
  if (problem.reductions)
    return "it reduces nothing beside its result";
  return product.whyNot(asProduct(problem), target);
}

/// Whether a bulk copy can walk along a dimension of an image.
static Reason whyNotWalked(const std::string &dim, int64_t image,
                           int64_t output, int64_t taps, int64_t stride,
                           int64_t dilation, int64_t pad) {
  constexpr int64_t mostStep = 8, mostCorner = 127, mostOffset = 255;
  if (image == kUnknownExtent || output == kUnknownExtent)
    return "bulk copies walk through images of known " + dim;
  if (stride > mostStep)
    return "bulk copies have steps of at most " + text(mostStep) + ", found " +
           text(stride);
  int64_t last = (output - 1) * stride - pad - (image - 1);
  if (pad > mostCorner || last > mostCorner || last < -mostCorner)
    return "bulk copies end at most " + text(mostCorner) +
           " pixels from the border of an image";
  if (taps > 0 && (taps - 1) * dilation > mostOffset)
    return "bulk copies reach taps at most " + text(mostOffset) +
           " pixels away, found " + text((taps - 1) * dilation);
  return "";
}

Reason tracea::doctor::whyNotWalked(const Problem &problem) {
  if (Reason reason =
          ::whyNotWalked("height", problem.imageHeight, problem.outputHeight,
                         problem.filterHeight, problem.strideHeight,
                         problem.dilationHeight, problem.padTop);
      !reason.empty())
    return reason;
  return ::whyNotWalked("width", problem.imageWidth, problem.outputWidth,
                        problem.filterWidth, problem.strideWidth,
                        problem.dilationWidth, problem.padLeft);
}

Reason BulkImplicitGemm::whyNot(const Problem &problem,
                                const TargetDescription &target) const {
  if (Reason reason = ImplicitGemm::whyNot(problem, target); !reason.empty())
    return reason;
  if (!problem.channelsLast || problem.filterAlongTaps)
    return "bulk copies read images and filters with rows of channels, or "
           "filters with rows of filters";
  if (problem.groups != 1)
    return "bulk copies do not walk through groups";
  if (problem.groupChannels == kUnknownExtent)
    return "bulk copies read a known number of channels";
  return tracea::doctor::whyNotWalked(problem);
}

Plan ImplicitGemm::plan(const Problem &problem,
                        const TargetDescription &target) const {
  return cheapestPlan(*this, problem, target);
}

std::string ImplicitGemm::reasoning(const Problem &problem,
                                    const TargetDescription &target,
                                    const Plan &plan) const {
  Problem whole = asProduct(problem, plan.tile[2]);
  auto extent = [](int64_t value) {
    return value == kUnknownExtent ? std::string("?") : text(value);
  };
  std::string groups =
      problem.groups > 1 ? text(problem.groups) + " products" : "a product";
  std::string result = "it is " + groups + " of " + extent(whole.m) +
                       " pixels by " + extent(whole.n) +
                       " filters, summed over " + extent(whole.k) +
                       " taps and channels in steps of " + text(plan.tile[2]);
  if (std::string more = product.reasoning(whole, target, plan); !more.empty())
    result += "; " + more;
  return result;
}

void tracea::doctor::addGPUConvVariants(Registry &registry) {
  constexpr std::string_view variants[][2] = {
      {"conv2d.warp", "gemm.warp"},
      {"conv2d.tf32x3", "gemm.tf32x3"},
      {"conv2d.simt", "gemm.simt"},
  };
  if (const Variant *found = registry.find("gemm.warpgroup"))
    registry.add(
        std::make_unique<BulkImplicitGemm>("conv2d.warpgroup", *found));
  for (auto [name, product] : variants)
    if (const Variant *found = registry.find(product))
      registry.add(std::make_unique<ImplicitGemm>(name, *found));
}
