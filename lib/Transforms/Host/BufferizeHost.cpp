//===- BufferizeHost.cpp - Give the host program's tensors their memory ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One-shot bufferization of the functions around the kernels. Arguments belong
// to the caller and are never written; results are returned as memrefs, so that
// the program's manifest can name the view that holds each of them.

#include "MovementToGeneric.h"
#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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
#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
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

/// So many readers of one tensor are few enough to compare them in pairs.
constexpr unsigned manyReaders = 16;

struct BufferizeHost
    : public mlir::tracea::impl::BufferizeHostBase<BufferizeHost> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkCalls(module)))
      return signalPassFailure();
    checkExtents(module);
    decompose(module);
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      separateFills(function);
      separateDestinations(function);
      separateReads(function);
    }
    protectArguments(module);
    if (failed(checkOperations(module)) || failed(bufferize(module)))
      return signalPassFailure();

    OpPassManager cleanup(func::FuncOp::getOperationName());
    cleanup.addPass(createCleanup());
    cleanup.addPass(createCSEPass());
    // Once views have been unified, copies of a view onto itself vanish.
    cleanup.addPass(createCleanup());
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (failed(runPipeline(cleanup, function)))
        return signalPassFailure();
  }

private:
  /// A loop over memory without elements is kept: with it would go the checks
  /// that the sizes of its other memory agree, and what writes the result. (The
  /// pattern's name is as clang and gcc spell it.)
  static std::unique_ptr<Pass> createCleanup() {
    return createCanonicalizerPass(GreedyRewriteConfig(),
                                   {"(anonymous namespace)::EraseDeadLinalgOp",
                                    "{anonymous}::EraseDeadLinalgOp"});
  }

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

  /// What computes on tensors and has no memory of its own; bufferization would
  /// say no more than that it was not bufferized.
  LogicalResult checkOperations(ModuleOp module) {
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      WalkResult result =
          function.walk([&](Operation *op) {
            if (!llvm::any_of(op->getOperandTypes(), isTensor) &&
                !llvm::any_of(op->getResultTypes(), isTensor))
              return WalkResult::advance();
            if (isa<bufferization::BufferizableOpInterface>(op))
              return WalkResult::advance();
            op->emitOpError()
                << "computes on tensors and has no lowering; expected "
                   "operations of tracea or linalg, or elementwise ones of "
                   "arith and math";
            return WalkResult::interrupt();
          });
      if (result.wasInterrupted())
        return failure();
    }
    return success();
  }

  /// What is joined along one dimension is as long in all others.
  void checkExtents(ModuleOp module) {
    OpBuilder builder(module.getContext());
    module.walk([&](tensor::ConcatOp concat) {
      OperandRange inputs = concat.getInputs();
      for (unsigned number = 1; number < inputs.size(); ++number)
        for (int64_t dim = 0; dim < concat.getResultType().getRank(); ++dim)
          if (dim != int64_t(concat.getDim()))
            mlir::tracea::emitExtentCheck(
                builder, concat, inputs[0], dim, inputs[number], dim,
                ("dimension " + Twine(dim) + " of operand #" + Twine(number) +
                 " to be as long as that of operand #0")
                    .str());
    });
  }

  /// Takes apart what bufferization does not know as one operation.
  void decompose(ModuleOp module) {
    auto target = module->getAttrOfType<mlir::tracea::TargetAttr>(
        mlir::tracea::TraceaDialect::kTargetAttrName);
    bool isForLanes =
        target && target.getKind() != mlir::tracea::TargetKind::CPU;
    if (isForLanes) {
      RewritePatternSet windows(module.getContext());
      mlir::tracea::populatePadIntoWindowPatterns(windows);
      applyToFunctions(module, std::move(windows));
    }
    RewritePatternSet patterns(module.getContext());
    linalg::populateDecomposePackUnpackPatterns(patterns);
    mlir::tracea::populatePadToGenericPatterns(patterns);
    if (isForLanes)
      mlir::tracea::populateConcatToGenericPatterns(patterns);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    mlir::tracea::populateInsertToGenericPatterns(patterns,
                                                  /*onlyStrided=*/!isForLanes);
    patterns.add<DecomposeAggregate>(module.getContext());
    applyToFunctions(module, std::move(patterns));
  }

  void applyToFunctions(ModuleOp module, RewritePatternSet patterns) {
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      (void)applyPatternsGreedily(function, frozen);
  }

  /// Gives operations that go on from what was filled a fill of their own: CSE
  /// has made one of them, and all but one would copy it.
  void separateFills(func::FuncOp function) {
    IRRewriter rewriter(function.getContext());
    for (auto fill : llvm::to_vector(function.getOps<linalg::FillOp>())) {
      if (!fill.hasPureTensorSemantics() ||
          !fill.output().getDefiningOp<tensor::EmptyOp>())
        continue;
      SmallVector<OpOperand *> inits;
      for (OpOperand &use : fill.result().getUses())
        if (auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner()))
          if (op.isDpsInit(&use))
            inits.push_back(&use);
      for (OpOperand *init : inits) {
        if (fill->hasOneUse())
          break;
        rewriter.setInsertionPoint(init->getOwner());
        init->set(rewriter.clone(*fill)->getResult(0));
      }
    }
  }

  /// Gives operations that do not read what they overwrite an empty tensor of
  /// their own. The analysis compares all writes of a tensor with all its
  /// reads, and CSE has made one of all empty tensors of a type.
  void separateDestinations(func::FuncOp function) {
    SmallVector<OpOperand *> destinations;
    function.walk([&](DestinationStyleOpInterface op) {
      for (OpOperand &init : op.getDpsInitsMutable())
        if (isa<RankedTensorType>(init.get().getType()) && !isRead(op, init))
          destinations.push_back(&init);
    });
    IRRewriter rewriter(function.getContext());
    for (OpOperand *init : destinations) {
      Value tensor = init->get();
      bool isArgument = llvm::is_contained(function.getArguments(), tensor);
      auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
      if (!isArgument && (!empty || empty->hasOneUse()))
        continue;
      rewriter.setInsertionPoint(init->getOwner());
      Location loc = init->getOwner()->getLoc();
      auto type = cast<RankedTensorType>(tensor.getType());
      SmallVector<Value> sizes;
      if (empty)
        llvm::append_range(sizes, empty.getDynamicSizes());
      else
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (type.isDynamicDim(dim))
            sizes.push_back(tensor::DimOp::create(rewriter, loc, tensor, dim));
      Value own = tensor::EmptyOp::create(rewriter, loc, type, sizes);
      init->set(own);
    }
  }

  /// Hides the readers of what has many of them from the analysis, which
  /// compares them in pairs. They read it as a tensor of their own, over the
  /// same buffer; that nobody else writes the buffer is seen beforehand.
  void separateReads(func::FuncOp function) {
    SmallVector<Value> tensors(function.getArguments());
    function.walk(
        [&](Operation *op) { llvm::append_range(tensors, op->getResults()); });
    OpBuilder builder(function.getContext());
    for (Value tensor : tensors) {
      auto type = dyn_cast<RankedTensorType>(tensor.getType());
      if (!type || !tensor.hasNUsesOrMore(manyReaders))
        continue;
      SmallVector<OpOperand *> reads;
      bool isOnlyRead = true;
      for (OpOperand &use : tensor.getUses()) {
        auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
        if (op &&
            isa<linalg::LinalgOp, tracea_pipe::LaunchOp>(use.getOwner()) &&
            op.isDpsInput(&use))
          reads.push_back(&use);
        else
          isOnlyRead &= isa<func::ReturnOp>(use.getOwner());
      }
      if (reads.size() < manyReaders ||
          !(isOnlyRead ? ownsMemory(tensor, function)
                       : isNeverWritten(tensor, function)))
        continue;
      Location loc = tensor.getLoc();
      builder.setInsertionPointAfterValue(tensor);
      Value buffer = bufferization::ToBufferOp::create(
          builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
          tensor,
          /*read_only=*/true);
      for (OpOperand *read : reads) {
        builder.setInsertionPoint(read->getOwner());
        Value own = bufferization::ToTensorOp::create(
            builder, read->getOwner()->getLoc(), type, buffer,
            /*restrict=*/true);
        read->set(own);
      }
    }
  }

  static bool isNeverWritten(Value tensor, func::FuncOp function) {
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      return argument.getOwner() == &function.getBody().front();
    return isa<arith::ConstantOp>(tensor.getDefiningOp());
  }

  /// Whether no other tensor can lie in the memory of `tensor`.
  static bool ownsMemory(Value tensor, func::FuncOp function) {
    if (isNeverWritten(tensor, function))
      return true;
    auto op = tensor.getDefiningOp<DestinationStyleOpInterface>();
    if (!op)
      return false;
    OpOperand *init = op.getTiedOpOperand(cast<OpResult>(tensor));
    return init->get().getDefiningOp<tensor::EmptyOp>() &&
           init->get().hasOneUse();
  }

  static bool isRead(DestinationStyleOpInterface op, OpOperand &init) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op.getOperation()))
      return structured.payloadUsesValueFromOperand(&init);
    return !isa<tracea_pipe::LaunchOp>(op);
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
