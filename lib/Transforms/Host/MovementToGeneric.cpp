//===- MovementToGeneric.cpp - Pads and joins as one loop over the result -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MovementToGeneric.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

using namespace mlir;

namespace {
struct PadToGeneric : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp pad,
                                PatternRewriter &rewriter) const override;
};

struct PadIntoWindow : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override;
};

struct ConcatToGeneric : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp concat,
                                PatternRewriter &rewriter) const override;
};
} // namespace

/// What is inserted into memory that has to be made anyway.
struct InsertToGeneric : OpRewritePattern<tensor::InsertSliceOp> {
  InsertToGeneric(MLIRContext *context, bool onlyStrided)
      : OpRewritePattern(context), onlyStrided(onlyStrided) {}
  LogicalResult matchAndRewrite(tensor::InsertSliceOp insert,
                                PatternRewriter &rewriter) const override;

private:
  bool onlyStrided;
};

/// Replaces `op` by a loop over its result, of extents `shape`, whose elements
/// `build` computes.
static LogicalResult
replaceByLoop(PatternRewriter &rewriter, Operation *op,
              ArrayRef<OpFoldResult> shape,
              function_ref<Value(OpBuilder &, ArrayRef<Value>)> build) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value init =
      tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
  auto generic = linalg::GenericOp::create(
      rewriter, loc, init.getType(), ValueRange(), ValueRange(init),
      ArrayRef(rewriter.getMultiDimIdentityMap(type.getRank())),
      SmallVector<utils::IteratorType>(type.getRank(),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        SmallVector<Value> place;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          place.push_back(linalg::IndexOp::create(b, loc, dim));
        linalg::YieldOp::create(b, loc, build(b, place));
      });
  Value result = generic.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(rewriter, loc, type, result);
  rewriter.replaceOp(op, result);
  return success();
}

/// The element of the result at `place`.
static Value buildElement(OpBuilder &b, tensor::PadOp pad,
                          ArrayRef<OpFoldResult> extents,
                          ArrayRef<Value> place) {
  Location loc = pad.getLoc();
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(),
                            high = pad.getMixedHighPad();
  Value isInside;
  auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
    isInside =
        isInside ? arith::AndIOp::create(b, loc, isInside, holds) : holds;
  };
  SmallVector<Value> source(place);
  for (auto [dim, index] : llvm::enumerate(source)) {
    if (!isZeroInteger(low[dim])) {
      Value before = getValueOrCreateConstantIndexOp(b, loc, low[dim]);
      require(arith::CmpIPredicate::sge, index, before);
      index = arith::SubIOp::create(b, loc, index, before);
    }
    if (!isZeroInteger(low[dim]) || !isZeroInteger(high[dim]))
      require(arith::CmpIPredicate::slt, index,
              getValueOrCreateConstantIndexOp(b, loc, extents[dim]));
  }
  if (!isInside)
    return tensor::ExtractOp::create(b, loc, pad.getSource(), source);
  auto choice = scf::IfOp::create(
      b, loc, isInside,
      [&](OpBuilder &b, Location loc) {
        Value element =
            tensor::ExtractOp::create(b, loc, pad.getSource(), source);
        scf::YieldOp::create(b, loc, element);
      },
      [&](OpBuilder &b, Location loc) {
        IRMapping mapping;
        mapping.map(pad.getBody()->getArguments(), place);
        for (Operation &op : pad.getBody()->without_terminator())
          b.clone(op, mapping);
        auto yield = cast<tensor::YieldOp>(pad.getBody()->getTerminator());
        scf::YieldOp::create(b, loc, mapping.lookupOrDefault(yield.getValue()));
      });
  return choice.getResult(0);
}

LogicalResult PadToGeneric::matchAndRewrite(tensor::PadOp pad,
                                            PatternRewriter &rewriter) const {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(rewriter, pad, shapes)))
    return failure();
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(rewriter, pad.getLoc(), pad.getSource());
  return replaceByLoop(rewriter, pad, shapes.front(),
                       [&](OpBuilder &b, ArrayRef<Value> place) {
                         return buildElement(b, pad, extents, place);
                       });
}

