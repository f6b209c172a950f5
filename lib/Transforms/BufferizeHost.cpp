//===- BufferizeHost.cpp - Give the host program's tensors their memory ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One-shot bufferization of the functions around the kernels. Arguments belong
// to the caller and are never written; results are returned as memrefs, so that
// the program's manifest can name the view that holds each of them.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_BUFFERIZEHOST
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {

struct DecomposeAggregate
    : public OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

struct BufferizeHost : public tracea::impl::BufferizeHostBase<BufferizeHost> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkCalls(module)))
      return signalPassFailure();
    decompose(module);
    protectArguments(module);
    if (failed(bufferize(module)))
      return signalPassFailure();

    OpPassManager cleanup(func::FuncOp::getOperationName());
    cleanup.addPass(createCanonicalizerPass());
    cleanup.addPass(createCSEPass());
    // Once views have been unified, copies of a view onto itself vanish.
    cleanup.addPass(createCanonicalizerPass());
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (failed(runPipeline(cleanup, function)))
        return signalPassFailure();
  }

private:
  LogicalResult checkCalls(ModuleOp module) {
    WalkResult result = module.walk([](CallOpInterface call) {
      InFlightDiagnostic diag = call->emitError()
                                << "'" << call->getName() << "'";
      if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
        diag << " of " << callee;
      diag << " has no place in a program; expected calls to have been inlined "
              "(tracea-inline-calls)";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Takes apart what bufferization does not know as one operation.
  void decompose(ModuleOp module) {
    RewritePatternSet patterns(module.getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    linalg::populateDecomposePackUnpackPatterns(patterns);
    patterns.add<DecomposeAggregate>(module.getContext());
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      (void)applyPatternsGreedily(function, frozen);
  }

  void protectArguments(ModuleOp module) {
    Builder builder(module.getContext());
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (BlockArgument argument : function.getArguments())
        if (isa<TensorType>(argument.getType()))
          function.setArgAttr(
              argument.getArgNumber(),
              bufferization::BufferizationDialect::kWritableAttrName,
              builder.getBoolAttr(false));
    }
  }

  LogicalResult bufferize(ModuleOp module) {
    IRRewriter rewriter(module.getContext());
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (failed(bufferization::eliminateEmptyTensors(rewriter, function)))
        return failure();

    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::IdentityLayoutMap);
    options.bufferAlignment = 64;
    // Values inside of a kernel are tiles, which have places of their own.
    options.opFilter.denyOperation([](Operation *op) {
      return op->getParentOfType<tracea_pipe::KernelOp>() != nullptr;
    });
    bufferization::BufferizationState state;
    if (failed(
            bufferization::runOneShotModuleBufferize(module, options, state)))
      return failure();
    bufferization::removeBufferizationAttributesInModule(module);
    return success();
  }
};

} // namespace
