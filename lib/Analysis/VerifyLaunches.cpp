//===- VerifyLaunches.cpp - What the host reads was written before --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is proved to write its results; that somebody launches it before
// its results are read or returned is up to the host.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYLAUNCHES
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
struct VerifyLaunches
    : public mlir::tracea::impl::VerifyLaunchesBase<VerifyLaunches> {
  using VerifyLaunchesBase::VerifyLaunchesBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    written.clear();
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        for (auto [number, input] : llvm::enumerate(launch.getInputs()))
          checkRead(launch, input, "reads argument #" + Twine(number));
        for (Value init : launch.getInits())
          written.insert(getMemory(init));
        return;
      }
      if (isa<func::ReturnOp>(op)) {
        for (auto [number, operand] : llvm::enumerate(op->getOperands()))
          checkRead(op, operand, "returns result #" + Twine(number));
        return;
      }
      if (isa<memref::AllocOp>(op) || isMemoryEffectFree(op))
        return;
      // What else writes says so, or is not known: then it may.
      auto effects = dyn_cast<MemoryEffectOpInterface>(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isa<MemRefType>(operand.get().getType()) &&
            (!effects ||
             effects.getEffectOnValue<MemoryEffects::Write>(operand.get())))
          written.insert(getMemory(operand.get()));
    });
  }

private:
  static Value getMemory(Value value) {
    while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
      value = view.getViewSource();
    return value;
  }

  void checkRead(Operation *op, Value value, const Twine &what) {
    // A view's sizes are no memory.
    if (!isa<MemRefType>(value.getType()))
      return;
    Value memory = getMemory(value);
    auto alloc = memory.getDefiningOp<memref::AllocOp>();
    if (!alloc || written.contains(memory) ||
        llvm::is_contained(alloc.getType().getShape(), 0))
      return;
    // Once for each memory.
    written.insert(memory);
    InFlightDiagnostic diag =
        requireProof ? op->emitOpError() : op->emitWarning();
    diag << what
         << ", which nothing has written before; expected a launch that has it "
            "under 'outs'";
    diag.attachNote(alloc.getLoc()) << "the memory is allocated here";
    if (requireProof)
      signalPassFailure();
  }

  DenseSet<Value> written;
};
} // namespace