/// The operand that is a border around a tensor and nobody else's, read through
/// windows, of which nothing but the extents of others is asked; null where
/// there is none. Where only the run knows an extent the index is one loop's.
static OpOperand *getPaddedWindow(linalg::LinalgOp op) {
  OpOperand *found = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.payloadUsesValueFromOperand(input))
      continue;
    if (found)
      return nullptr;
    found = input;
  }
  auto pad = found ? found->get().getDefiningOp<tensor::PadOp>() : nullptr;
  AffineMap map = found ? op.getMatchingIndexingMap(found) : AffineMap();
  if (!pad || !pad->hasOneUse() || map.isProjectedPermutation())
    return nullptr;
  auto yield = cast<tensor::YieldOp>(pad.getBody()->getTerminator());
  if (yield.getValue().getParentBlock() == pad.getBody())
    return nullptr;
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (pad.getResultType().isDynamicDim(dim) && !isa<AffineDimExpr>(expr))
      return nullptr;
  // Others have all loops.
  SmallVector<AffineMap> others;
  for (OpOperand &operand : op->getOpOperands())
    if (&operand != found)
      others.push_back(op.getMatchingIndexingMap(&operand));
  return inversePermutation(concatAffineMaps(others, op->getContext()))
             ? found
             : nullptr;
}

/// Indices that only the run bounds have no border, and are those of the result
/// as well. The extents are asked of what is padded, which stays.
static bool checkOpenExtents(PatternRewriter &rewriter, linalg::LinalgOp op,
                             OpOperand *padded) {
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(padded),
            written = op.getMatchingIndexingMap(init);
  auto pad = padded->get().getDefiningOp<tensor::PadOp>();
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (!pad.getResultType().isDynamicDim(dim))
      continue;
    std::optional<unsigned> position = written.getResultPosition(expr);
    if (!position || !isZeroInteger(pad.getMixedLowPad()[dim]) ||
        !isZeroInteger(pad.getMixedHighPad()[dim]))
      return false;
    pairs.push_back({dim, *position});
  }
  for (auto [dim, position] : pairs)
    mlir::tracea::emitExtentCheck(rewriter, op, pad.getSource(), dim,
                                  init->get(), position,
                                  "a result as long as its operand");
  return true;
}

LogicalResult PadIntoWindow::matchAndRewrite(linalg::LinalgOp op,
                                             PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1)
    return failure();
  OpOperand *padded = getPaddedWindow(op);
  if (!padded || !checkOpenExtents(rewriter, op, padded))
    return failure();
  auto pad = padded->get().getDefiningOp<tensor::PadOp>();
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(rewriter, pad.getLoc(), pad.getSource());
  AffineMap map = op.getMatchingIndexingMap(padded);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    if (&operand == padded)
      continue;
    if (!op.isDpsInit(&operand))
      inputs.push_back(operand.get());
    maps.push_back(op.getMatchingIndexingMap(&operand));
  }
  BlockArgument element = op.getMatchingBlockArgument(padded);
  auto generic = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
      maps, op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<OpFoldResult> loops;
        for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
          loops.push_back(linalg::IndexOp::create(b, loc, loop).getResult());
        SmallVector<Value> place;
        for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
          place.push_back(getValueOrCreateConstantIndexOp(
              b, loc,
              affine::makeComposedFoldedAffineApply(
                  b, loc, map.getSubMap({dim}), loops)));
        IRMapping mapping;
        mapping.map(element, buildElement(b, pad, extents, place));
        unsigned next = 0;
        for (BlockArgument argument : op.getBlock()->getArguments())
          if (argument != element)
            mapping.map(argument, arguments[next++]);
        for (Operation &inner : op.getBlock()->getOperations())
          b.clone(inner, mapping);
      });
  rewriter.replaceOp(op, generic);
  return success();
}

/// The element at `place` of the operands from `number` on.
static Value buildElement(OpBuilder &b, tensor::ConcatOp concat,
                          ArrayRef<OpFoldResult> extents, unsigned number,
                          ArrayRef<Value> place) {
  Location loc = concat.getLoc();
  auto extract = [&](OpBuilder &b) -> Value {
    return tensor::ExtractOp::create(b, loc, concat.getInputs()[number], place);
  };
  if (number + 1 == extents.size())
    return extract(b);
  Value index = place[concat.getDim()];
  Value extent = getValueOrCreateConstantIndexOp(b, loc, extents[number]);
  Value isHere =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, extent);
  auto choice = scf::IfOp::create(
      b, loc, isHere,
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, extract(b));
      },
      [&](OpBuilder &b, Location loc) {
        SmallVector<Value> behind(place);
        behind[concat.getDim()] = arith::SubIOp::create(b, loc, index, extent);
        scf::YieldOp::create(
            b, loc, buildElement(b, concat, extents, number + 1, behind));
      });
  return choice.getResult(0);
}

