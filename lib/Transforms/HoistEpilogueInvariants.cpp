//===- HoistEpilogueInvariants.cpp - Computes per-channel parts once ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop-invariant code motion over the implicit loops of an epilogue: what does
// not depend on the accumulator and varies along fewer dimensions than the
// result is computed by an operation of its own, once per element it depends
// on.

#include "EpilogueUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

#define DEBUG_TYPE "tracea-hoist-epilogue-invariants"

namespace mlir::tracea {
#define GEN_PASS_DEF_HOISTEPILOGUEINVARIANTS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// Many cycles each, against one for the rest.
static bool isExpensive(Operation *op) {
  if (isa<math::MathDialect>(op->getDialect()))
    return !isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp>(op);
  return isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemFOp,
             arith::RemSIOp, arith::RemUIOp>(op);
}

namespace {

/// What a scalar of the epilogue depends on.
struct Dependences {
  bool onAccumulator = false;
  /// Dimensions of the result along which it varies.
  llvm::SmallBitVector dims;
  /// Numbers of the extra operands read.
  llvm::SmallSetVector<unsigned, 4> extras;

  void add(const Dependences &other) {
    onAccumulator |= other.onAccumulator;
    dims |= other.dims;
    extras.insert(other.extras.begin(), other.extras.end());
  }
};

/// The scalars of one epilogue and their dependences.
class Invariants {
public:
  explicit Invariants(EpilogueOpInterface op);

  /// The extra operand whose extents cover every dimension that the value
  /// varies along, if the value is worth computing outside.
  std::optional<unsigned> findAnchor(Value value) const;
  const Dependences &lookup(Value value) const {
    return known.find(value)->second;
  }
  /// The operations that compute the value, in their order.
  SmallVector<Operation *> getSlice(Value value) const;

private:
  mutable EpilogueOpInterface op;
  Block &block;
  unsigned rank;
  DenseMap<Value, Dependences> known;
};

} // namespace

Invariants::Invariants(EpilogueOpInterface op)
    : op(op), block(op.getEpilogue().front()), rank(getEpilogueRank(op)) {
  for (BlockArgument argument : block.getArguments()) {
    Dependences &dependences = known[argument];
    dependences.dims.resize(rank);
    if (argument.getArgNumber() == 0) {
      dependences.onAccumulator = true;
      continue;
    }
    unsigned index = argument.getArgNumber() - 1;
    dependences.extras.insert(index);
    for (AffineExpr expr : getEpilogueMap(op, index).getResults())
      if (AffineDimExpr dim = dyn_cast<AffineDimExpr>(expr))
        dependences.dims.set(dim.getPosition());
  }
  for (Operation &inner : block.without_terminator()) {
    Dependences dependences;
    dependences.dims.resize(rank);
    for (Value operand : inner.getOperands()) {
      auto found = known.find(operand);
      if (found != known.end())
        dependences.add(found->second);
    }
    for (Value result : inner.getResults())
      known[result] = dependences;
  }
}

SmallVector<Operation *> Invariants::getSlice(Value value) const {
  llvm::SmallPtrSet<Operation *, 8> needed;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *definition = open.pop_back_val().getDefiningOp();
    if (definition && definition->getBlock() == &block &&
        needed.insert(definition).second)
      llvm::append_range(open, definition->getOperands());
  }
  SmallVector<Operation *> slice;
  for (Operation &inner : block)
    if (needed.contains(&inner))
      slice.push_back(&inner);
  return slice;
}

std::optional<unsigned> Invariants::findAnchor(Value value) const {
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != &block)
    return std::nullopt;
  const Dependences &dependences = lookup(value);
  if (dependences.onAccumulator || dependences.extras.empty() ||
      dependences.dims.count() >= rank)
    return std::nullopt;

  bool worthwhile = llvm::any_of(getSlice(value), isExpensive) ||
                    llvm::all_of(dependences.extras, [&](unsigned index) {
                      return matchPattern(op.getExtras()[index], m_Constant());
                    });
  if (!worthwhile)
    return std::nullopt;
  for (unsigned index : dependences.extras) {
    llvm::SmallBitVector dims(rank);
    for (AffineExpr expr : getEpilogueMap(op, index).getResults())
      if (AffineDimExpr dim = dyn_cast<AffineDimExpr>(expr))
        dims.set(dim.getPosition());
    if (dims == dependences.dims)
      return index;
  }
  return std::nullopt;
}

