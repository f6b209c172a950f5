//===- Versions.cpp - Several plans where only the run knows a size -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many rows a product has, or images a convolution, decides how large its
// tiles should be: a few large ones leave most of a GPU idle, and many small
// ones read their operands over and over. Where only the run knows the extent,
// the cost model is asked for a range of them. What is large goes by the plan
// for a usual large extent. The plans that the model takes for the smaller ones
// compete for all of them, and the range is cut into as few parts as come near
// to the best of each.

#include "Numbers.h"
#include "tracea/Doctor/Registry.h"

#include <cmath>
#include <limits>

namespace tracea::doctor {

/// Extents that the cost model is asked for: 10^(1/5) apart, and no powers of
/// two, which tiles divide more often than what a run brings.
static constexpr int64_t kSamples[] = {
    1,     2,     3,     4,     6,     10,     16,     25,    40,   63,
    100,   160,   250,   400,   630,   1000,   1600,   2500,  4000, 6300,
    10000, 16000, 25000, 40000, 63000, 100000, 160000, 250000};
/// Rows of a product are so many at the most.
static constexpr int64_t kMostRows = 25000;
/// Images and matrices of a batch are fewer than rows; so many are many.
static constexpr int64_t kMostOfBatch = 250, kManyOfBatch = 40;
/// Images may be rows of patches: so many pixels are asked for at the least,
/// and so many are many.
static constexpr int64_t kMostPixels = 25000, kManyPixels = 4000;
/// Where images are of any size, this is a usual side, many pixels are those of
/// a batch of such images, and there are so many at the least and at the most.
static constexpr int64_t kUsualSide = 56, kPixelsOfBatch = 32 * 56 * 56;
static constexpr int64_t kLeastOfAnySize = 40, kMostOfAnySize = 250000;
/// Matrices of attention are heads, of which there are several in each.
static constexpr int64_t kHeads = 16;
/// Kernels that a launch chooses from, and what another one must gain on
/// average: it is compiled, loaded and looked at.
static constexpr size_t kMostVersions = 3;
static constexpr double kLeastGain = 1.04;

namespace {
/// What only the run knows, and no row in memory depends on: an extent, or the
/// product of those of a convolution's pixels.
struct OpenExtent {
  /// Has a problem be one in which it is so large; null where there is none.
  void (*set)(Problem &problem, int64_t extent) = nullptr;
  /// The greatest that is asked for, and a usual large one; unknown where
  /// estimates assume it anyway.
  int64_t most = 0, many = kUnknownExtent;
  /// The least.
  int64_t least = 1;
};

/// A plan that is the best for some extent, and the sums of the logarithms of
/// its cycles for the samples before each.
struct Contender {
  Candidate candidate;
  std::vector<double> logs;
};

/// The samples [begin, end) by one contender.
struct Part {
  size_t begin = 0, end = 0;
  size_t contender = 0;
};
} // namespace

static bool isOpen(int64_t extent) { return extent == kUnknownExtent; }

template <int64_t Problem::*member>
static void setMember(Problem &problem, int64_t extent) {
  problem.*member = extent;
}

/// Has what is open of the result's images, rows and columns be about so many
/// pixels: of images that are no larger than usual where there may be many.
static void setPixels(Problem &problem, int64_t pixels) {
  bool isTall = isOpen(problem.outputHeight),
       isWide = isOpen(problem.outputWidth);
  auto side =
      isTall && isWide ? static_cast<int64_t>(std::sqrt(pixels)) : pixels;
  if (isOpen(problem.images))
    side = std::min(side, kUsualSide);
  if (isTall)
    problem.outputHeight = side;
  if (isWide)
    problem.outputWidth = side;
  if (isOpen(problem.images))
    problem.images = pixels / (isTall && isWide ? side * side : side);
}

/// The open pixels of a convolution, for each of those that are known.
static OpenExtent findOpenPixels(const Problem &problem) {
  int64_t known = 1;
  for (int64_t extent :
       {problem.images, problem.outputHeight, problem.outputWidth})
    known = multiplyExtents(known,
                            isOpen(extent) ? 1 : std::max<int64_t>(extent, 1));
  auto share = [&](int64_t pixels) {
    return std::max<int64_t>(pixels / known, 1);
  };
  return {setPixels, share(kMostOfAnySize), share(kPixelsOfBatch),
          share(kLeastOfAnySize)};
}

static OpenExtent findOpenExtent(const Problem &problem) {
  switch (problem.kind) {
  case OpKind::Conv2D:
  case OpKind::Conv2DWGrad:
    if (problem.kind == OpKind::Conv2D &&
        (isOpen(problem.outputHeight) || isOpen(problem.outputWidth)))
      return findOpenPixels(problem);
    if (isOpen(problem.images)) {
      int64_t pixels =
          multiplyExtents(problem.outputHeight, problem.outputWidth);
      if (isOpen(pixels) || pixels == 0)
        pixels = kManyPixels;
      return {setMember<&Problem::images>,
              std::max(kMostOfBatch, ceilDiv(kMostPixels, pixels)),
              std::max(kManyOfBatch, ceilDiv(kManyPixels, pixels))};
    }
    return {};
  case OpKind::Gemm:
    if (isOpen(problem.m))
      return {setMember<&Problem::m>, kMostRows, kUnknownExtent};
    if (isOpen(problem.batch))
      return {setMember<&Problem::batch>, kMostOfBatch, kManyOfBatch};
    return {};
  case OpKind::Attention:
  case OpKind::AttentionQGrad:
  case OpKind::AttentionKVGrad:
    if (isOpen(problem.batch))
      return {setMember<&Problem::batch>, kHeads * kMostOfBatch,
              kHeads * kManyOfBatch};
    return {};
  default:
    return {};
  }
}

/// Elements of the result, where the open extent is known.
static double countElements(const Problem &problem) {
  auto extent = [](int64_t value) {
    return static_cast<double>(extentOf(value));
  };
  switch (problem.kind) {
  case OpKind::Conv2D:
    return extent(problem.images) * extent(problem.outputHeight) *
           extent(problem.outputWidth) * extent(problem.groups) *
           extent(problem.groupFilters);
  case OpKind::Conv2DWGrad:
    return extent(problem.groups) * extent(problem.groupFilters) *
           extent(problem.groupChannels) * extent(problem.filterHeight) *
           extent(problem.filterWidth);
  case OpKind::Attention:
    return extent(problem.batch) * extent(problem.m) * extent(problem.valueDim);
  case OpKind::AttentionQGrad:
    return extent(problem.batch) * extent(problem.m) * extent(problem.k);
  case OpKind::AttentionKVGrad:
    return extent(problem.batch) * extent(problem.n) * extent(problem.k) /
           extent(assumed(problem.sharedHeads, 1));
  default:
    return extent(problem.batch) * extent(problem.m) * extent(problem.n);
  }
}

/// Why a plan is none of several that a launch chooses from.
static Reason whyNoVersion(const Variant &variant, const Plan &plan,
                           const Problem &problem,
                           const TargetDescription &target) {
  if (target.kind == TargetKind::CPU)
    return "programs for a CPU do not choose between kernels";
  if (problem.reductions)
    return "what it reduces leaves in parts of its own tiles";
  return variant.whyAlone(problem, target, plan);
}

/// Whether kernels of both variants take the same views of an operation's
/// tensors, as those of one launch do: of a convolution pixels may be rows of a
/// matrix for one variant and not for another.
static bool haveSameViews(const Variant &a, const Variant &b,
                          const Problem &problem) {
  return problem.kind != OpKind::Conv2D || a.name() == b.name();
}

/// Adds the best plan for `sample` that does for all of `problem` as well, and
/// beside those that there are.
static void addContender(std::vector<Contender> &contenders,
                         const Registry &registry, const Problem &problem,
                         const Problem &sample,
                         const TargetDescription &target) {
  for (Candidate &candidate : rankPlans(registry, sample, target)) {
    const Variant &variant = *candidate.variant;
    if (variant.isFallback())
      return;
    if (!variant.whyNot(problem, target).empty() ||
        !variant.whyNotUnasked(problem, target).empty() ||
        !variant.check(problem, target, candidate.plan).empty() ||
        !whyNoVersion(variant, candidate.plan, problem, target).empty())
      continue;
    if (!contenders.empty() &&
        !haveSameViews(variant, *contenders.front().candidate.variant, problem))
      continue;
    for (const Contender &known : contenders)
      if (known.candidate.variant == &variant &&
          known.candidate.plan == candidate.plan)
        return;
    contenders.push_back({std::move(candidate), {}});
    return;
  }
}

static double cyclesOf(const Contender &contender, const Problem &sample,
                       const TargetDescription &target) {
  const Candidate &candidate = contender.candidate;
  return candidate.variant->cycles(sample, target, candidate.plan);
}

/// The cheapest `count` parts of the first `end` samples, the last one by the
/// first `lasts` contenders, and the sum of the logarithms of their cycles: a
/// part is worth the factors that it gains.
static std::pair<std::vector<Part>, double>
cut(const std::vector<Contender> &contenders, size_t lasts, size_t end,
    size_t count) {
  std::pair<std::vector<Part>, double> least = {
      {}, std::numeric_limits<double>::max()};
  // Where the last part begins.
  for (size_t begin = count - 1; begin < (count > 1 ? end : 1); ++begin) {
    Part last = {begin, end, 0};
    double sum = std::numeric_limits<double>::max();
    for (size_t i = 0; i < lasts; ++i) {
      double own = contenders[i].logs[end] - contenders[i].logs[begin];
      if (own >= sum)
        continue;
      last.contender = i;
      sum = own;
    }
    std::vector<Part> parts;
    if (count > 1) {
      auto [before, others] =
          cut(contenders, contenders.size(), begin, count - 1);
      parts = std::move(before);
      sum += others;
    }
    if (sum >= least.second)
      continue;
    parts.push_back(last);
    least = {std::move(parts), sum};
  }
  return least;
}

Versions findVersions(const Registry &registry, const Problem &problem,
                      const TargetDescription &target,
                      const Candidate &chosen) {
  Versions found;
  OpenExtent open = findOpenExtent(problem);
  if (!open.set || chosen.variant->isFallback() ||
      !whyNoVersion(*chosen.variant, chosen.plan, problem, target).empty())
    return found;
  std::vector<Problem> samples;
  std::vector<Contender> contenders;
  Problem large = problem;
  open.set(large, open.many);
  addContender(contenders, registry, problem, large, target);
  if (contenders.empty())
    return found;
  for (int64_t extent : kSamples) {
    if (extent < open.least)
      continue;
    if (extent > open.most)
      break;
    Problem &sample = samples.emplace_back(problem);
    open.set(sample, extent);
    addContender(contenders, registry, problem, sample, target);
  }
  for (Contender &contender : contenders) {
    contender.logs = {0};
    for (const Problem &sample : samples)
      contender.logs.push_back(
          contender.logs.back() +
          std::log(std::max(cyclesOf(contender, sample, target), 1.0)));
  }

  auto [parts, sum] = cut(contenders, 1, samples.size(), 1);
  double single = sum;
  auto mean = [&](double logs) {
    return std::exp(logs / static_cast<double>(samples.size()));
  };
  for (size_t count = 2; count <= kMostVersions; ++count) {
    auto [finer, less] = cut(contenders, 1, samples.size(), count);
    if (mean(sum - less) < kLeastGain)
      break;
    parts = std::move(finer);
    sum = less;
  }
  found.gain = mean(single - sum);
  for (const Part &part : parts) {
    Version &version = found.list.emplace_back();
    version.candidate = contenders[part.contender].candidate;
    if (part.end == samples.size())
      break;
    // Between the last sample of the part and the first of the next.
    double most = std::sqrt(countElements(samples[part.end - 1]) *
                            countElements(samples[part.end]));
    version.most = static_cast<int64_t>(std::min(most, 0x1p62));
  }
  return found;
}

Reason checkVersion(const Registry &registry, const Problem &problem,
                    const TargetDescription &target, std::string_view variant,
                    const Plan &plan) {
  Reason reason = checkSchedule(registry, problem, target, variant, plan);
  if (reason.empty())
    reason = whyNoVersion(*registry.find(variant), plan, problem, target);
  return reason.empty() ? "" : "most: " + reason;
}

} // namespace tracea::doctor
