//===- NextSchedule.h - Another schedule where one does not do --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_PIPELINES_NEXTSCHEDULE_H
#define TRACEA_PIPELINES_NEXTSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::tracea {

/// A certificate decides which schedule is taken, not what may be compiled.
/// Runs `decide` on `module`, which gives each operation a schedule, then
/// `lower`. Where that fails because of an operation whose schedule was chosen,
/// the operation takes the next one, with a remark, and the module is lowered
/// again as it was decided. Fails, with the first errors, where none is left or
/// the schedule was given.
LogicalResult
lowerWithNextSchedules(ModuleOp module,
                       function_ref<LogicalResult(ModuleOp)> decide,
                       function_ref<LogicalResult(ModuleOp)> lower);

} // namespace mlir::tracea

#endif // TRACEA_PIPELINES_NEXTSCHEDULE_H
