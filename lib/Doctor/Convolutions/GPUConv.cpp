//===- GPUConv.cpp - Convolutions as products on GPUs ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution is a product of the pixels of its result by the filters of a
// group, summed over taps and channels: its tiles are those of one product, and
// so is what they cost. It differs in two things. A step has channels of one
// tap, so that each tap takes whole steps; and the image is in memory once, not
// once for each tap.

#include "../Numbers.h"
#include "../ProductVariant.h"
#include "../Variants.h"

using namespace tracea::doctor;

namespace {

class ImplicitGemm : public ProductVariant {
public:
  ImplicitGemm(std::string_view name, const Variant &product)
      : ProductVariant(name, product,
                       "multiplies pixels by filters, tap by tap, without a "
                       "matrix of the image's windows") {}

  bool serves(OpKind op) const override { return op == OpKind::Conv2D; }
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override;
  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

protected:
  Problem asProduct(Problem problem, int64_t depth) const override;
  std::string describe(const Problem &product) const override;
  bool hasRows(const Problem &problem, bool isFirst) const override {
    return isFirst ? problem.channelsLast : !problem.filterAlongTaps;
  }
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

/// Steps have `depth` channels of a tap.
Problem ImplicitGemm::asProduct(Problem problem, int64_t depth) const {
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

/// Measured on an H200, 44 plans: with a table tiles take 0 to 7 % less where
/// lanes divide by heights and widths that only the run knows, and 0 to 3 %
/// more where the program does, which multiplies.
std::vector<Plan> ImplicitGemm::plans(const Problem &problem,
                                      const TargetDescription &target) const {
  std::vector<Plan> found = ProductVariant::plans(problem, target);
  if (!problem.channelsLast || (problem.outputHeight != kUnknownExtent &&
                                problem.outputWidth != kUnknownExtent))
    return found;
  for (Plan &plan : found) {
    if (plan.unit == UnitKind::WGMMA)
      continue;
    auto &ring = plan.as<schedule::LaneRing>();
    ring.table = 1;
    // The ring comes first.
    if (!checkPlan(problem, target, plan).empty())
      ring.table = 0;
  }
  return found;
}

std::string ImplicitGemm::reasoning(const Problem &problem,
                                    const TargetDescription &target,
                                    const Plan &plan) const {
  std::string result = ProductVariant::reasoning(problem, target, plan);
  if (plan.unit != UnitKind::WGMMA && plan.as<schedule::LaneRing>().table)
    result += "; one lane divides for each pixel, by extents of the run";
  return result;
}

std::string ImplicitGemm::describe(const Problem &product) const {
  std::string groups =
      product.groups > 1 ? text(product.groups) + " products" : "a product";
  return groups + " of " + textOfExtent(product.m) + " pixels by " +
         textOfExtent(product.n) + " filters, summed over " +
         textOfExtent(product.k) + " taps and channels";
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