LogicalResult
ConcatToGeneric::matchAndRewrite(tensor::ConcatOp concat,
                                 PatternRewriter &rewriter) const {
  // What lies in one piece is copied as such.
  ArrayRef<int64_t> outer =
      concat.getResultType().getShape().take_front(concat.getDim());
  ReifiedRankedShapedTypeDims shapes;
  if (llvm::all_of(outer, [](int64_t extent) { return extent == 1; }) ||
      failed(reifyResultShapes(rewriter, concat, shapes)))
    return failure();
  SmallVector<OpFoldResult> extents;
  for (Value input : concat.getInputs())
    extents.push_back(tensor::getMixedSize(rewriter, concat.getLoc(), input,
                                           concat.getDim()));
  return replaceByLoop(rewriter, concat, shapes.front(),
                       [&](OpBuilder &b, ArrayRef<Value> place) {
                         return buildElement(b, concat, extents, 0, place);
                       });
}

/// So many insertions behind each other are one loop.
static constexpr unsigned kMostInsertions = 16;

/// Whether each place of the window is known, but for how far it reaches along
/// dimensions that begin where the destination does.
static bool isPlain(tensor::InsertSliceOp insert) {
  for (auto [offset, size, stride] :
       llvm::zip_equal(insert.getMixedOffsets(), insert.getMixedSizes(),
                       insert.getMixedStrides()))
    if (!getConstantIntValue(offset) ||
        getConstantIntValue(stride).value_or(0) < 1 ||
        (!getConstantIntValue(size) &&
         !(isZeroInteger(offset) && isOneInteger(stride))))
      return false;
  return true;
}

/// The insertions that make `tensor` out of one that bufferization would write
/// or copy whole, the last one first; none where it is another.
static SmallVector<tensor::InsertSliceOp> getInsertions(Value tensor) {
  SmallVector<tensor::InsertSliceOp> insertions;
  while (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!isPlain(insert) || insertions.size() == kMostInsertions ||
        (!insertions.empty() && !insert->hasOneUse()))
      return {};
    insertions.push_back(insert);
    tensor = insert.getDest();
  }
  auto argument = dyn_cast<BlockArgument>(tensor);
  bool isGiven =
      argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  if (isGiven || tensor.getDefiningOp<linalg::FillOp>() ||
      matchPattern(tensor, m_Constant()))
    return insertions;
  return {};
}

/// The element at `place` of what was there before all insertions.
static Value buildElement(OpBuilder &b, Location loc, Value tensor,
                          ArrayRef<Value> place) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getInputs().front();
  return tensor::ExtractOp::create(b, loc, tensor, place);
}

/// The element at `place` behind `insertions`, the last one first.
static Value buildElement(OpBuilder &b, Location loc,
                          ArrayRef<tensor::InsertSliceOp> insertions,
                          ArrayRef<Value> place, Value tensor) {
  if (insertions.empty())
    return buildElement(b, loc, tensor, place);
  tensor::InsertSliceOp insert = insertions.front();
  RankedTensorType type = insert.getDestType();
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  Value isInside, zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
    isInside =
        isInside ? arith::AndIOp::create(b, loc, isInside, holds) : holds;
  };
  SmallVector<Value> source;
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(insert.getMixedOffsets(), insert.getMixedSizes(),
                       insert.getMixedStrides())) {
    Value index = place[dim];
    bool isWhole = isZeroInteger(offset) && isOneInteger(stride) &&
                   getConstantIntValue(size) == type.getDimSize(dim);
    if (!isZeroInteger(offset)) {
      Value before = getValueOrCreateConstantIndexOp(b, loc, offset);
      require(arith::CmpIPredicate::sge, index, before);
      index = arith::SubIOp::create(b, loc, index, before);
    }
    if (!isOneInteger(stride)) {
      // What is before the window is divided, too.
      AffineExpr number = b.getAffineDimExpr(0);
      int64_t step = *getConstantIntValue(stride);
      require(arith::CmpIPredicate::eq,
              affine::AffineApplyOp::create(b, loc, number % step, index),
              zero);
      index =
          affine::AffineApplyOp::create(b, loc, number.floorDiv(step), index);
    }
    if (!isWhole)
      require(arith::CmpIPredicate::slt, index,
              getValueOrCreateConstantIndexOp(b, loc, size));
    if (!dropped.test(dim))
      source.push_back(index);
  }
  auto extract = [&](OpBuilder &b) -> Value {
    return tensor::ExtractOp::create(b, loc, insert.getSource(), source);
  };
  if (!isInside)
    return extract(b);
  auto choice = scf::IfOp::create(
      b, loc, isInside,
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, extract(b));
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(
            b, loc,
            buildElement(b, loc, insertions.drop_front(), place, tensor));
      });
  return choice.getResult(0);
}

