//===- ProductVariant.h - Operations that are products ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution, or its gradient, is computed as matrix products whose operands
// are found by coordinates: plans, costs and requirements are those of the
// variant for one product in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_DOCTOR_PRODUCTVARIANT_H
#define TRACEA_LIB_DOCTOR_PRODUCTVARIANT_H

#include "tracea/Doctor/Registry.h"

namespace tracea::doctor {

class ProductVariant : public Variant {
public:
  std::string_view name() const override { return ownName; }
  std::string_view summary() const override { return ownSummary; }
  bool runsOn(TargetKind kind) const override { return product.runsOn(kind); }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
  Reason whyNotUnasked(const Problem &problem,
                       const TargetDescription &target) const override;
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override;
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override {
    return product.plans(asProduct(problem, 1), target);
  }
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override {
    return product.check(asProduct(problem, 1), target, plan);
  }
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override;
  Reason whyAlone(const Problem &problem, const TargetDescription &target,
                  const Plan &plan) const override {
    return product.whyAlone(asProduct(problem, plan.tile[2]), target, plan);
  }
  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

protected:
  /// `product` is the variant for one product in the same way; the summary is
  /// `what` it does, then what that variant does.
  ProductVariant(std::string_view name, const Variant &product,
                 std::string_view what)
      : ownName(name), product(product),
        ownSummary(std::string(what) + ": it " +
                   std::string(product.summary())) {}

  /// The products that the operation is, whose steps have `depth` of what is
  /// summed.
  virtual Problem asProduct(Problem problem, int64_t depth) const = 0;
  /// In words, "a product of ? pixels by 64 filters, summed over …".
  virtual std::string describe(const Problem &product) const = 0;
  /// Whether lanes copy the elements of one of the product's operands one by
  /// one: no rows of it lie in memory.
  virtual bool hasRows(const Problem &problem, bool isFirst) const = 0;

private:
  /// What lanes take longer who copy elements one by one: copies in bulk are
  /// of rows.
  double gathers(const Problem &problem, const TargetDescription &target,
                 const Plan &plan) const;

  std::string ownName;
  const Variant &product;
  std::string ownSummary;
};

/// An extent for people: "?" where only the run knows it.
std::string textOfExtent(int64_t extent);

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_PRODUCTVARIANT_H
