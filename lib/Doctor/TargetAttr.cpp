//===- TargetAttr.cpp - Attributes from plain values and back -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tracea/Doctor/Doctor.h"
#include "tracea/TargetInfo/Host.h"
#include "tracea/TargetInfo/TargetInfo.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tracea;

namespace doctor = ::tracea::doctor;
namespace hardware = ::tracea::target;

// Both sides spell the enumerators alike, so that text is the bridge.
static StringRef toStringRef(std::string_view text) {
  return StringRef(text.data(), text.size());
}
static std::string_view toStringView(StringRef text) {
  return std::string_view(text.data(), text.size());
}

TargetAttr
mlir::tracea::getTargetAttr(MLIRContext *context,
                            const hardware::TargetDescription &target) {
  std::optional<TargetKind> kind =
      symbolizeTargetKind(toStringRef(hardware::stringify(target.kind)));
  assert(kind && "both enumerations list the same kinds");
  return TargetAttr::get(context, *kind, target.name, target.triple, target.cpu,
                         target.attributeString(), target.vector.bits,
                         target.vector.registers, target.occupancy.subgroupSize,
                         std::max(1, target.cores), target.shared.perWorkgroup,
                         target.cacheBytes(1), target.cacheBytes(2),
                         target.cacheBytes(3));
}

/// Sets the size of one cache level; a level that the tables do not have is
/// taken as private to a core, but for the last.
static void setCache(hardware::TargetDescription &target, int level,
                     int64_t bytes) {
  if (bytes <= 0)
    return;
  for (hardware::CacheLevel &cache : target.caches)
    if (cache.level == level) {
      cache.bytes = bytes;
      return;
    }
  hardware::CacheLevel cache;
  cache.level = level;
  cache.bytes = bytes;
  cache.sharedBy = level < 3 ? 1 : 0;
  target.caches.push_back(cache);
}

FailureOr<hardware::TargetDescription> mlir::tracea::getTargetDescription(
    TargetAttr attr, function_ref<InFlightDiagnostic()> emitError) {
  std::optional<hardware::TargetKind> kind = hardware::parseTargetKind(
      toStringView(stringifyTargetKind(attr.getKind())));
  assert(kind && "both enumerations list the same kinds");

  std::optional<hardware::TargetDescription> entry =
      hardware::lookup(toStringView(attr.getName()));
  if (!entry && *kind != hardware::TargetKind::CPU) {
    InFlightDiagnostic error = emitError();
    error << "unknown target '" << attr.getName() << "'; the closest are";
    llvm::ListSeparator separator(",");
    for (const std::string &name :
         hardware::closestNames(toStringView(attr.getName())))
      error << StringRef(separator) << " '" << name << "'";
    return failure();
  }
  if (entry && entry->kind != *kind)
    return emitError() << "target '" << attr.getName() << "' is of kind "
                       << toStringRef(hardware::stringify(entry->kind))
                       << ", found " << stringifyTargetKind(attr.getKind());

  hardware::TargetDescription target =
      entry ? *entry : hardware::TargetDescription();
  target.kind = *kind;
  target.name = attr.getName().str();
  target.triple = attr.getTriple().str();
  target.cpu = attr.getCpu().str();
  if (target.arch.empty())
    target.arch = attr.getTriple().split('-').first.str();

  // The attribute may describe a machine with fewer features than the entry.
  if (!target.isGPU() && !attr.getFeatures().empty()) {
    SmallVector<StringRef> pieces;
    attr.getFeatures().split(pieces, ',', /*MaxSplit=*/-1,
                             /*KeepEmpty=*/false);
    std::vector<std::string> has;
    for (StringRef piece : pieces)
      if (piece.consume_front("+"))
        has.push_back(piece.str());
    if (entry)
      target = hardware::narrow(target, has);
    else
      target.features = has;
  }
  if (!target.isGPU()) {
    if (attr.getVectorBits() > 0)
      target.vector.bits =
          static_cast<int>(std::min<int64_t>(attr.getVectorBits(), 1 << 16));
    if (attr.getVectorRegisters() > 0)
      target.vector.registers = static_cast<int>(
          std::min<int64_t>(attr.getVectorRegisters(), 1 << 16));
  }
  if (attr.getCores() > 0)
    target.cores =
        static_cast<int>(std::min<int64_t>(attr.getCores(), 1 << 20));
  setCache(target, 1, attr.getL1());
  setCache(target, 2, attr.getL2());
  setCache(target, 3, attr.getL3());
  return target;
}

ScheduleAttr mlir::tracea::getScheduleAttr(MLIRContext *context,
                                           StringRef variant,
                                           const doctor::Plan &plan,
                                           ScheduleAttr otherwise,
                                           int64_t most) {
  std::optional<MatrixUnit> unit =
      symbolizeMatrixUnit(toStringRef(hardware::stringify(plan.unit)));
  assert(unit && "plans use units that schedules can name");
  return ScheduleAttr::get(
      context, variant, *unit, plan.tile,
      getScheduleParams(context, plan.params,
                        [&] {
                          return emitError(UnknownLoc::get(context))
                                 << "plan of a variant: ";
                        }),
      otherwise, most);
}

doctor::Plan mlir::tracea::getPlan(ScheduleAttr schedule) {
  std::optional<hardware::UnitKind> unit = hardware::parseUnitKind(
      toStringView(stringifyMatrixUnit(schedule.getUnit())));
  assert(unit && "the tables know every unit that a schedule can name");
  doctor::Plan plan;
  plan.unit = *unit;
  plan.tile.assign(schedule.getTile().begin(), schedule.getTile().end());
  plan.params = schedule.getParams().getParams();
  return plan;
}

FailureOr<hardware::TargetDescription>
mlir::tracea::getOrSetTarget(ModuleOp module, StringRef target, int threads) {
  if (threads < 0)
    return module.emitError()
           << "option 'threads' must not be negative, found " << threads;
  if (TargetAttr attr =
          module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName))
    return getTargetDescription(attr, [&] { return module.emitError(); });

  std::optional<hardware::TargetDescription> found =
      hardware::resolve(target.empty() ? "cpu" : toStringView(target));
  if (!found) {
    InFlightDiagnostic error = module.emitError();
    error << "unknown target '" << target << "'; the closest are";
    llvm::ListSeparator separator(",");
    for (const std::string &name : hardware::closestNames(toStringView(target)))
      error << StringRef(separator) << " '" << name << "'";
    return error;
  }
  if (threads > 0)
    found->cores = threads;
  module->setAttr(TraceaDialect::kTargetAttrName,
                  getTargetAttr(module.getContext(), *found));
  return *found;
}

bool mlir::tracea::isGPU(StringRef target) {
  std::optional<hardware::TargetDescription> found =
      hardware::resolve(toStringView(target));
  return found && found->isGPU();
}
