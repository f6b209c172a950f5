//===- Registry.cpp - Variants by name, ranked for a problem --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Doctor/Registry.h"
#include "Variants.h"
#include "tracea/Schedule/Variants.h"

#include <algorithm>

namespace tracea::doctor {

std::string describe(const Plan &plan) {
  if (plan.tile.empty())
    return "no tiles";
  std::string text;
  for (int64_t extent : plan.tile)
    text += (text.empty() ? "tile = [" : ", ") + std::to_string(extent);
  std::string fields = plan.params.print();
  return text + (fields.empty() ? "]" : "], ") + fields;
}

Plan cheapestPlan(const Variant &variant, const Problem &problem,
                  const TargetDescription &target) {
  std::vector<Plan> all = variant.plans(problem, target);
  const Plan *best = nullptr;
  double least = 0;
  for (const Plan &plan : all) {
    double cost = variant.cycles(problem, target, plan);
    if ((best && cost >= least) ||
        !variant.check(problem, target, plan).empty())
      continue;
    best = &plan;
    least = cost;
  }
  return best ? *best : all.front();
}

Variant::~Variant() = default;

Plan Variant::emptyPlan(UnitKind unit) const {
  Plan plan;
  plan.unit = unit;
  // Variants that are in no table have no fields.
  plan.params =
      schedule::Params::ofVariant(name()).value_or(schedule::Params());
  return plan;
}

Reason Variant::check(const Problem &problem, const TargetDescription &target,
                      const Plan &plan) const {
  schedule::Params expected = emptyPlan().params;
  if (!expected.isSameFamily(plan.params))
    return "fields of family '" + std::string(expected.getFamily()) +
           "' are expected, found '" + std::string(plan.params.getFamily()) +
           "'";
  if (Reason reason = plan.params.check(); !reason.empty())
    return reason;
  return checkPlan(problem, target, plan);
}

std::string_view stringify(OpKind kind) {
  switch (kind) {
  case OpKind::Gemm:
    return "tracea.gemm";
  case OpKind::GroupedGemm:
    return "tracea.grouped_gemm";
  case OpKind::Conv2D:
    return "tracea.conv2d";
  case OpKind::Conv2DWGrad:
    return "tracea.conv2d_wgrad";
  case OpKind::Softmax:
    return "tracea.softmax";
  case OpKind::BatchNorm:
    return "tracea.batch_norm";
  case OpKind::LayerNorm:
    return "tracea.layer_norm";
  case OpKind::RMSNorm:
    return "tracea.rms_norm";
  case OpKind::Attention:
    return "tracea.attention";
  case OpKind::AttentionQGrad:
    return "tracea.attention_qgrad";
  case OpKind::AttentionKVGrad:
    return "tracea.attention_kvgrad";
  }
  return "unknown";
}

int64_t multiplyExtents(int64_t a, int64_t b) {
  // Zero wins over unknown: there is nothing to do either way.
  if (a == 0 || b == 0)
    return 0;
  int64_t product = 0;
  if (a == kUnknownExtent || b == kUnknownExtent ||
      __builtin_mul_overflow(a, b, &product))
    return kUnknownExtent;
  return product;
}

bool Registry::add(std::unique_ptr<Variant> variant) {
  if (find(variant->name()))
    return false;
  entries.push_back(std::move(variant));
  return true;
}

const Variant *Registry::find(std::string_view name) const {
  for (const std::unique_ptr<Variant> &variant : entries)
    if (variant->name() == name)
      return variant.get();
  return nullptr;
}

std::vector<const Variant *> Registry::variantsFor(OpKind op,
                                                   TargetKind kind) const {
  std::vector<const Variant *> found;
  for (const std::unique_ptr<Variant> &variant : entries)
    if (variant->serves(op) && variant->runsOn(kind))
      found.push_back(variant.get());
  return found;
}

/// What is built in, and what has been added to it.
static Registry &getAll() {
  static Registry registry = [] {
    Registry result;
    addCPUVariants(result);
    addGPUGemmVariants(result);
    addGPUWarpGemmVariants(result);
    addGPUSimtGemmVariants(result);
    addGPUGroupedVariants(result);
    addGPUConvVariants(result);
    addGPUGroupConvVariants(result);
    addGPULaneConvVariants(result);
    addGPUWGradVariants(result);
    addGPURowVariants(result);
    addGPUAttentionVariants(result);
    addGPUSimtAttentionVariants(result);
    addGPUAttentionGradVariants(result);
    addLoopVariants(result);
    return result;
  }();
  return registry;
}

const Registry &Registry::builtin() { return getAll(); }

bool Registry::extend(std::unique_ptr<Variant> variant,
                      const schedule::Params &fields) {
  return schedule::addVariant(variant->name(), fields) &&
         getAll().add(std::move(variant));
}

/// Accepted ones by cost with fallbacks behind, then the others; equals stay as
/// they are.
static bool isBetter(const Candidate &lhs, const Candidate &rhs) {
  if (lhs.accepted() != rhs.accepted())
    return lhs.accepted();
  if (lhs.variant->isFallback() != rhs.variant->isFallback())
    return rhs.variant->isFallback();
  return lhs.accepted() && lhs.cycles < rhs.cycles;
}

/// Insertion sort keeps equals in order; there are few.
static void sortByMerit(std::vector<Candidate> &candidates) {
  for (size_t i = 1; i < candidates.size(); ++i)
    for (size_t j = i; j > 0 && isBetter(candidates[j], candidates[j - 1]); --j)
      std::swap(candidates[j], candidates[j - 1]);
}

std::vector<Candidate> rank(const Registry &registry, const Problem &problem,
                            const TargetDescription &target) {
  std::vector<Candidate> candidates;
  for (const Variant *variant :
       registry.variantsFor(problem.kind, target.kind)) {
    Candidate candidate;
    candidate.variant = variant;
    candidate.refusal = variant->whyNot(problem, target);
    if (candidate.accepted())
      candidate.refusal = variant->whyNotUnasked(problem, target);
    if (candidate.accepted()) {
      candidate.plan = variant->plan(problem, target);
      candidate.cycles = variant->cycles(problem, target, candidate.plan);
      // A plan that its own check refuses means that nothing fits this target.
      candidate.refusal = variant->check(problem, target, candidate.plan);
    }
    candidates.push_back(std::move(candidate));
  }
  sortByMerit(candidates);
  return candidates;
}

std::vector<Candidate> rankPlans(const Registry &registry,
                                 const Problem &problem,
                                 const TargetDescription &target) {
  std::vector<Candidate> candidates;
  for (const Variant *variant :
       registry.variantsFor(problem.kind, target.kind)) {
    if (!variant->whyNot(problem, target).empty() ||
        !variant->whyNotUnasked(problem, target).empty())
      continue;
    for (Plan &plan : variant->plans(problem, target)) {
      if (!variant->check(problem, target, plan).empty())
        continue;
      Candidate candidate;
      candidate.variant = variant;
      candidate.cycles = variant->cycles(problem, target, plan);
      candidate.plan = std::move(plan);
      candidates.push_back(std::move(candidate));
    }
  }
  sortByMerit(candidates);
  return candidates;
}

/// Why a variant's plan has no use for another kernel, or no room.
static Reason whyNoOtherwise(const Variant &variant, const Plan &plan,
                             const Problem &problem,
                             const TargetDescription &target) {
  if (!variant.asksForRows())
    return "variant '" + std::string(variant.name()) +
           "' takes rows that begin anywhere";
  return variant.whyAlone(problem, target, plan);
}

const Candidate *findOtherwise(const std::vector<Candidate> &candidates,
                               const Candidate &chosen, const Problem &problem,
                               const TargetDescription &target) {
  if (!problem.hasOpenRows ||
      !whyNoOtherwise(*chosen.variant, chosen.plan, problem, target).empty())
    return nullptr;
  for (const Candidate &other : candidates)
    if (other.accepted() && !other.variant->isFallback() &&
        !other.variant->asksForRows())
      return &other;
  return nullptr;
}

Reason checkOtherwise(const Registry &registry, const Problem &problem,
                      const TargetDescription &target, std::string_view variant,
                      const Plan &plan, std::string_view otherVariant,
                      const Plan &otherPlan) {
  Reason reason =
      checkSchedule(registry, problem, target, otherVariant, otherPlan);
  if (reason.empty())
    reason = whyNoOtherwise(*registry.find(variant), plan, problem, target);
  const Variant *other = registry.find(otherVariant);
  if (reason.empty() && (other->asksForRows() || other->isFallback()))
    reason = "a kernel that takes rows that begin anywhere is expected, found "
             "variant '" +
             std::string(otherVariant) + "'";
  return reason.empty() ? "" : "otherwise: " + reason;
}

Reason checkSchedule(const Registry &registry, const Problem &problem,
                     const TargetDescription &target, std::string_view variant,
                     const Plan &plan) {
  const Variant *found = registry.find(variant);
  if (!found) {
    std::string known;
    for (const Variant *other : registry.variantsFor(problem.kind, target.kind))
      known += (known.empty() ? "'" : ", '") + std::string(other->name()) + "'";
    return "there is no variant '" + std::string(variant) + "'; " +
           std::string(stringify(problem.kind)) + " on target '" + target.name +
           "' has " + (known.empty() ? "none" : known);
  }
  std::string quoted = "variant '" + std::string(variant) + "' ";
  if (!found->serves(problem.kind))
    return quoted + "does not compute " + std::string(stringify(problem.kind));
  if (!found->runsOn(target.kind))
    return quoted + "does not run on targets of kind " +
           std::string(target::stringify(target.kind)) + ", as '" +
           target.name + "' is";
  // GPUs do not list their vector unit.
  if (plan.unit != UnitKind::Vector && !target.findUnit(plan.unit))
    return "target '" + target.name + "' has no unit '" +
           std::string(target::stringify(plan.unit)) + "'";
  if (Reason reason = found->whyNot(problem, target); !reason.empty())
    return quoted + "cannot be used: " + reason;
  if (Reason reason = found->check(problem, target, plan); !reason.empty())
    return quoted + "cannot use this plan: " + reason;
  return "";
}

} // namespace tracea::doctor
