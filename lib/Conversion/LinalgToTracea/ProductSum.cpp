//===- ProductSum.cpp - Sums of products in linalg ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

TypeAttr ProductSum::getAccumulatorAttr() const {
  Type element = getElementTypeOrSelf(lhs.getType());
  if (accumulator == getDefaultAccumulatorType(element))
    return TypeAttr();
  return TypeAttr::get(accumulator);
}

void ProductSum::swap() {
  std::swap(lhs, rhs);
  std::swap(lhsMap, rhsMap);
}

Type mlir::tracea::chooseAccumulator(Type element, Type sum,
                                     const RaisingOptions &options) {
  Type accumulator = sum;
  if (options.widenAccumulators && (sum.isF16() || sum.isBF16()))
    accumulator = Float32Type::get(sum.getContext());
  return isValidAccumulator(element, accumulator) ? accumulator : Type();
}

/// The block argument that `factor` is, or is the lossless conversion of.
static BlockArgument getFactor(Value factor) {
  if (arith::ExtFOp extension = factor.getDefiningOp<arith::ExtFOp>())
    factor = extension.getIn();
  else if (arith::ExtSIOp extension = factor.getDefiningOp<arith::ExtSIOp>())
    factor = extension.getIn();
  return dyn_cast<BlockArgument>(factor);
}

FailureOr<ProductSum>
mlir::tracea::matchProductSum(RewriterBase &rewriter, linalg::LinalgOp op,
                              const RaisingOptions &options) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1)
    return rewriter.notifyMatchFailure(op, "not two tensors into one");

  // yield(acc + cast(a) * cast(b)), each operation in either order.
  Block *body = op.getBlock();
  BlockArgument sum = body->getArgument(2);
  Operation *addition = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_present<arith::AddFOp, arith::AddIOp>(addition))
    return rewriter.notifyMatchFailure(op, "the body does not yield a sum");
  Value term;
  if (addition->getOperand(0) == sum)
    term = addition->getOperand(1);
  else if (addition->getOperand(1) == sum)
    term = addition->getOperand(0);
  else
    return rewriter.notifyMatchFailure(op, "the accumulator is not a summand");
  Operation *product = term.getDefiningOp();
  if (!isa_and_present<arith::MulFOp, arith::MulIOp>(product))
    return rewriter.notifyMatchFailure(op, "the summand is not a product");
  BlockArgument first = getFactor(product->getOperand(0));
  BlockArgument second = getFactor(product->getOperand(1));
  if (!first || !second || first.getOwner() != body ||
      second.getOwner() != body ||
      first.getArgNumber() + second.getArgNumber() != 1)
    return rewriter.notifyMatchFailure(op, "the factors are not the inputs");

  ProductSum match;
  match.lhs = op.getDpsInputOperand(0)->get();
  match.rhs = op.getDpsInputOperand(1)->get();
  match.init = op.getDpsInitOperand(0)->get();
  match.lhsMap = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  match.rhsMap = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  match.resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!isa<RankedTensorType>(match.lhs.getType()) ||
      !isa<RankedTensorType>(match.rhs.getType()))
    return rewriter.notifyMatchFailure(op, "an input is not a tensor");
  Type element = getElementTypeOrSelf(match.lhs.getType());
  if (element != getElementTypeOrSelf(match.rhs.getType()))
    return rewriter.notifyMatchFailure(op, "the inputs' types differ");
  match.accumulator = chooseAccumulator(element, sum.getType(), options);
  if (!match.accumulator)
    return rewriter.notifyMatchFailure(op, "the sum's type is no accumulator");
  return match;
}

//===----------------------------------------------------------------------===//
// Start of the sum
//===----------------------------------------------------------------------===//

bool mlir::tracea::isZero(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return false;
  if (SplatElementsAttr splat = dyn_cast<SplatElementsAttr>(constant))
    constant = splat.getSplatValue<Attribute>();
  if (FloatAttr number = dyn_cast<FloatAttr>(constant))
    return number.getValue().isPosZero();
  if (IntegerAttr number = dyn_cast<IntegerAttr>(constant))
    return number.getValue().isZero();
  return false;
}

/// An empty tensor of the shape and type of `tensor`.
static Value createEmptyLike(RewriterBase &rewriter, Location loc,
                             Value tensor) {
  return tensor::EmptyOp::create(rewriter, loc,
                                 tensor::getMixedSizes(rewriter, loc, tensor),
                                 getElementTypeOrSelf(tensor.getType()));
}

