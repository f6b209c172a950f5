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
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_BUFFERIZEHOST
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {

/// Replaces calls by the bodies of their callees, innermost first.
class CallInliner {
public:
  explicit CallInliner(ModuleOp module) : symbols(module) {}

  LogicalResult run(func::FuncOp function) {
    State &state = states[function];
    if (state == State::Done)
      return success();
    state = State::Active;
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls)
      if (failed(inlineCall(call)))
        return failure();
    states[function] = State::Done;
    return success();
  }

private:
  enum class State { New, Active, Done };

  LogicalResult inlineCall(func::CallOp call) {
    func::FuncOp callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return call.emitOpError()
             << "calls '" << call.getCallee()
             << "', which has no body; expected a function of this module";
    if (states[callee] == State::Active)
      return call.emitOpError() << "calls '" << call.getCallee()
                                << "' recursively; a program has no call stack";
    if (!llvm::hasSingleElement(callee.getBody()))
      return call.emitOpError()
             << "calls '" << call.getCallee()
             << "', whose body is not a single block; expected structured "
                "control flow";
    if (failed(run(callee)))
      return failure();
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    OpBuilder builder(call);
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] :
         llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
    return success();
  }

  SymbolTable symbols;
  DenseMap<Operation *, State> states;
};

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
    if (failed(inlineCalls(module)))
      return signalPassFailure();
    decompose(module);
    protectArguments(module);
    if (failed(bufferize(module)))
      return signalPassFailure();

    OpPassManager cleanup(func::FuncOp::getOperationName());
    cleanup.addPass(createCanonicalizerPass());
    cleanup.addPass(createCSEPass());
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (failed(runPipeline(cleanup, function)))
        return signalPassFailure();
  }

private:
  LogicalResult inlineCalls(ModuleOp module) {
    CallInliner inliner(module);
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (failed(inliner.run(function)))
        return failure();
    for (func::FuncOp function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.isPrivate())
        function.erase();
    return success();
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
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (isa<TensorType>(function.getArgument(i).getType()))
          function.setArgAttr(
              i, bufferization::BufferizationDialect::kWritableAttrName,
              builder.getBoolAttr(false));
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
