//===- FuseEpilogues.cpp - Fuses elementwise consumers into epilogues -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unit of fusion is a cone of elementwise operations. What else reads
// values of it reads auxiliary results of a product afterwards.

#include "AuxResults.h"
#include "Cone.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Transforms/Passes.h"

#define DEBUG_TYPE "tracea-fuse-epilogues"

namespace mlir::tracea {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {

struct FuseCone : public OpInterfaceRewritePattern<EpilogueOpInterface> {
  FuseCone(MLIRContext *context, unsigned maxOperations,
           std::function<void(unsigned, unsigned)> onFuse)
      : OpInterfaceRewritePattern(context), maxOperations(maxOperations),
        onFuse(std::move(onFuse)) {}

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    std::string reason;
    std::optional<Cone> cone = Cone::find(op, maxOperations, reason);
    if (!cone || belongsToOther(op, *cone))
      return failure();

    Operation *sink = cone->getSink();
    // Down to the sink: there every operand of the cone is defined, and
    // nothing in between reads the result.
    if (!cone->staysInPlace())
      rewriter.moveOpBefore(op, cone->getLast());
    EpilogueEditor editor(rewriter, op);
    DenseMap<Value, Value> scalars;
    Value stored = cone->emit(editor, scalars);

    remark::passed(
        sink->getLoc(),
        remark::RemarkOpts::name("EpilogueFused").category(DEBUG_TYPE))
        << remark::metric("Operation", op->getName().getStringRef())
        << remark::metric("Fused", cone->getNumOps());
    SmallVector<Operation *> inner = cone->getInnerOps();
    Value init = findInit(op, sink);
    if (cone->getEscapes().empty()) {
      editor.finish(stored, init, sink);
    } else {
      RankedTensorType sinkType =
          cast<RankedTensorType>(sink->getResult(0).getType());
      RankedTensorType type =
          mergeShapes(cast<RankedTensorType>(op.getEpilogueResult().getType()),
                      sinkType, sinkType.getElementType());
      EpilogueOpInterface larger = addEscapes(rewriter, op, *cone, scalars);
      if (!init || init.getType() != type || !isDefinedBefore(init, larger) ||
          llvm::is_contained(larger->getOperands(), init)) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(larger);
        init = createAuxInit(
            rewriter, cast<GemmOp>(larger.getOperation()),
            rewriter.getMultiDimIdentityMap(getEpilogueRank(larger)), type);
      }
      EpilogueEditor(rewriter, larger).finish(stored, init, sink);
    }
    // The operands of what was inside have changed their types by now.
    for (Operation *dead : llvm::reverse(inner))
      rewriter.eraseOp(dead);
    onFuse(cone->getNumOps(), editor.getNumAdded());
    return success();
  }

private:
  /// Of two producers the one takes the consumer that nobody else reads; else
  /// the later one: its operands need not wait, and the earlier result is
  /// complete when the epilogue reads it.
  bool belongsToOther(EpilogueOpInterface op, const Cone &cone) const {
    for (EpilogueOpInterface other : cone.getOtherProducers()) {
      std::string ignored;
      std::optional<Cone> otherCone = Cone::find(other, maxOperations, ignored);
      if (!otherCone || otherCone->getSink() != cone.getSink())
        continue;
      bool escapes = !cone.getEscapes().empty();
      if (escapes == otherCone->getEscapes().empty()
              ? escapes
              : op->isBeforeInBlock(other))
        return true;
    }
    return false;
  }