/// Along dimensions whose sizes the run knows the source is as long as the
/// window, which ends in the destination, `dest` or one as large.
static void emitExtentChecks(OpBuilder &b, tensor::InsertSliceOp insert,
                             Value dest) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(insert);
  Location loc = insert.getLoc();
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  int64_t sourceDim = 0;
  for (auto [dim, size] : llvm::enumerate(insert.getMixedSizes())) {
    int64_t from = dropped.test(dim) ? -1 : sourceDim++;
    Value end = dyn_cast<Value>(size);
    if (end && from >= 0)
      mlir::tracea::emitEqualityCheck(
          b, insert,
          b.createOrFold<tensor::DimOp>(loc, insert.getSource(), from), end,
          "a source as long as its window");
    if (!end &&
        (!insert.getDestType().isDynamicDim(dim) || isZeroInteger(size)))
      continue;
    if (!end)
      end = arith::ConstantIndexOp::create(b, loc,
                                           insert.getStaticOffset(dim) +
                                               (insert.getStaticSize(dim) - 1) *
                                                   insert.getStaticStride(dim) +
                                               1);
    Value extent = b.createOrFold<tensor::DimOp>(loc, dest, dim);
    if (extent == end)
      continue;
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, end, extent);
    cf::AssertOp::create(b, loc, isInside,
                         "tensor.insert_slice: expected a window that ends in "
                         "the destination");
  }
}

/// Whether what is inserted is a launch's result that was stored at its place
/// already, so that nothing is left to move.
static bool isStoredInPlace(tensor::InsertSliceOp insert) {
  auto result = dyn_cast<OpResult>(insert.getSource());
  auto launch = result
                    ? dyn_cast<mlir::tracea_pipe::LaunchOp>(result.getOwner())
                    : nullptr;
  if (!launch)
    return false;
  auto window = launch.getInits()[result.getResultNumber()]
                    .getDefiningOp<tensor::ExtractSliceOp>();
  return window && window.getSource() == insert.getDest() &&
         window.isSameAs(insert, [](OpFoldResult a, OpFoldResult b) {
           return isEqualConstantIntOrValue(a, b);
         });
}

LogicalResult
InsertToGeneric::matchAndRewrite(tensor::InsertSliceOp insert,
                                 PatternRewriter &rewriter) const {
  if (isStoredInPlace(insert))
    return failure();
  // The last one is a loop for all before it.
  if (insert->hasOneUse())
    if (auto next = dyn_cast<tensor::InsertSliceOp>(*insert->user_begin());
        next && next.getDest() == insert.getResult() &&
        !getInsertions(next).empty())
      return failure();
  SmallVector<tensor::InsertSliceOp> insertions = getInsertions(insert);
  auto isStrided = [](tensor::InsertSliceOp some) {
    return !llvm::all_of(some.getMixedStrides(), isOneInteger);
  };
  if (insertions.empty() ||
      (onlyStrided && llvm::none_of(insertions, isStrided)))
    return failure();
  // Not asked of the insertions, which would stay for it.
  Value dest = insertions.back().getDest();
  for (tensor::InsertSliceOp some : insertions)
    emitExtentChecks(rewriter, some, dest);
  return replaceByLoop(
      rewriter, insert, tensor::getMixedSizes(rewriter, insert.getLoc(), dest),
      [&](OpBuilder &b, ArrayRef<Value> place) {
        return buildElement(b, insert.getLoc(), insertions, place, dest);
      });
}

void mlir::tracea::populatePadToGenericPatterns(RewritePatternSet &patterns) {
  patterns.add<PadToGeneric>(patterns.getContext());
}

void mlir::tracea::populatePadIntoWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<PadIntoWindow>(patterns.getContext());
}

void mlir::tracea::populateConcatToGenericPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ConcatToGeneric>(patterns.getContext(), /*benefit=*/2);
}

void mlir::tracea::populateInsertToGenericPatterns(RewritePatternSet &patterns,
                                                   bool onlyStrided) {
  patterns.add<InsertToGeneric>(patterns.getContext(), onlyStrided);
}