namespace {

struct HoistInvariant : public OpInterfaceRewritePattern<EpilogueOpInterface> {
  HoistInvariant(MLIRContext *context, std::function<void()> onHoist)
      : OpInterfaceRewritePattern(context), onHoist(std::move(onHoist)) {}

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!hasEpilogue(op) || !isUndecided(op))
      return failure();
    Invariants invariants(op);
    // From the end, so that the first found is not part of a larger one.
    for (Operation &inner : llvm::reverse(op.getEpilogue().front())) {
      if (inner.getNumResults() != 1)
        continue;
      Value value = inner.getResult(0);
      std::optional<unsigned> anchor = invariants.findAnchor(value);
      if (!anchor || value.use_empty())
        continue;
      hoist(op, value, *anchor, invariants, rewriter);
      onHoist();
      return success();
    }
    return failure();
  }

private:
  static void hoist(EpilogueOpInterface op, Value value, unsigned anchor,
                    const Invariants &invariants, PatternRewriter &rewriter) {
    MLIRContext *context = op.getContext();
    Location loc = value.getLoc();
    Block &block = op.getEpilogue().front();
    Value anchorTensor = op.getExtras()[anchor];
    RankedTensorType anchorType =
        cast<RankedTensorType>(anchorTensor.getType());

    // The loops are the dimensions of the anchor; `position` is the loop of a
    // dimension of the result.
    rewriter.setInsertionPoint(op);
    SmallVector<AffineExpr> readBack;
    SmallVector<OpFoldResult> extents;
    DenseMap<unsigned, unsigned> position;
    for (auto [dim, expr] :
         llvm::enumerate(getEpilogueMap(op, anchor).getResults())) {
      AffineDimExpr dimExpr = dyn_cast<AffineDimExpr>(expr);
      if (!dimExpr)
        continue;
      position[dimExpr.getPosition()] = readBack.size();
      readBack.push_back(expr);
      if (anchorType.isDynamicDim(dim))
        extents.push_back(
            tensor::DimOp::create(rewriter, loc, anchorTensor, dim)
                .getResult());
      else
        extents.push_back(rewriter.getIndexAttr(anchorType.getDimSize(dim)));
    }
    unsigned numLoops = readBack.size();

    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    ArrayRef<unsigned> extras = invariants.lookup(value).extras.getArrayRef();
    for (unsigned index : extras) {
      SmallVector<AffineExpr> exprs;
      for (AffineExpr expr : getEpilogueMap(op, index).getResults()) {
        if (AffineDimExpr dim = dyn_cast<AffineDimExpr>(expr))
          expr = getAffineDimExpr(position.lookup(dim.getPosition()), context);
        exprs.push_back(expr);
      }
      inputs.push_back(op.getExtras()[index]);
      maps.push_back(AffineMap::get(numLoops, 0, exprs, context));
    }
    maps.push_back(AffineMap::getMultiDimIdentityMap(numLoops, context));

    Value init =
        tensor::EmptyOp::create(rewriter, loc, extents, value.getType());
    SmallVector<utils::IteratorType> iterators(numLoops,
                                               utils::IteratorType::parallel);
    SmallVector<Operation *> slice = invariants.getSlice(value);
    linalg::GenericOp generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange(init.getType()), inputs, ValueRange(init),
        maps, iterators,
        [&](OpBuilder &builder, Location, ValueRange arguments) {
          IRMapping mapping;
          for (auto [index, argument] :
               llvm::zip_equal(extras, arguments.drop_back()))
            mapping.map(block.getArgument(index + 1), argument);
          for (Operation *inner : slice)
            builder.clone(*inner, mapping);
          linalg::YieldOp::create(builder, loc, mapping.lookup(value));
        });

    remark::passed(
        loc, remark::RemarkOpts::name("InvariantHoisted").category(DEBUG_TYPE))
        << remark::metric("Operation", op->getName().getStringRef())
        << remark::metric("Hoisted", slice.size());
    BlockArgument hoisted;
    rewriter.modifyOpInPlace(op, [&] {
      hoisted = appendEpilogueExtra(
          op, generic.getResult(0),
          AffineMap::get(getEpilogueRank(op), 0, readBack, context));
    });
    rewriter.replaceAllUsesWith(value, hoisted);
    dropUnusedExtras(rewriter, op);
  }

  std::function<void()> onHoist;
};

struct HoistEpilogueInvariantsPass
    : public mlir::tracea::impl::HoistEpilogueInvariantsBase<
          HoistEpilogueInvariantsPass> {
  using HoistEpilogueInvariantsBase::HoistEpilogueInvariantsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<HoistInvariant>(&getContext(), [this] { ++numHoisted; });
    populateFoldElementwisePatterns(patterns, maxFoldedElements,
                                    [this] { ++numConstants; });
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
