//===- SinkTransposes.cpp - Moves transpositions to where they end --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over elements, convolutions, poolings and borders have no order of
// dimensions of their own. What reads a transposition may read its source, and
// have its result transposed: so transpositions go down until they meet their
// inverse, or the end. Channels that a framework keeps last behind the face of
// channels that come first are last everywhere then. A function is left as it
// is where that would not leave it less to transpose.
//
//===----------------------------------------------------------------------===//

#include "EpilogueUtils.h"
#include "Layout/Transposition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Transforms/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_SINKTRANSPOSES
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// `values` of the transposed tensor's dimensions, in the source's order.
template <typename T>
static SmallVector<T> reorder(ArrayRef<T> values, AffineMap map) {
  SmallVector<T> ordered;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    ordered.push_back(values[map.getDimPosition(dim)]);
  return ordered;
}

/// An empty tensor of the extents of `like` in the source's order.
static Value makeEmpty(OpBuilder &b, Location loc, Value like, AffineMap map) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, like);
  return tensor::EmptyOp::create(b, loc, reorder<OpFoldResult>(sizes, map),
                                 getElementTypeOrSelf(like));
}

/// The destination `init` in the source's order: one that is not read, or that
/// one number fills. Null for any other.
static Value makeInit(OpBuilder &b, Location loc, Value init, AffineMap map) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(b, loc, fill.getInputs(),
                                  makeEmpty(b, loc, init, map))
        .getResult(0);
  return init.getDefiningOp<tensor::EmptyOp>() ? makeEmpty(b, loc, init, map)
                                               : Value();
}

/// `value`, in the source's order, in that of the transposed tensor `like`.
static Value transposeBack(OpBuilder &b, Location loc, Value value, Value like,
                           AffineMap map) {
  auto type = cast<RankedTensorType>(like.getType());
  Value init = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, like), type.getElementType());
  return linalg::TransposeOp::create(b, loc, value, init, getPermutation(map))
      ->getResult(0);
}

/// A transposition that moves elements.
static std::optional<Transposition> matchMoving(Value tensor) {
  std::optional<Transposition> found = matchTransposition(tensor);
  return found && !found->map.isIdentity() ? found : std::nullopt;
}

/// The same loops, reading `inputs` through `maps`, with results in the
/// source's order: the order of the loops too, sums behind them.
static linalg::GenericOp moveLoops(RewriterBase &b, linalg::GenericOp op,
                                   ValueRange inputs, ArrayRef<AffineMap> maps,
                                   AffineMap order) {
  Location loc = op.getLoc();
  AffineMap written =
      order.compose(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  SmallVector<AffineMap> all(maps);
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (Value init : op.getDpsInits()) {
    inits.push_back(makeInit(b, loc, init, order));
    types.push_back(inits.back().getType());
    all.push_back(written);
  }
  auto moved = linalg::GenericOp::create(b, loc, types, inputs, inits, all,
                                         op.getIteratorTypesArray());
  b.cloneRegionBefore(op.getRegion(), moved.getRegion(),
                      moved.getRegion().end());
  SmallVector<unsigned> loops;
  for (AffineExpr result : written.getResults())
    loops.push_back(cast<AffineDimExpr>(result).getPosition());
  for (unsigned dim = 0; dim < written.getNumDims(); ++dim)
    if (!written.isFunctionOfDim(dim))
      loops.push_back(dim);
  FailureOr<linalg::GenericOp> ordered =
      linalg::interchangeGenericOp(b, moved, loops);
  return succeeded(ordered) ? *ordered : moved;
}

/// Whether all results are written alike, to tensors that nobody reads or that
/// one number fills.
static bool hasFreshResults(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumResults() == 0)
    return false;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (written.getNumResults() < 2 || !written.isProjectedPermutation())
    return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.getMatchingIndexingMap(&init) == written &&
           isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(
               init.get().getDefiningOp());
  });
}

/// Loops, if `value` is computed of no tensor of its rank element by element:
/// broadcasts, what is computed of them, and sums of elements at places that
/// the body finds. They are as well in any order.
static linalg::GenericOp getFreeLoops(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumResults() != 1 || !hasFreshResults(op))
    return nullptr;
  unsigned rank =
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getNumResults();
  if (rank != op.getNumParallelLoops())
    return nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).getNumResults() == rank &&
        (op.getNumReductionLoops() || !getFreeLoops(input->get())))
      return nullptr;
  return op;
}

/// What `getFreeLoops` found, in the source's order.
static Value moveFreeLoops(RewriterBase &b, linalg::GenericOp op,
                           AffineMap order) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    bool isWhole = map.getNumResults() == order.getNumResults();
    inputs.push_back(isWhole
                         ? moveFreeLoops(b, getFreeLoops(input->get()), order)
                         : input->get());
    maps.push_back(isWhole ? order.compose(map) : map);
  }
  return moveLoops(b, op, inputs, maps, order)->getResult(0);
}

