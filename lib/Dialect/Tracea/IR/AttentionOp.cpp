//===- AttentionOp.cpp - Scaled dot-product attention ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verification.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tracea;

MutableOperandRange AttentionOp::getDpsInitsMutable() {
  // The two destinations are neighbours; the second is optional.
  unsigned start = getInitMutable().getOperandNumber();
  return MutableOperandRange(getOperation(), start, getLseInit() ? 2 : 1);
}

Type mlir::tracea::detail::getAccumulatorOf(std::optional<Type> given,
                                            Value operand) {
  return given ? *given
               : getDefaultAccumulatorType(
                     getElementTypeOrSelf(operand.getType()));
}

std::optional<double>
mlir::tracea::detail::getAttentionScale(std::optional<APFloat> given,
                                        Value query, Value key) {
  if (given)
    return given->convertToDouble();
  int64_t depth = cast<RankedTensorType>(query.getType()).getDimSize(3);
  if (ShapedType::isDynamic(depth))
    depth = cast<RankedTensorType>(key.getType()).getDimSize(3);
  if (ShapedType::isDynamic(depth))
    return std::nullopt;
  return 1.0 / std::sqrt(static_cast<double>(depth));
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// ceil(extent / block), or dynamic.
static int64_t countBlocks(int64_t extent, int64_t block) {
  return ShapedType::isDynamic(extent) ? extent
                                       : llvm::divideCeilSigned(extent, block);
}

static LogicalResult verifyMasks(AttentionOpInterface op) {
  if (std::optional<ArrayRef<int64_t>> window = op.getWindow();
      window && window->size() != 2)
    return op->emitOpError("expected 2 entries in 'window', found ")
           << window->size();
  if (!op.getBlockMask()) {
    if (op.getBlockSize())
      return op->emitOpError("expected no 'block_size' without a block mask");
    return success();
  }
  if (!op.getBlockSize())
    return op->emitOpError("expected 'block_size' with a block mask");
  ArrayRef<int64_t> block = *op.getBlockSize();
  if (failed(verifyEntries(op, "block_size", block, 2, 1)))
    return failure();

  RankedTensorType mask = cast<RankedTensorType>(op.getBlockMask().getType());
  RankedTensorType query = cast<RankedTensorType>(op.getQuery().getType());
  RankedTensorType key = cast<RankedTensorType>(op.getKey().getType());
  if (failed(verifyRank(op, "the block mask", mask, 4)))
    return failure();
  if (!mask.getElementType().isSignlessInteger(1))
    return op->emitOpError("expected a block mask of i1, found ")
           << mask.getElementType();
  for (int64_t dim : {0, 1})
    if (mask.getDimSize(dim) != 1 &&
        !areCompatibleExtents(mask.getDimSize(dim), query.getDimSize(dim)))
      return op->emitOpError("expected dimension ")
             << dim << " of the block mask to be 1 or " << query.getDimSize(dim)
             << ", found " << mask.getDimSize(dim);
  if (failed(verifyExtent(op, "rows", "the query in blocks",
                          countBlocks(query.getDimSize(2), block[0]),
                          "the block mask", mask.getDimSize(2))) ||
      failed(verifyExtent(op, "columns", "the key in blocks",
                          countBlocks(key.getDimSize(2), block[1]),
                          "the block mask", mask.getDimSize(3))))
    return failure();
  return success();
}

/// Of each batch, how many keys there are.
static LogicalResult verifyLengths(AttentionOpInterface op) {
  if (!op.getLengths())
    return success();
  auto lengths = cast<RankedTensorType>(op.getLengths().getType());
  if (failed(verifyRank(op, "the lengths", lengths, 1)))
    return failure();
  if (!lengths.getElementType().isSignlessInteger(32) &&
      !lengths.getElementType().isSignlessInteger(64))
    return op->emitOpError("expected lengths of i32 or i64, found ")
           << lengths.getElementType();
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  return verifyExtent(op, "batch", "the query", query.getDimSize(0),
                      "the lengths", lengths.getDimSize(0));
}

static LogicalResult verifyResults(AttentionOp op) {
  RankedTensorType query = cast<RankedTensorType>(op.getQuery().getType());
  RankedTensorType value = cast<RankedTensorType>(op.getValue().getType());
  RankedTensorType init = cast<RankedTensorType>(op.getInit().getType());
  Type accumulator = op.getAccumulatorType();
  if (!isImplicitlyConvertible(accumulator, init.getElementType()))
    return op.emitOpError("expected a result that an accumulator of type ")
           << accumulator << " converts to, found " << init.getElementType();
  if (failed(verifySameShape(op, "the query", query.getShape().drop_back(),
                             "the result", init.getShape().drop_back())) ||
      failed(verifyExtent(op, "dimension 3", "the value", value.getDimSize(3),
                          "the result", init.getDimSize(3))))
    return failure();

  // The types of results and destinations are tied by the destination style.
  if (!op.getLseInit() != !op.getLse())
    return op.emitOpError("expected a log-sum-exp result if and only if there "
                          "is a destination for it");
  if (!op.getLseInit())
    return success();
  RankedTensorType lse = cast<RankedTensorType>(op.getLseInit().getType());
  if (!lse.getElementType().isF32() && lse.getElementType() != accumulator)
    return op.emitOpError("expected log-sum-exp of type f32 or that of the "
                          "accumulator, ")
           << accumulator << ", found " << lse.getElementType();
  if (failed(verifyRank(op, "log-sum-exp", lse, 3)))
    return failure();
  return verifySameShape(op, "the query", query.getShape().drop_back(),
                         "log-sum-exp", lse.getShape());
}

LogicalResult mlir::tracea::verifyAttention(AttentionOpInterface op) {
  RankedTensorType query = cast<RankedTensorType>(op.getQuery().getType());
  RankedTensorType key = cast<RankedTensorType>(op.getKey().getType());
  RankedTensorType value = cast<RankedTensorType>(op.getValue().getType());
  if (failed(verifyRank(op, "the query", query, 4)) ||
      failed(verifyRank(op, "the key", key, 4)) ||
      failed(verifyRank(op, "the value", value, 4)))
    return failure();

  Type element = query.getElementType();
  if (failed(verifyFloat(op, "the query", element)))
    return failure();
  if (key.getElementType() != element || value.getElementType() != element)
    return op->emitOpError("expected key and value to have elements of type ")
           << element << " as the query has, found " << key.getElementType()
           << " and " << value.getElementType();
  if (failed(verifyAccumulator(op, element, op.getAccumulatorType())))
    return failure();
  if (std::optional<APFloat> scale = op.getScale(); scale && !scale->isFinite())
    return op->emitOpError("expected a finite 'scale', found ")
           << (scale->isNaN() ? "nan" : "infinity");

  if (failed(verifyExtent(op, "batch", "the query", query.getDimSize(0),
                          "the key", key.getDimSize(0))) ||
      failed(verifyExtent(op, "depth", "the query", query.getDimSize(3),
                          "the key", key.getDimSize(3))) ||
      failed(verifySameShape(op, "the key", key.getShape().drop_back(),
                             "the value", value.getShape().drop_back())))
    return failure();

  int64_t heads = query.getDimSize(1), groups = key.getDimSize(1);
  if (ShapedType::isStatic(heads) && ShapedType::isStatic(groups) &&
      (groups == 0 ? heads != 0 : heads % groups != 0))
    return op->emitOpError("expected the heads of the key to divide the ")
           << heads << " heads of the query, found " << groups;

  if (failed(verifyMasks(op)))
    return failure();
  return verifyLengths(op);
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyRank(*this, "the result", getInit().getType(), 4)) ||
      failed(verifyAttention(*this)))
    return failure();
  return verifyResults(*this);
}
