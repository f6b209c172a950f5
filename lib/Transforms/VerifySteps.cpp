//===- VerifySteps.cpp - Loops that would run for ever --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Canonicalization takes a step that is not positive for a loop without
// iterations, so that it is looked for first.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYSTEPS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {
struct VerifySteps : public tracea::impl::VerifyStepsBase<VerifySteps> {
  using Base::Base;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([](LoopLikeOpInterface loop) {
      std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
      if (!steps)
        return WalkResult::advance();
      for (OpFoldResult step : *steps) {
        std::optional<int64_t> number = getConstantIntValue(step);
        if (!number || *number >= 1)
          continue;
        loop.emitOpError() << "expected a step of at least 1, found "
                           << *number;
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
