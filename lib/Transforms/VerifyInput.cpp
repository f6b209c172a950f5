//===- VerifyInput.cpp - Valid IR without a meaning -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream verifiers let through what upstream folding cannot take, so that it
// is looked for before anything is folded. Canonicalization takes a step that
// is not positive for a loop without iterations, and reads the extent of a
// dimension that is not there beyond the end of the type.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tracea/Dialect/TraceaPipe/IR/Dimensions.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYINPUT
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

static LogicalResult verifySteps(LoopLikeOpInterface loop) {
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!steps)
    return success();
  for (OpFoldResult step : *steps)
    if (std::optional<int64_t> number = getConstantIntValue(step);
        number && *number < 1)
      return loop.emitOpError()
             << "expected a step of at least 1, found " << *number;
  return success();
}

namespace {
struct VerifyInput : public mlir::tracea::impl::VerifyInputBase<VerifyInput> {
  using Base::Base;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      LogicalResult holds = success();
      if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
        holds = verifySteps(loop);
      else if (auto dim = dyn_cast<ShapedDimOpInterface>(op))
        holds = tracea_pipe::verifyDimension(dim);
      return failed(holds) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
