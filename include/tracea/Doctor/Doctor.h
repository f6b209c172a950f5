//===- Doctor.h - Decisions about operations --------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bridge between IR and the plain part of the Doctor (Registry.h): problems
// from operations, schedules from plans, target attributes from descriptions.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_DOCTOR_DOCTOR_H
#define TRACEA_DOCTOR_DOCTOR_H

#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "tracea/Doctor/Registry.h"

namespace mlir::tracea {

/// What the variants must know of `op`. When a type has no counterpart in the
/// target tables, an error on `op`.
FailureOr<::tracea::doctor::Problem> getProblem(ScheduledOpInterface op);

/// The attribute of a machine, and the machine of an attribute. A GPU that is
/// not in the tables is an error; for a CPU the attribute says enough.
TargetAttr getTargetAttr(MLIRContext *context,
                         const ::tracea::target::TargetDescription &target);
FailureOr<::tracea::target::TargetDescription>
getTargetDescription(TargetAttr attr,
                     function_ref<InFlightDiagnostic()> emitError);

/// The machine that `module` names; if it names none, that of the tables'
/// `target`, or this one, which it names then. `threads`: cores to plan for, 0
/// for all.
FailureOr<::tracea::target::TargetDescription>
getOrSetTarget(ModuleOp module, StringRef target, int threads);

/// Whether the tables' `target` is a GPU; not where they have none of the name.
bool isGPU(StringRef target);

ScheduleAttr getScheduleAttr(MLIRContext *context, StringRef variant,
                             const ::tracea::doctor::Plan &plan,
                             ScheduleAttr otherwise = {}, int64_t most = 0);
::tracea::doctor::Plan getPlan(ScheduleAttr schedule);

/// What the model expects of the best schedule of `op`; nothing where there is
/// none but plain loops.
std::optional<double>
countCycles(ScheduledOpInterface op,
            const ::tracea::target::TargetDescription &target);

/// Gives `op` the best schedule that is none of `refused`, and says so in
/// remarks, with the `reason` why it has lost the one it had. Fails, without a
/// message, where there is none left.
LogicalResult
takeNextSchedule(ScheduledOpInterface op,
                 const ::tracea::target::TargetDescription &target,
                 ArrayRef<ScheduleAttr> refused, StringRef reason);

} // namespace mlir::tracea

#endif // TRACEA_DOCTOR_DOCTOR_H