namespace {

/// Loops whose results have as many dimensions as what they read of
/// transpositions, all of one order.
struct SinkThroughLoops : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasFreshResults(op) || matchTransposition(op.getOperation()))
      return failure();
    unsigned rank =
        op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getNumResults();
    auto isWhole = [&](OpOperand *input) {
      return op.getMatchingIndexingMap(input).getNumResults() == rank;
    };
    std::optional<AffineMap> order;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isWhole(input))
        continue;
      std::optional<Transposition> found = matchMoving(input->get());
      if (found ? order && *order != found->map : !getFreeLoops(input->get()))
        return failure();
      if (found)
        order = found->map;
    }
    if (!order)
      return failure();
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      Value value = input->get();
      if (isWhole(input)) {
        std::optional<Transposition> found = matchMoving(value);
        value = found ? found->source
                      : moveFreeLoops(rewriter, getFreeLoops(value), *order);
        map = order->compose(map);
      }
      inputs.push_back(value);
      maps.push_back(map);
    }
    auto moved = moveLoops(rewriter, op, inputs, maps, *order);
    SmallVector<Value> results;
    for (auto [result, like] : llvm::zip(moved.getResults(), op.getDpsInits()))
      results.push_back(
          transposeBack(rewriter, op.getLoc(), result, like, *order));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Operations with a name that read a transposition element by element are
/// loops as others.
struct GeneralizeReaders : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp>(op) || !linalg::isElementwise(op) ||
        matchTransposition(op.getOperation()) ||
        llvm::none_of(op.getDpsInputs(),
                      [](Value input) { return matchMoving(input); }))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// Sums over a transposition are over its source, and elements at given places
/// are elements of it.
struct ReadSource : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    bool isChanged = false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap &map = maps[input->getOperandNumber()];
      bool isPlace =
          llvm::any_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>);
      std::optional<Transposition> found = matchMoving(input->get());
      if (!found || !(isPlace || op.getNumReductionLoops()))
        continue;
      isChanged = true;
      map = found->map.compose(map);
      rewriter.modifyOpInPlace(op, [&] { input->set(found->source); });
    }
    if (!isChanged)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return success();
  }
};

/// An element of a transposition is one of its source.
struct ReadElement : public OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Transposition> found = matchMoving(op.getTensor());
    if (!found)
      return failure();
    SmallVector<Value> indices(op.getIndices());
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(
        op, found->source, reorder<Value>(indices, found->map));
    return success();
  }
};

/// Convolutions and gradients of images whose channels come first, of
/// transpositions of such whose channels are last.
template <typename OpTy>
struct SinkThroughConvolution : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    constexpr bool ofFilter = std::is_same_v<OpTy, Conv2DWGradOp>;
    if (op.getLayout() != ImageLayout::NCHW || op.getScheduleAttr())
      return failure();
    SmallVector<Value> images = {op->getOperand(0)};
    if (ofFilter)
      images.push_back(op->getOperand(1));
    AffineMap map;
    SmallVector<Value> sources;
    for (Value image : images) {
      std::optional<Transposition> found = matchMoving(image);
      if (!found || permuteDims(getDims(ImageLayout::NCHW), found->map) !=
                        getDims(ImageLayout::NHWC))
        return failure();
      map = found->map;
      sources.push_back(found->source);
    }
    Value init = op.getInit();
    Value last = ofFilter ? init : makeEmpty(rewriter, op.getLoc(), init, map);
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [number, source] : llvm::enumerate(sources))
        op->setOperand(number, source);
      op.setLayout(ImageLayout::NHWC);
      if (ofFilter)
        return;
      // From the new dimensions of the result to the old ones.
      AffineMap old = inversePermutation(map);
      SmallVector<Attribute> maps;
      for (Attribute extra : op.getEpilogueMaps())
        maps.push_back(AffineMapAttr::get(
            cast<AffineMapAttr>(extra).getValue().compose(old)));
      op.setEpilogueMapsAttr(rewriter.getArrayAttr(maps));
      op.getInitMutable().set(last);
      op.getResult().setType(cast<RankedTensorType>(last.getType()));
    });
    if (ofFilter)
      return success();
    rewriter.setInsertionPointAfter(op);
    Value back =
        transposeBack(rewriter, op.getLoc(), op.getResult(), init, map);
    rewriter.replaceAllUsesExcept(op.getResult(), back, back.getDefiningOp());
    return success();
  }
};

