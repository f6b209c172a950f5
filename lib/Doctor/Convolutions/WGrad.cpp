//===- WGrad.cpp - Filter gradients as products ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient by a filter is a product of output channels by input channels
// for each tap of each group, summed over all pixels: few tiles with long sums,
// which variants that split sums spread out. On CPUs it is one product for each
// group, by what pixels see of the image, which is written out before.

#include "../Numbers.h"
#include "../ProductVariant.h"
#include "../Variants.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

class PixelProduct : public ProductVariant {
public:
  PixelProduct(std::string_view name, const Variant &product)
      : ProductVariant(name, product,
                       "multiplies output channels by input channels, tap by "
                       "tap, and sums over pixels") {}

  bool serves(OpKind op) const override { return op == OpKind::Conv2DWGrad; }

protected:
  Problem asProduct(Problem problem, int64_t depth) const override;
  std::string describe(const Problem &product) const override;
  bool hasRows(const Problem &problem, bool) const override {
    return problem.channelsLast;
  }
};

/// The copies of a step are bulk copies, which walk through the pixels of
/// images by themselves. Channels are rows and columns of the product, not
/// summed over: those of the next group, which a tile has behind its own, are
/// left out of the result.
class BulkPixelProduct final : public PixelProduct {
public:
  using PixelProduct::PixelProduct;

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
};

/// A matrix of windows on CPUs.
class WindowProduct final : public Variant {
public:
  explicit WindowProduct(const Variant &product) : product(product) {}

  std::string_view name() const override { return "wgrad.windows"; }
  std::string_view summary() const override {
    return "writes out what each pixel sees of the image and multiplies "
           "matrices, whose operands it packs block by block";
  }
  bool serves(OpKind op) const override { return op == OpKind::Conv2DWGrad; }
  bool runsOn(TargetKind kind) const override { return product.runsOn(kind); }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    auto isUnknown = [](int64_t extent) { return extent == kUnknownExtent; };
    if (isUnknown(problem.filterHeight) || isUnknown(problem.filterWidth))
      return "expected a filter whose height and width are known";
    if (problem.groups > 1 &&
        (isUnknown(problem.groupChannels) || isUnknown(problem.groupFilters)))
      return "expected groups whose channels and filters are known";
    return product.whyNot(asProduct(problem), target);
  }
  Reason whyNotUnasked(const Problem &problem,
                       const TargetDescription &target) const override {
    // Rows of a register tile would be nearly empty.
    constexpr int64_t fewFilters = 4;
    if (problem.groups > 1 && problem.groupFilters < fewFilters)
      return "groups of " + text(problem.groupFilters) +
             " filters fill no register tile";
    return product.whyNotUnasked(asProduct(problem), target);
  }
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    return product.plan(asProduct(problem), target);
  }
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override {
    return product.check(asProduct(problem), target, plan);
  }
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override {
    // An element of the matrix is written and read again.
    constexpr double copyCycles = 2;
    Problem whole = asProduct(problem);
    return product.cycles(whole, target, plan) +
           copyCycles * static_cast<double>(assumed(whole.batch)) *
               static_cast<double>(assumed(whole.k)) *
               static_cast<double>(assumed(whole.n)) /
               std::max(target.cores, 1);
  }

private:
  static Problem asProduct(Problem problem) {
    problem.kind = OpKind::Gemm;
    problem.batch = problem.groups;
    problem.m = problem.groupFilters;
    problem.n = multiplyExtents(
        problem.groupChannels,
        multiplyExtents(problem.filterHeight, problem.filterWidth));
    problem.k =
        multiplyExtents(problem.images, multiplyExtents(problem.outputHeight,
                                                        problem.outputWidth));
    // The product stays as it is summed.
    problem.result = problem.accumulator;
    problem.transposeFirst = true;
    problem.transposeSecond = false;
    return problem;
  }

  const Variant &product;
};

} // namespace

/// The products, one for each tap of each group.
Problem PixelProduct::asProduct(Problem problem, int64_t) const {
  problem.batch =
      multiplyExtents(problem.groups, multiplyExtents(problem.filterHeight,
                                                      problem.filterWidth));
  problem.m = problem.groupFilters;
  problem.n = problem.groupChannels;
  problem.k =
      multiplyExtents(problem.images, multiplyExtents(problem.outputHeight,
                                                      problem.outputWidth));
  problem.transposeFirst = problem.channelsLast;
  problem.transposeSecond = !problem.channelsLast;
  return problem;
}

Reason BulkPixelProduct::whyNot(const Problem &problem,
                                const TargetDescription &target) const {
  if (Reason reason = PixelProduct::whyNot(problem, target); !reason.empty())
    return reason;
  if (!problem.channelsLast)
    return "bulk copies read images with rows of channels";
  if (problem.groupChannels == kUnknownExtent ||
      problem.groupFilters == kUnknownExtent)
    return "bulk copies read a known number of channels";
  auto isPadded = [&](int64_t channels) {
    return !hasAlignedRows(channels, problem.operand);
  };
  if (problem.groups > 1 &&
      (isPadded(problem.groupChannels) || isPadded(problem.groupFilters)))
    return "bulk copies read groups whose channels are whole pieces of 16 "
           "bytes";
  return whyNotWalked(problem);
}

std::string PixelProduct::describe(const Problem &product) const {
  return textOfExtent(product.batch) + " products of " +
         textOfExtent(product.m) + " filters by " + textOfExtent(product.n) +
         " channels, summed over " + textOfExtent(product.k) + " pixels";
}

void tracea::doctor::addGPUWGradVariants(Registry &registry) {
  constexpr std::string_view variants[][2] = {
      {"wgrad.warp", "gemm.warp"},
      {"wgrad.tf32x3", "gemm.tf32x3"},
      {"wgrad.simt", "gemm.simt"},
  };
  if (const Variant *found = registry.find("gemm.warpgroup"))
    registry.add(std::make_unique<BulkPixelProduct>("wgrad.warpgroup", *found));
  for (auto [name, product] : variants)
    if (const Variant *found = registry.find(product))
      registry.add(std::make_unique<PixelProduct>(name, *found));
}

void tracea::doctor::addCPUWGradVariants(Registry &registry) {
  if (const Variant *found = registry.find("gemm.packed"))
    registry.add(std::make_unique<WindowProduct>(*found));
}
