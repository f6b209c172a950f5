//===- TraceaToTraceaPipe.cpp - Semantic operations become kernels ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each scheduled operation becomes a kernel of its variant and a launch. What no
// variant of this pass serves ("linalg", "elementwise") is left for the
// conversion to linalg.

#include "KernelBuilder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringMap.h"
#include "tracea/Conversion/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEATOTRACEAPIPE
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
using LowerFn = LogicalResult (*)(RewriterBase &, Operation *);

template <typename OpTy, LogicalResult (*lower)(RewriterBase &, OpTy)>
LogicalResult lowerAs(RewriterBase &rewriter, Operation *op) {
  auto typed = dyn_cast<OpTy>(op);
  if (!typed)
    return op->emitOpError() << "has a schedule for another operation: "
                             << cast<ScheduledOpInterface>(op).getScheduleAttr();
  return lower(rewriter, typed);
}

struct ConvertTraceaToTraceaPipe
    : mlir::tracea::impl::ConvertTraceaToTraceaPipeBase<ConvertTraceaToTraceaPipe> {
  void runOnOperation() override {
    const llvm::StringMap<LowerFn> variants = {
        {"gemm.packed", lowerAs<GemmOp, lowerGemm>},
        {"conv2d.patch", lowerAs<Conv2DOp, lowerConv2DPatch>},
    };
    ModuleOp module = getOperation();
    SmallVector<ScheduledOpInterface> ops;
    module.walk([&](ScheduledOpInterface op) { ops.push_back(op); });
    if (ops.empty())
      return;
    if (!module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)) {
      module.emitError() << "expected the module to carry '"
                         << TraceaDialect::kTargetAttrName
                         << "'; run tracea-select-schedule first";
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    for (ScheduledOpInterface op : ops) {
      ScheduleAttr schedule = op.getScheduleAttr();
      if (!schedule) {
        op.emitOpError() << "expected a schedule; run tracea-select-schedule "
                            "first";
        return signalPassFailure();
      }
      LowerFn lower = variants.lookup(schedule.getVariant());
      if (!lower)
        continue;
      rewriter.setInsertionPoint(op);
      if (failed(lower(rewriter, op)))
        return signalPassFailure();
      ++numKernels;
    }
  }
};
} // namespace
