//===- Doctor.h - Decisions about operations
//--------------------------------===//
//
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

ScheduleAttr getScheduleAttr(MLIRContext *context, StringRef variant,
                             const ::tracea::doctor::Plan &plan);
::tracea::doctor::Plan getPlan(ScheduleAttr schedule);

} // namespace mlir::tracea

#endif // TRACEA_DOCTOR_DOCTOR_H
