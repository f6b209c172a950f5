//===- ProductVariant.cpp - Operations that are products ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductVariant.h"
#include "GPULaneModel.h"
#include "Numbers.h"
#include "Variants.h"

namespace tracea::doctor {

std::string textOfExtent(int64_t extent) {
  return extent == kUnknownExtent ? std::string("?") : text(extent);
}

Reason ProductVariant::whyNot(const Problem &problem,
                              const TargetDescription &target) const {
  auto isUnknown = [](int64_t extent) { return extent == kUnknownExtent; };
  if (isUnknown(problem.filterHeight) || isUnknown(problem.filterWidth))
    return "expected a filter whose height and width are known";
  if (problem.groups > 1 &&
      (isUnknown(problem.groupChannels) || isUnknown(problem.groupFilters)))
    return "expected groups whose channels and filters are known";
  if (problem.reductions)
    return "it reduces nothing beside its result";
  return product.whyNot(asProduct(problem, 1), target);
}

Reason ProductVariant::whyNotUnasked(const Problem &problem,
                                     const TargetDescription &target) const {
  // Tiles of so few filters and channels are nearly all padding: loops, whose
  // lanes are neighbouring channels, do a fraction of the work.
  constexpr int64_t fewProducts = 4;
  if (problem.groups > 1 &&
      problem.groupFilters * problem.groupChannels <= fewProducts)
    return "groups of " + text(problem.groupFilters) + " filters and " +
           text(problem.groupChannels) + " channels fill no tile";
  return product.whyNotUnasked(asProduct(problem, 1), target);
}

Plan ProductVariant::plan(const Problem &problem,
                          const TargetDescription &target) const {
  return cheapestPlan(*this, problem, target);
}

double ProductVariant::gathers(const Problem &problem,
                               const TargetDescription &target,
                               const Plan &plan) const {
  if (plan.unit == UnitKind::WGMMA)
    return 0;
  // Of one multiprocessor, for an element: measured on an H200. Copies that run
  // beside lanes have four bytes at least.
  constexpr double narrow = 0.25, wide = 0.125;
  Problem whole = asProduct(problem, plan.tile[2]);
  auto isApart = [&](bool isFirst) {
    return !hasRows(problem, isFirst) ||
           !hasAlignedRows(rowOf(whole, isFirst), whole.operand);
  };
  auto elements = static_cast<double>((isApart(true) ? plan.tile[0] : 0) +
                                      (isApart(false) ? plan.tile[1] : 0));
  double depth = static_cast<double>(stepsOf(whole, plan) * plan.tile[2]);
  return wavesOf(tilesOf(whole, plan), std::max(target.cores, 1)) * depth *
         elements * (bytesOf(whole.operand) < 4 ? narrow : wide);
}

double ProductVariant::cycles(const Problem &problem,
                              const TargetDescription &target,
                              const Plan &plan) const {
  return product.cycles(asProduct(problem, plan.tile[2]), target, plan) +
         gathers(problem, target, plan);
}

std::string ProductVariant::reasoning(const Problem &problem,
                                      const TargetDescription &target,
                                      const Plan &plan) const {
  Problem whole = asProduct(problem, plan.tile[2]);
  std::string result =
      "it is " + describe(whole) + " in steps of " + text(plan.tile[2]);
  if (std::string more = product.reasoning(whole, target, plan); !more.empty())
    result += "; " + more;
  return result;
}

} // namespace tracea::doctor