/// Whether `op` only copies elements of its one input to other places.
static bool isBroadcastOrTranspose(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops())
    return false;
  OpOperand *input = op.getDpsInputOperand(0);
  return isa<RankedTensorType>(input->get().getType()) &&
         op.getMatchingIndexingMap(input).isProjectedPermutation() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         op.getBlock()->getTerminator()->getOperand(0) ==
             op.getBlock()->getArgument(0);
}

SumStart mlir::tracea::matchSumStart(RewriterBase &rewriter, Location loc,
                                     Value init, bool readThroughBroadcasts) {
  SumStart start;
  if (linalg::FillOp fill = init.getDefiningOp<linalg::FillOp>();
      fill && isZero(fill.value())) {
    start.destination = fill.output();
    return start;
  }
  start.destination = createEmptyLike(rewriter, loc, init);
  if (isZero(init))
    return start;
  start.addend = init;
  start.addendMap = rewriter.getMultiDimIdentityMap(
      cast<RankedTensorType>(init.getType()).getRank());
  linalg::LinalgOp producer = init.getDefiningOp<linalg::LinalgOp>();
  if (readThroughBroadcasts && producer && isBroadcastOrTranspose(producer)) {
    start.addend = producer.getDpsInputOperand(0)->get();
    start.addendMap =
        producer.getMatchingIndexingMap(producer.getDpsInputOperand(0));
  }
  return start;
}

void mlir::tracea::addStart(RewriterBase &rewriter, EpilogueOpInterface op,
                            const SumStart &start) {
  if (!start.addend)
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = op.getLoc();
  Block &block = getOrCreateEpilogue(rewriter, op);
  BlockArgument sum = block.getArgument(0);
  BlockArgument addend = appendEpilogueExtra(op, start.addend, start.addendMap);
  rewriter.setInsertionPointToStart(&block);
  Value wide = convertScalar(rewriter, loc, addend, sum.getType());
  Operation *total;
  if (isa<FloatType>(sum.getType()))
    total = arith::AddFOp::create(rewriter, loc, sum, wide);
  else
    total = arith::AddIOp::create(rewriter, loc, sum, wide);
  rewriter.replaceAllUsesExcept(sum, total->getResult(0), total);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// One group per dimension of the smaller shape; `position` and the next one of
/// the larger share a group.
static SmallVector<ReassociationIndices> pairAt(int64_t largerRank,
                                                int64_t position) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < largerRank; ++dim) {
    if (dim == position + 1)
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  }
  return groups;
}

Value mlir::tracea::insertUnitDim(RewriterBase &rewriter, Location loc,
                                  Value tensor, unsigned position) {
  RankedTensorType type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + position, 1);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, tensor);
  sizes.insert(sizes.begin() + position, rewriter.getIndexAttr(1));
  int64_t pair = position == 0 ? 0 : position - 1;
  return tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      tensor, pairAt(shape.size(), pair), sizes);
}

Value mlir::tracea::mergeDims(RewriterBase &rewriter, Location loc,
                              Value tensor, unsigned position) {
  return tensor::CollapseShapeOp::create(
      rewriter, loc, tensor,
      pairAt(cast<RankedTensorType>(tensor.getType()).getRank(), position));
}

Value mlir::tracea::reshapeLike(RewriterBase &rewriter, Location loc,
                                Value tensor, Value like, unsigned position) {
  RankedTensorType from = cast<RankedTensorType>(tensor.getType());
  RankedTensorType to = cast<RankedTensorType>(like.getType());
  if (from.getRank() > to.getRank())
    return tensor::CollapseShapeOp::create(
        rewriter, loc, to, tensor,
        pairAt(from.getRank(), position == 0 ? 0 : position - 1));
  return tensor::ExpandShapeOp::create(
      rewriter, loc, to, tensor, pairAt(to.getRank(), position),
      tensor::getMixedSizes(rewriter, loc, like));
}

void mlir::tracea::replaceAndClean(RewriterBase &rewriter, linalg::LinalgOp op,
                                   Value value) {
  SmallVector<Operation *> producers;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && !llvm::is_contained(producers, producer))
      producers.push_back(producer);
  rewriter.replaceOp(op, value);
  for (Operation *producer : producers)
    if (isOpTriviallyDead(producer))
      rewriter.eraseOp(producer);
}
