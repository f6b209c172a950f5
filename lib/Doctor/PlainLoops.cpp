//===- PlainLoops.cpp - What runs on any machine --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operations, and the fallback: an operation spelled out as loops
// over its elements, which cores or lanes share.
//
//===----------------------------------------------------------------------===//
#include "Numbers.h"
#include "Variants.h"
#include "tracea/Doctor/CPUModel.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

//===----------------------------------------------------------------------===//
// elementwise
//===----------------------------------------------------------------------===//

/// Variants without tiles: the lowering takes the shape as it comes.
class UntiledVariant : public Variant {
public:
  /// What there is a code generator for.
  bool runsOn(TargetKind kind) const final {
    return kind == TargetKind::CPU || kind == TargetKind::CUDA;
  }
  Reason whyNot(const Problem &, const TargetDescription &) const final {
    return "";
  }
  Plan plan(const Problem &, const TargetDescription &) const final {
    return emptyPlan();
  }
  /// So many instructions on every lane of the machine.
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &) const final {
    if (target.isGPU())
      return instructions(problem) /
             (std::max(target.cores, 1) * kLanesOfMultiprocessor);
    CPUModel model(target, problem.accumulator);
    auto cores = static_cast<double>(model.cores);
    double lanes = usesVectors() ? static_cast<double>(model.lanes) : 1;
    return model.spread(cores, instructions(problem) / lanes / cores);
  }

protected:
  virtual double instructions(const Problem &problem) const = 0;
  /// Whether a CPU computes several elements at a time.
  virtual bool usesVectors() const = 0;
  Reason checkPlan(const Problem &, const TargetDescription &,
                   const Plan &plan) const final {
    return plan.tile.empty() ? "" : "the variant takes no tile";
  }

private:
  static constexpr double kLanesOfMultiprocessor = 128;
};

class ElementwiseVariant final : public UntiledVariant {
public:
  std::string_view name() const override { return "elementwise"; }
  std::string_view summary() const override {
    return "computes each element of the result by itself";
  }
  bool serves(OpKind op) const override { return op == OpKind::BatchNorm; }

protected:
  double instructions(const Problem &problem) const override {
    return 8 * elementsOf(problem);
  }
  bool usesVectors() const override { return true; }
};

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

class LinalgVariant final : public UntiledVariant {
public:
  std::string_view name() const override { return "linalg"; }
  std::string_view summary() const override {
    return "spells the operation out as loops over scalars";
  }
  bool serves(OpKind) const override { return true; }
  bool isFallback() const override { return true; }

protected:
  double instructions(const Problem &problem) const override {
    // A dependent multiply-add or a few scalar instructions an operation.
    return 4 * operations(problem);
  }
  bool usesVectors() const override { return false; }

private:
  static double operations(const Problem &problem) {
    auto product = [](std::initializer_list<int64_t> extents) {
      double result = 1;
      for (int64_t extent : extents)
        result *= static_cast<double>(assumed(extent, 64));
      return result;
    };
    switch (problem.kind) {
    case OpKind::Gemm:
      return product({problem.batch, problem.m, problem.n, problem.k});
    case OpKind::GroupedGemm:
      return product({problem.m, problem.n, problem.k});
    case OpKind::Conv2D:
    case OpKind::Conv2DWGrad:
      return product({problem.images, problem.outputHeight, problem.outputWidth,
                      problem.groups, problem.groupFilters,
                      problem.groupChannels, problem.filterHeight,
                      problem.filterWidth});
    case OpKind::Attention:
      return product({problem.batch, problem.m, problem.n}) *
             (product({problem.k}) + product({problem.valueDim}));
    case OpKind::AttentionQGrad:
      return product({problem.batch, problem.m, problem.n}) *
             (2 * product({problem.k}) + product({problem.valueDim}));
    case OpKind::AttentionKVGrad:
      return product({problem.batch, problem.m, problem.n}) * 2 *
             (product({problem.k}) + product({problem.valueDim}));
    case OpKind::Softmax:
    case OpKind::BatchNorm:
    case OpKind::LayerNorm:
    case OpKind::RMSNorm:
      return 10 * elementsOf(problem);
    }
    return 0;
  }
};

} // namespace

void tracea::doctor::addLoopVariants(Registry &registry) {
  registry.add(std::make_unique<ElementwiseVariant>());
  registry.add(std::make_unique<LinalgVariant>());
}