  /// Gives the operation a result for each value that others than the cone
  /// read. The first result's own destination goes with the value that it had.
  static EpilogueOpInterface addEscapes(PatternRewriter &rewriter,
                                        EpilogueOpInterface op,
                                        const Cone &cone,
                                        const DenseMap<Value, Value> &scalars) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    GemmOp gemm = cast<GemmOp>(op.getOperation());
    SmallVector<AuxResult> added;
    for (auto [value, map] : cone.getEscapes()) {
      bool isOwn = value == op.getEpilogueResult();
      added.push_back(
          {scalars.lookup(value), map, ReductionKind::None,
           isOwn ? op.getEpilogueInit().get()
                 : createAuxInit(rewriter, gemm, map,
                                 cast<RankedTensorType>(value.getType()))});
    }
    SmallVector<Value> values = llvm::map_to_vector(
        cone.getEscapes(), [](const auto &escape) { return escape.first; });
    SmallVector<bool> isOwn = llvm::map_to_vector(
        values, [&](Value value) { return value == op.getEpilogueResult(); });
    GemmOp larger = appendAuxResults(rewriter, gemm, added);
    ValueRange results = larger.getAuxResults().take_back(added.size());
    for (auto [value, own, result] : llvm::zip_equal(values, isOwn, results))
      rewriter.replaceUsesWithIf(
          own ? larger.getResult() : value, result, [&](OpOperand &use) {
            Operation *user = use.getOwner();
            return user != larger.getOperation() && !cone.isInside(user);
          });
    return cast<EpilogueOpInterface>(larger.getOperation());
  }

  /// The destination that the sink was given, unless it is a value computed
  /// for another purpose.
  static Value findInit(EpilogueOpInterface op, Operation *sink) {
    linalg::LinalgOp linalgOp = dyn_cast<linalg::LinalgOp>(sink);
    if (!linalgOp)
      return {};
    Value init = linalgOp.getDpsInitOperand(0)->get();
    Operation *definition = init.getDefiningOp();
    if (definition && !isa<tensor::EmptyOp>(definition))
      return {};
    return init;
  }

  unsigned maxOperations;
  std::function<void(unsigned, unsigned)> onFuse;
};

/// An extent of a result is that of its destination, and in the end a size of
/// an empty tensor: neither keeps the result alive.
struct DimOfDestination : public OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    OpResult result = dyn_cast<OpResult>(op.getSource());
    if (!result)
      return failure();
    tensor::EmptyOp empty = dyn_cast<tensor::EmptyOp>(result.getOwner());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (empty && dim && *dim < empty.getType().getRank() &&
        empty.getType().isDynamicDim(*dim)) {
      rewriter.replaceOp(op, empty.getDynamicSize(*dim));
      return success();
    }
    DestinationStyleOpInterface producer =
        dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!producer)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getSourceMutable().set(producer.getTiedOpOperand(result)->get());
    });
    return success();
  }
};

struct FuseEpiloguesPass
    : public mlir::tracea::impl::FuseEpiloguesBase<FuseEpiloguesPass> {
  using FuseEpiloguesBase::FuseEpiloguesBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FuseCone>(context, maxOperations,
                           [this](unsigned ops, unsigned extras) {
                             numFused += ops;
                             numExtras += extras;
                           });
    patterns.add<DimOfDestination>(context);
    populateFuseReductionPatterns(patterns, maxOperations,
                                  [this] { ++numReductions; });
    populateComposeExtrasPatterns(patterns, {});
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    getOperation()->walk([&](EpilogueOpInterface op) { reportMissed(op); });
  }

  /// Says why the consumers that are left were left.
  void reportMissed(EpilogueOpInterface op) {
    llvm::SetVector<Operation *> users;
    llvm::SetVector<Operation *> casts;
    collectUsers(op.getEpilogueResult(), users, casts);
    if (llvm::none_of(users, [](Operation *user) {
          return isa<linalg::LinalgOp>(user) ||
                 OpTrait::hasElementwiseMappableTraits(user);
        }))
      return;
    std::string reason;
    if (Cone::find(op, maxOperations, reason))
      return;
    ++numMissed;
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("EpilogueNotFused").category(DEBUG_TYPE))
        << remark::metric("Operation", op->getName().getStringRef())
        << remark::reason("{0}", reason);
  }
};

} // namespace
