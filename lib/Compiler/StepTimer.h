//===- StepTimer.h - What the steps of a compilation take -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_COMPILER_STEPTIMER_H
#define TRACEA_LIB_COMPILER_STEPTIMER_H

#include "mlir/Pass/PassManager.h"
#include "tracea/Compiler/Compiler.h"

#include <chrono>

namespace tracea::compiler {

/// Adds the time of its life to a step.
class StepTimer {
public:
  StepTimer(StepTimes *times, llvm::StringRef step)
      : times(times), step(step) {}
  ~StepTimer() {
    if (times)
      times->add(step,
                 std::chrono::duration<double>(Clock::now() - start).count());
  }
  StepTimer(const StepTimer &) = delete;
  StepTimer &operator=(const StepTimer &) = delete;

private:
  using Clock = std::chrono::steady_clock;

  StepTimes *times;
  llvm::StringRef step;
  Clock::time_point start = Clock::now();
};

/// Runs the passes; the time in which some pass proves is the step "proofs",
/// the rest the step "passes".
mlir::LogicalResult runTimed(mlir::PassManager &manager, mlir::ModuleOp module,
                             StepTimes *times);

} // namespace tracea::compiler

#endif // TRACEA_LIB_COMPILER_STEPTIMER_H