/// A border of one number around a transposition.
struct SinkThroughPad : public OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value number = op.getConstantPaddingValue();
    std::optional<Transposition> found = matchMoving(op.getSource());
    if (!number || !found)
      return failure();
    auto type = op.getResultType();
    auto moved = tensor::PadOp::create(
        rewriter, op.getLoc(),
        RankedTensorType::get(reorder(type.getShape(), found->map),
                              type.getElementType()),
        found->source, reorder<OpFoldResult>(op.getMixedLowPad(), found->map),
        reorder<OpFoldResult>(op.getMixedHighPad(), found->map), number,
        op.getNofold());
    SmallVector<OpFoldResult> sizes;
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (ShapedType::isStatic(extent)) {
        sizes.push_back(rewriter.getIndexAttr(extent));
        continue;
      }
      unsigned place = getPermutation(found->map)[dim];
      sizes.push_back(tensor::DimOp::create(rewriter, op.getLoc(), moved, place)
                          .getResult());
    }
    Value init = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                         type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::TransposeOp>(
        op, moved, init, getPermutation(found->map));
    return success();
  }
};

/// A pooling of images whose channels come first.
template <typename First, typename Last>
struct SinkThroughPooling : public OpRewritePattern<First> {
  using OpRewritePattern<First>::OpRewritePattern;

  LogicalResult matchAndRewrite(First op,
                                PatternRewriter &rewriter) const override {
    std::optional<Transposition> found = matchMoving(op.getInputs()[0]);
    if (!op.hasPureTensorSemantics() || !found ||
        permuteDims(getDims(ImageLayout::NCHW), found->map) !=
            getDims(ImageLayout::NHWC))
      return failure();
    Value init = op.getOutputs()[0];
    Value last = makeInit(rewriter, op.getLoc(), init, found->map);
    if (!last)
      return failure();
    auto moved = Last::create(rewriter, op.getLoc(), TypeRange(last.getType()),
                              ValueRange{found->source, op.getInputs()[1]},
                              ValueRange(last), op.getStridesAttr(),
                              op.getDilationsAttr());
    rewriter.replaceOp(op,
                       transposeBack(rewriter, op.getLoc(), moved->getResult(0),
                                     init, found->map));
    return success();
  }
};

struct SinkTransposesPass
    : public mlir::tracea::impl::SinkTransposesBase<SinkTransposesPass> {
  using SinkTransposesBase::SinkTransposesBase;

  void runOnOperation() override;
};

} // namespace

/// Elements that the transpositions of a function move; each of unknown extents
/// counts as large.
static double countMoved(func::FuncOp function) {
  double count = 0;
  function.walk([&](linalg::LinalgOp op) {
    std::optional<Transposition> found = matchTransposition(op.getOperation());
    if (!found || found->map.isIdentity())
      return;
    constexpr int64_t kUnknown = 1024;
    double elements = 1;
    for (int64_t extent :
         cast<RankedTensorType>(found->source.getType()).getShape())
      elements *=
          static_cast<double>(ShapedType::isStatic(extent) ? extent : kUnknown);
    count += elements;
  });
  return count;
}

void SinkTransposesPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || countMoved(function) == 0)
    return;
  MLIRContext *context = &getContext();
  auto tryOut = [&](bool sinks) -> OwningOpRef<func::FuncOp> {
    OwningOpRef<func::FuncOp> tried(function.clone());
    RewritePatternSet patterns(context);
    populatePropagateTransposesPatterns(patterns, [] {});
    if (sinks) {
      patterns.add<SinkThroughLoops, GeneralizeReaders, ReadSource, ReadElement,
                   SinkThroughConvolution<Conv2DOp>,
                   SinkThroughConvolution<Conv2DDGradOp>,
                   SinkThroughConvolution<Conv2DWGradOp>, SinkThroughPad,
                   SinkThroughPooling<linalg::PoolingNchwMaxOp,
                                      linalg::PoolingNhwcMaxOp>,
                   SinkThroughPooling<linalg::PoolingNchwSumOp,
                                      linalg::PoolingNhwcSumOp>>(context);
      // Extents are of sources then, and shapes of casts known.
      tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
      tensor::CastOp::getCanonicalizationPatterns(patterns, context);
    }
    if (failed(applyPatternsGreedily(*tried, std::move(patterns))))
      return nullptr;
    return tried;
  };
  OwningOpRef<func::FuncOp> left = tryOut(/*sinks=*/false),
                            sunk = tryOut(/*sinks=*/true);
  if (!left || !sunk)
    return signalPassFailure();
  double before = countMoved(*left), after = countMoved(*sunk);
  if (after >= before)
    return;
  ++numFunctions;
  function.getBody().takeBody(sunk->getBody());
}
