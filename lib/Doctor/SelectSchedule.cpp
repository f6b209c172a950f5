//===- SelectSchedule.cpp - Chooses a schedule for every operation --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step from what to with what: the registry ranks the variants of each
// operation for the module's target, and the best one's plan becomes the
// operation's schedule.
//
//===----------------------------------------------------------------------===//
#include "Variants.h"
#include "tracea/Doctor/Doctor.h"
#include "tracea/Doctor/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "tracea-select-schedule"

namespace mlir::tracea {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "tracea/Doctor/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::doctor::Candidate;
using ::tracea::doctor::Plan;
using ::tracea::doctor::Problem;
using ::tracea::doctor::Registry;
using ::tracea::doctor::Version;
using ::tracea::doctor::Versions;
using ::tracea::target::TargetDescription;

std::optional<double>
mlir::tracea::countCycles(ScheduledOpInterface op,
                          const TargetDescription &target) {
  FailureOr<Problem> problem = getProblem(op);
  if (failed(problem))
    return std::nullopt;
  std::vector<Candidate> candidates =
      ::tracea::doctor::rank(Registry::builtin(), *problem, target);
  if (candidates.empty() || !candidates.front().accepted() ||
      candidates.front().variant->isFallback())
    return std::nullopt;
  return candidates.front().cycles;
}

namespace {

constexpr StringLiteral kCategory = "tracea-doctor";

/// A variant and its plan, in words.
std::string toText(StringRef variant, const Plan &plan) {
  return ("'" + variant + "' with " + describe(plan)).str();
}

/// The schedule of one of the candidates, with what is left to another.
ScheduleAttr makeSchedule(MLIRContext *context,
                          const std::vector<Candidate> &candidates,
                          const Candidate &chosen, const Problem &problem,
                          const TargetDescription &target) {
  auto make = [&](const Candidate &candidate, ScheduleAttr otherwise) {
    std::string_view name = candidate.variant->name();
    return getScheduleAttr(context, StringRef(name.data(), name.size()),
                           candidate.plan, otherwise);
  };
  const Candidate *other =
      ::tracea::doctor::findOtherwise(candidates, chosen, problem, target);
  return make(chosen, other ? make(*other, {}) : ScheduleAttr());
}

/// The schedule of several versions, the last of which has the `last` one.
ScheduleAttr makeSchedule(MLIRContext *context,
                          const std::vector<Version> &versions,
                          ScheduleAttr last) {
  for (const Version &version : llvm::reverse(ArrayRef(versions).drop_back())) {
    std::string_view name = version.candidate.variant->name();
    last = getScheduleAttr(context, StringRef(name.data(), name.size()),
                           version.candidate.plan, last, version.most);
  }
  return last;
}

/// What the operation's schedule leaves to other kernels, for a remark: `gain`
/// is what is expected of them.
std::string describeOtherwise(ScheduledOpInterface op, double gain) {
  std::string text;
  ScheduleAttr schedule = op.getScheduleAttr();
  for (; schedule.getMost(); schedule = schedule.getOtherwise())
    text += "; results of up to " + std::to_string(schedule.getMost()) +
            " elements are computed by " +
            toText(schedule.getVariant(), getPlan(schedule));
  if (!text.empty())
    text += llvm::formatv(", {0:F2} times as fast as by one plan for all on "
                          "average",
                          gain)
                .str();
  if (ScheduleAttr otherwise = schedule.getOtherwise())
    text += "; where rows do not begin at multiples of 16 bytes " +
            toText(otherwise.getVariant(), getPlan(otherwise)) + " runs";
  return text;
}

struct SelectSchedulePass
    : public mlir::tracea::impl::SelectScheduleBase<SelectSchedulePass> {
  using SelectScheduleBase::SelectScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetDescription> target =
        getOrSetTarget(module, this->target, threads);
    if (failed(target))
      return signalPassFailure();
    WalkResult result = module.walk([&](ScheduledOpInterface op) {
      return failed(schedule(op, *target)) ? WalkResult::interrupt()
                                           : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult schedule(ScheduledOpInterface op,
                         const TargetDescription &target);
  LogicalResult verifyGiven(ScheduledOpInterface op, const Problem &problem,
                            const TargetDescription &target);
  void explain(ScheduledOpInterface op, const Problem &problem,
               const TargetDescription &target, const Candidate &best,
               ArrayRef<Candidate> candidates, double gain);
};

} // namespace

LogicalResult SelectSchedulePass::schedule(ScheduledOpInterface op,
                                           const TargetDescription &target) {
  FailureOr<Problem> problem = getProblem(op);
  if (failed(problem))
    return failure();
  if (op.getScheduleAttr())
    return verifyGiven(op, *problem, target);

  std::vector<Candidate> candidates =
      ::tracea::doctor::rank(Registry::builtin(), *problem, target);
  if (candidates.empty() || !candidates.front().accepted()) {
    InFlightDiagnostic error = op->emitOpError()
                               << "has no variant for target '" << target.name
                               << "'";
    for (const Candidate &candidate : candidates)
      error.attachNote() << "variant '" << candidate.variant->name()
                         << "' is refused: " << candidate.refusal;
    return error;
  }
  Versions versions = ::tracea::doctor::findVersions(
      Registry::builtin(), *problem, target, candidates.front());
  const Candidate &best = versions.list.empty()
                              ? candidates.front()
                              : versions.list.back().candidate;
  ScheduleAttr last =
      makeSchedule(&getContext(), candidates, best, *problem, target);
  op.setScheduleAttr(versions.list.empty()
                         ? last
                         : makeSchedule(&getContext(), versions.list, last));
  ++numSelected;
  if (best.variant->isFallback())
    ++numFallbacks;
  explain(op, *problem, target, best, candidates, versions.gain);
  return success();
}

LogicalResult SelectSchedulePass::verifyGiven(ScheduledOpInterface op,
                                              const Problem &problem,
                                              const TargetDescription &target) {
  auto toView = [](StringRef text) {
    return std::string_view(text.data(), text.size());
  };
  const Registry &registry = Registry::builtin();
  ScheduleAttr schedule = op.getScheduleAttr();
  StringRef variant = schedule.getVariant();
  bool hasVersions = schedule.getMost() != 0;
  std::string reason;
  while (true) {
    std::string_view name = toView(schedule.getVariant());
    reason = hasVersions
                 ? ::tracea::doctor::checkVersion(registry, problem, target,
                                                  name, getPlan(schedule))
                 : ::tracea::doctor::checkSchedule(registry, problem, target,
                                                   name, getPlan(schedule));
    if (!schedule.getMost() || !reason.empty())
      break;
    schedule = schedule.getOtherwise();
  }
  if (ScheduleAttr otherwise = schedule.getOtherwise();
      otherwise && reason.empty())
    reason = ::tracea::doctor::checkOtherwise(
        registry, problem, target, toView(schedule.getVariant()),
        getPlan(schedule), toView(otherwise.getVariant()), getPlan(otherwise));
  if (!reason.empty())
    return op->emitOpError() << "schedule is not valid: " << reason;
  ++numVerified;
  remark::passed(
      op.getLoc(),
      remark::RemarkOpts::name("schedule-verified").category(kCategory))
      << (op->getName().getStringRef() + ": keeps the given schedule '" +
          variant + "'")
             .str();
  return success();
}

void SelectSchedulePass::explain(ScheduledOpInterface op,
                                 const Problem &problem,
                                 const TargetDescription &target,
                                 const Candidate &best,
                                 ArrayRef<Candidate> candidates, double gain) {
  std::string opName = op->getName().getStringRef().str();
  auto nameOf = [](const Candidate &candidate) {
    return std::string(candidate.variant->name());
  };
  if (best.variant->isFallback()) {
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("schedule-fallback").category(kCategory))
        << (opName + ": falls back to '" + nameOf(best) + "', which " +
            std::string(best.variant->summary()));
  } else {
    std::string why = best.variant->reasoning(problem, target, best.plan);
    remark::passed(
        op.getLoc(),
        remark::RemarkOpts::name("schedule-selected").category(kCategory))
        << (opName + ": takes '" + nameOf(best) + "' with " +
            describe(best.plan) + "; it " +
            std::string(best.variant->summary()) +
            (why.empty() ? "" : ": " + why) + describeOtherwise(op, gain));
  }
  if (std::string fallback = ::tracea::doctor::findPrecisionFallback(
          problem, target, *best.variant);
      !fallback.empty())
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("precision-fallback").category(kCategory))
        << (opName + ": " + fallback);
  // Of the same extents as the others': `best` may be for large ones.
  const Candidate *same =
      llvm::find_if(candidates, [&](const Candidate &other) {
        return other.variant == best.variant;
      });
  double own = same == candidates.end() ? best.cycles : same->cycles;
  for (const Candidate &candidate : candidates) {
    if (candidate.variant->isFallback() || candidate.variant == best.variant)
      continue;
    std::string reason =
        candidate.accepted()
            ? llvm::formatv("the cost model expects {0:F1} times the cycles",
                            candidate.cycles / std::max(own, 1.0))
                  .str()
            : candidate.refusal;
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("variant-refused").category(kCategory))
        << (opName + ": '" + nameOf(candidate) + "' is not taken: " + reason);
  }
}

LogicalResult mlir::tracea::takeNextSchedule(ScheduledOpInterface op,
                                             const TargetDescription &target,
                                             ArrayRef<ScheduleAttr> refused,
                                             StringRef reason) {
  FailureOr<Problem> problem = getProblem(op);
  if (failed(problem))
    return failure();
  std::vector<Candidate> candidates =
      ::tracea::doctor::rankPlans(Registry::builtin(), *problem, target);
  for (const Candidate &candidate : candidates) {
    std::string_view name = candidate.variant->name();
    StringRef variant(name.data(), name.size());
    ScheduleAttr next =
        makeSchedule(op->getContext(), candidates, candidate, *problem, target);
    if (llvm::is_contained(refused, next))
      continue;
    ScheduleAttr former = op.getScheduleAttr();
    std::string text =
        (op->getName().getStringRef() + ": gives up " +
         toText(former.getVariant(), getPlan(former)) + " and takes " +
         toText(variant, candidate.plan) + ": " + reason)
            .str();
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("schedule-given-up").category(kCategory))
        << text;
    emitRemark(op.getLoc()) << text;
    op.setScheduleAttr(next);
    return success();
  }
  return failure();
}
