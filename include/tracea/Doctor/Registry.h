//===- Registry.h - The variants that can realise an operation --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variant is a way to compute an operation on a kind of target: what it
// needs, a plan (tile sizes, unit, roles), and what the plan is expected to
// cost. The Doctor takes the cheapest variant whose requirements are met and
// says why the others were not taken.

#ifndef TRACEA_DOCTOR_REGISTRY_H
#define TRACEA_DOCTOR_REGISTRY_H

#include "tracea/Doctor/Problem.h"
#include "tracea/Schedule/Params.h"

#include <functional>
#include <memory>

namespace tracea::doctor {

using target::TargetDescription;
using target::TargetKind;
using target::UnitKind;

/// The families of variants, which schedules have in common with plans.
namespace schedule = mlir::tracea::schedule;

/// The content of a `#tracea.schedule`, without the variant's name.
struct Plan {
  UnitKind unit = UnitKind::Vector;
  std::vector<int64_t> tile;
  /// The fields of the variant's family.
  schedule::Params params;

  /// The family's structure, or what families derived from `T` share.
  template <typename T>
  T &as() {
    return params.as<T>();
  }
  template <typename T>
  const T &as() const {
    return params.as<T>();
  }
  /// The register tile of a plan whose family has one.
  schedule::Extents &registers() {
    return as<schedule::RegisterTile>().registers;
  }
  const schedule::Extents &registers() const {
    return as<schedule::RegisterTile>().registers;
  }

  bool operator==(const Plan &other) const {
    return unit == other.unit && tile == other.tile && params == other.params;
  }
};

/// The plan in words, its fields as schedules print them; for remarks.
std::string describe(const Plan &plan);

/// Says why something is not so: "" means that all is well.
using Reason = std::string;

class Variant {
public:
  virtual ~Variant();

  /// Registry name, "gemm.packed", and one line about the idea.
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  virtual bool serves(OpKind op) const = 0;
  virtual bool runsOn(TargetKind kind) const = 0;
  /// Whether this is the meaning spelled out rather than a fast way: taken only
  /// when every other variant is refused.
  virtual bool isFallback() const { return false; }

  /// First requirement that the problem or the target does not meet. The kind
  /// of target and of operation are the caller's to compare.
  virtual Reason whyNot(const Problem &problem,
                        const TargetDescription &target) const = 0;

  /// Why the variant is for schedules that name it, and never chosen: it does
  /// not keep what the operation promises, say.
  virtual Reason whyNotUnasked(const Problem &,
                               const TargetDescription &) const {
    return "";
  }

  /// The best plan by the cost model; only asked when nothing stands against.
  virtual Plan plan(const Problem &problem,
                    const TargetDescription &target) const = 0;

  /// All that it considers, in any order: one of them is taken where the best
  /// turns out not to do.
  virtual std::vector<Plan> plans(const Problem &problem,
                                  const TargetDescription &target) const {
    return {plan(problem, target)};
  }

  /// What is wrong with a plan that somebody else made: its fields are not of
  /// the variant's family or do not hold by themselves, or it does not do for
  /// this problem and target.
  Reason check(const Problem &problem, const TargetDescription &target,
               const Plan &plan) const;

  /// Expected cycles from the first core's start to the last one's end.
  virtual double cycles(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const = 0;

  /// Whether its kernels run only where rows in memory begin at multiples of
  /// some bytes.
  virtual bool asksForRows() const { return false; }
  /// Why no other kernel can stand beside the plan's, for the runs that it
  /// cannot do.
  virtual Reason whyAlone(const Problem &, const TargetDescription &,
                          const Plan &) const {
    return "";
  }

  /// For people: what the plan does with this problem and why it is expected to
  /// be the best. May be empty.
  virtual std::string reasoning(const Problem &, const TargetDescription &,
                                const Plan &) const {
    return "";
  }

  /// A plan for the unit with the defaults of the variant's family.
  Plan emptyPlan(UnitKind unit = UnitKind::Vector) const;

protected:
  /// What is wrong with a plan whose fields hold by themselves.
  virtual Reason checkPlan(const Problem &problem,
                           const TargetDescription &target,
                           const Plan &plan) const = 0;
};

/// Variants by name. Add all before the first decision; after that a registry
/// is only read and may be shared between threads.
class Registry {
public:
  /// False, and nothing added, when the name is taken.
  bool add(std::unique_ptr<Variant> variant);

  const Variant *find(std::string_view name) const;
  /// Variants for this operation on this kind of target, in order of
  /// registration.
  std::vector<const Variant *> variantsFor(OpKind op, TargetKind kind) const;
  const std::vector<std::unique_ptr<Variant>> &variants() const {
    return entries;
  }

  /// All variants that this compiler can lower.
  static const Registry &builtin();
  /// Adds a variant from outside to them, with its family's fields; false, and
  /// nothing added, where the name is taken. To be called before the first
  /// decision.
  static bool extend(std::unique_ptr<Variant> variant,
                     const schedule::Params &fields);

private:
  std::vector<std::unique_ptr<Variant>> entries;
};

struct Candidate {
  const Variant *variant = nullptr;
  Reason refusal; // empty: accepted, and `plan` and `cycles` are set
  Plan plan;
  double cycles = 0;

  bool accepted() const { return refusal.empty(); }
};

/// Accepted candidates by cost with fallbacks behind, then the refused ones;
/// equals stay in order of registration. Variants for other kinds of target are
/// left out.
std::vector<Candidate> rank(const Registry &registry, const Problem &problem,
                            const TargetDescription &target);

/// All that may be taken, best first and fallbacks behind: the plans of each
/// accepted variant that its own check accepts.
std::vector<Candidate> rankPlans(const Registry &registry,
                                 const Problem &problem,
                                 const TargetDescription &target);

/// The candidate for the runs that the plan of `chosen` cannot do, where only
/// the run knows where rows begin; null where there is nothing to add to it, or
/// no other that can.
const Candidate *findOtherwise(const std::vector<Candidate> &candidates,
                               const Candidate &chosen, const Problem &problem,
                               const TargetDescription &target);

/// A candidate for results of up to `most` elements, and of any number where
/// that is zero.
struct Version {
  Candidate candidate;
  int64_t most = 0;
};

/// Candidates for one problem of whose extents one is known only to the run,
/// from that for the smallest results to the one for all that are larger: as
/// few as come near to the best plan of each size. None where no extent is
/// open, or no kernel can stand beside that of `chosen`, the candidate for
/// extents as they are assumed.
struct Versions {
  std::vector<Version> list;
  /// How many times the cycles the best single plan takes, on average over
  /// sizes that differ by a factor.
  double gain = 1;
};
Versions findVersions(const Registry &registry, const Problem &problem,
                      const TargetDescription &target, const Candidate &chosen);

/// What is wrong with a schedule that leaves larger results to another one.
Reason checkVersion(const Registry &registry, const Problem &problem,
                    const TargetDescription &target, std::string_view variant,
                    const Plan &plan);

/// What is wrong with a schedule of two plans: the second is for the runs that
/// the first cannot do.
Reason checkOtherwise(const Registry &registry, const Problem &problem,
                      const TargetDescription &target, std::string_view variant,
                      const Plan &plan, std::string_view otherVariant,
                      const Plan &otherPlan);

/// What is wrong with the plan `plan` of the variant named `variant`.
Reason checkSchedule(const Registry &registry, const Problem &problem,
                     const TargetDescription &target, std::string_view variant,
                     const Plan &plan);

} // namespace tracea::doctor

#endif // TRACEA_DOCTOR_REGISTRY_H
