//===- TraceaToTraceaPipe.cpp - Semantic operations become kernels
//---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each scheduled operation becomes a kernel of its variant and a launch. What
// no variant of this pass serves ("linalg", "elementwise") is left for the
// conversion to linalg.

#include "KernelBuilder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Conversion/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEATOTRACEAPIPE
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// Lowers one operation by its variant; false when the variant is not a kernel
/// of this pass.
FailureOr<bool> lowerOp(RewriterBase &rewriter, Operation *op,
                        StringRef variant) {
  auto done = [](LogicalResult result) -> FailureOr<bool> {
    if (failed(result))
      return failure();
    return true;
  };
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](GemmOp gemm) -> FailureOr<bool> {
        if (variant == "gemm.packed")
          return done(lowerGemm(rewriter, gemm));
        if (variant == "gemm.direct")
          return done(lowerGemmDirect(rewriter, gemm));
        return false;
      })
      .Case([&](Conv2DOp conv) -> FailureOr<bool> {
        if (variant == "conv2d.patch")
          return done(lowerConv2DPatch(rewriter, conv));
        if (variant == "conv2d.depthwise")
          return done(lowerConv2DDepthwise(rewriter, conv));
        return false;
      })
      .Case([&](AttentionOp attention) -> FailureOr<bool> {
        if (variant == "attention.flash")
          return done(lowerAttentionFlash(rewriter, attention));
        return false;
      })
      .Case([&](SoftmaxOp softmax) -> FailureOr<bool> {
        if (variant == "row")
          return done(lowerSoftmaxRows(rewriter, softmax));
        return false;
      })
      .Case([&](LayerNormOp norm) -> FailureOr<bool> {
        if (variant == "row")
          return done(lowerLayerNormRows(rewriter, norm));
        return false;
      })
      .Case([&](RMSNormOp norm) -> FailureOr<bool> {
        if (variant == "row")
          return done(lowerRMSNormRows(rewriter, norm));
        return false;
      })
      .Default([](Operation *) -> FailureOr<bool> { return false; });
}

struct ConvertTraceaToTraceaPipe
    : mlir::tracea::impl::ConvertTraceaToTraceaPipeBase<
          ConvertTraceaToTraceaPipe> {
  void runOnOperation() override {
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
      rewriter.setInsertionPoint(op);
      FailureOr<bool> lowered = lowerOp(rewriter, op, schedule.getVariant());
      if (failed(lowered))
        return signalPassFailure();
      numKernels += *lowered;
    }
  }
};
} // namespace
