//===- NextSchedule.cpp - Another schedule where one does not do ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who is at fault is told by the location of an error: before a module is
// lowered once more, that of each scheduled operation, and of all in it, gets
// its number. What is made of the operation has it too.

#include "tracea/Pipelines/NextSchedule.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "tracea/Doctor/Doctor.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::target::TargetDescription;

/// Marks locations that carry the number of their operation.
static constexpr StringLiteral kNumber = "tracea.number";

/// Runs `lower` and keeps what it says.
static LogicalResult runQuietly(ModuleOp module,
                                function_ref<LogicalResult(ModuleOp)> lower,
                                std::vector<Diagnostic> &said) {
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    said.push_back(std::move(diagnostic));
                                    return success();
                                  });
  return lower(module);
}

/// A location with a number, and the number of one; -1: it has none.
static Location addNumber(Location loc, int64_t number) {
  Builder builder(loc.getContext());
  return FusedLoc::get(loc.getContext(), {loc},
                       builder.getDictionaryAttr(builder.getNamedAttr(
                           kNumber, builder.getI64IntegerAttr(number))));
}

static std::optional<int64_t> getOwnNumber(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto mark = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                    : DictionaryAttr();
  auto number = mark ? mark.getAs<IntegerAttr>(kNumber) : IntegerAttr();
  return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
}

static int64_t getNumber(Location loc) {
  int64_t found = -1;
  loc->walk([&](Location part) {
    if (std::optional<int64_t> number = getOwnNumber(part))
      found = *number;
    return found < 0 ? WalkResult::advance() : WalkResult::interrupt();
  });
  return found;
}

static SmallVector<ScheduledOpInterface> getScheduled(ModuleOp module) {
  SmallVector<ScheduledOpInterface> ops;
  module.walk([&](ScheduledOpInterface op) { ops.push_back(op); });
  return ops;
}

static void addNumbers(ModuleOp module) {
  for (auto [number, op] : llvm::enumerate(getScheduled(module)))
    op->walk([&, number = number](Operation *inner) {
      inner->setLoc(addNumber(inner->getLoc(), number));
    });
}

static void removeNumbers(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FusedLoc loc) -> std::optional<Attribute> {
    if (!getOwnNumber(loc))
      return std::nullopt;
    return loc.getLocations().front();
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false,
                                        /*replaceLocs=*/true);
}

namespace {
/// A module on its way down, and the way back to where it was decided.
class Attempts {
public:
  Attempts(ModuleOp module, SmallVector<bool> given)
      : module(module), decided(module.clone()), given(std::move(given)) {}

  LogicalResult run(function_ref<LogicalResult(ModuleOp)> lower);

private:
  bool takeNext(ArrayRef<Diagnostic> said);
  void restore();

  ModuleOp module;
  OwningOpRef<ModuleOp> decided;
  SmallVector<bool> given;
  std::map<int64_t, SmallVector<ScheduleAttr>> refused;
};
} // namespace

void Attempts::restore() {
  OwningOpRef<ModuleOp> copy(decided->clone());
  module.getBodyRegion().takeBody(copy->getBodyRegion());
  module->setAttrs((*copy)->getAttrDictionary());
}

/// Whether two operations become one kernel, which has the location of one of
/// them.
static bool isSame(Operation *a, Operation *b) {
  return OperationEquivalence::isEquivalentTo(
      a, b, OperationEquivalence::ignoreValueEquivalence,
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// Whether some operation that an error was about has another schedule now.
bool Attempts::takeNext(ArrayRef<Diagnostic> said) {
  std::map<int64_t, std::string> faults;
  for (const Diagnostic &diagnostic : said)
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      if (int64_t number = getNumber(diagnostic.getLocation()); number >= 0)
        faults.try_emplace(number, diagnostic.str());
  auto attr =
      (*decided)->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
  if (!attr || faults.empty())
    return false;
  FailureOr<TargetDescription> target =
      getTargetDescription(attr, [&] { return module.emitError(); });
  if (failed(target))
    return false;
  SmallVector<ScheduledOpInterface> ops = getScheduled(*decided);
  std::map<int64_t, std::string> all;
  for (auto &[number, reason] : faults)
    for (size_t other = 0; other < ops.size(); ++other)
      if (int64_t(other) == number || isSame(ops[number], ops[other]))
        all.try_emplace(other, reason);
  for (auto &[number, reason] : all) {
    ScheduledOpInterface op = ops[number];
    refused[number].push_back(op.getScheduleAttr());
    // A schedule by hand keeps its error, and so does an operation that has no
    // other schedule left.
    if (given[number] ||
        failed(takeNextSchedule(op, *target, refused[number], reason)))
      return false;
  }
  return true;
}

LogicalResult Attempts::run(function_ref<LogicalResult(ModuleOp)> lower) {
  auto say = [&](std::vector<Diagnostic> &said) {
    for (Diagnostic &diagnostic : said)
      module.getContext()->getDiagEngine().emit(std::move(diagnostic));
  };
  std::vector<Diagnostic> first;
  if (succeeded(runQuietly(module, lower, first))) {
    say(first);
    return success();
  }
  while (true) {
    restore();
    addNumbers(module);
    std::vector<Diagnostic> said;
    if (succeeded(runQuietly(module, lower, said))) {
      removeNumbers(module);
      say(said);
      return success();
    }
    if (!takeNext(said)) {
      say(first);
      return failure();
    }
  }
}

LogicalResult mlir::tracea::lowerWithNextSchedules(
    ModuleOp module, function_ref<LogicalResult(ModuleOp)> decide,
    function_ref<LogicalResult(ModuleOp)> lower) {
  SmallVector<bool> given;
  for (ScheduledOpInterface op : getScheduled(module))
    given.push_back(op.getScheduleAttr() != nullptr);
  if (failed(decide(module)))
    return failure();
  if (llvm::all_of(given, [](bool isGiven) { return isGiven; }))
    return lower(module);
  return Attempts(module, std::move(given)).run(lower);
}
