//===- BorderTaps.cpp - Taps that see nothing of the image ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BorderTaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/Constants.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// `count` if all elements of `tensor` are finite, else 0: the least of what
/// each element says.
static Value countIfFinite(OpBuilder &b, Location loc, Value tensor,
                           int64_t count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value all =
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(count)).getResult();
  Value none =
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0)).getResult();
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  Value empty =
      tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{}, b.getI32Type());
  Value start = linalg::FillOp::create(b, loc, all, empty).getResult(0);
  AffineMap maps[] = {b.getMultiDimIdentityMap(type.getRank()),
                      AffineMap::get(type.getRank(), 0, ArrayRef<AffineExpr>{},
                                     b.getContext())};
  return linalg::GenericOp::create(
             b, loc, start.getType(), tensor, start, maps,
             SmallVector<utils::IteratorType>(type.getRank(),
                                              utils::IteratorType::reduction),
             [&](OpBuilder &nested, Location at, ValueRange scalars) {
               // Of infinities and NaNs the difference is a NaN.
               Value rest =
                   arith::SubFOp::create(nested, at, scalars[0], scalars[0]);
               Value isFinite = arith::CmpFOp::create(
                   nested, at, arith::CmpFPredicate::OEQ, rest, zero);
               Value says =
                   arith::SelectOp::create(nested, at, isFinite, all, none);
               Value least =
                   arith::MinSIOp::create(nested, at, scalars[1], says);
               linalg::YieldOp::create(nested, at, least);
             })
      .getResult(0);
}

BorderTaps::BorderTaps(KernelRewriter &rewriter, Conv2DOp op, bool byPixels,
                       bool byRows)
    : op(op), byPixels(byPixels) {
  auto type = cast<RankedTensorType>(op.getFilter().getType());
  taps[0] = type.getDimSize(op.getFilterHeightDim());
  taps[1] = type.getDimSize(op.getFilterWidthDim());
  all = std::max(taps[0], taps[1]);
  auto hasBorder = [&](unsigned axis) {
    return taps[axis] > 1 &&
           (op.getPads()[axis] != 0 || op.getPads()[axis + 2] != 0);
  };
  leavesRows = byRows && hasBorder(0);
  leavesPixels = byPixels && hasBorder(1);
  if (!leavesRows && !leavesPixels)
    return;
  isAlwaysFinite = type.getElementType().isInteger();
  if (isAlwaysFinite || !isConstant(op.getFilter()))
    return;
  rewriter.setInsertionPoint(op);
  operand = countIfFinite(rewriter, op.getLoc(), op.getFilter(), all);
}

void BorderTaps::begin(KernelBuilder &kb) {
  if (isAlwaysFinite)
    most = kb.index().constant(all);
  else if (operand)
    most = ReadOp::create(kb.builder(), kb.getMemRef(operand), ValueRange());
}

std::pair<Value, Value> BorderTaps::getSpan(KernelBuilder &kb, unsigned axis,
                                            Value at, int64_t step,
                                            int64_t count, Value whole) const {
  IndexMath &ix = kb.index();
  Value first = ix.constant(0), end = ix.constant(count);
  int64_t before = op.getPads()[axis], behind = op.getPads()[axis + 2];
  if (before > 0) {
    Value outside = ix.ceilDiv(ix.sub(ix.constant(before), at), step);
    first = ix.max(ix.min(outside, most), int64_t(0));
  }
  if (behind > 0) {
    Value size = kb.getDim(op.getImage(),
                           axis == 0 ? op.getHeightDim() : op.getWidthDim());
    Value rest = ix.sub(ix.add(size, ix.constant(before)), at);
    Value inside = ix.ceilDiv(rest, step);
    if (whole) {
      // The last places of a tile that leaves the result count for nothing:
      // then all may as well be multiplied.
      Value spare = ix.max(ix.sub(ix.constant(count), whole), int64_t(0));
      inside = ix.add(inside, ix.mul(spare, count));
    }
    end = ix.min(ix.max(inside, ix.sub(end, most)), count);
  }
  return {first, end};
}

std::pair<Value, Value> BorderTaps::getRows(KernelBuilder &kb, Value p) const {
  IndexMath &ix = kb.index();
  if (!most || !leavesRows)
    return {ix.constant(0), ix.constant(taps[0])};
  return getSpan(kb, 0, ix.mul(p, op.getStrides()[0]), op.getDilations()[0],
                 taps[0]);
}

SmallVector<Value> BorderTaps::getPixels(KernelBuilder &kb, Value q, Value s,
                                         int64_t count, Value whole) const {
  IndexMath &ix = kb.index();
  bool hasBorder = most && leavesPixels;
  Value first = ix.constant(0), end = ix.constant(count);
  if (hasBorder) {
    int64_t stride = op.getStrides()[1];
    Value left = ix.add(ix.mul(q, stride), ix.mul(s, op.getDilations()[1]));
    std::tie(first, end) = getSpan(kb, 1, left, stride, count, whole);
  }
  bool isCut = countBeyond(count) > 0;
  if (!hasBorder && !isCut)
    return {};
  if (isCut)
    end = ix.min(end, whole);
  return {first, end};
}

int64_t BorderTaps::countBeyond(int64_t count) const {
  int64_t width = cast<RankedTensorType>(op.getInit().getType())
                      .getDimSize(op.getWidthDim());
  if (!byPixels || ShapedType::isDynamic(width) || width < count)
    return 0;
  int64_t beyond = llvm::alignTo(width, count) - width;
  // Code of its own for less than a few percent of the products is not worth
  // the time to compile it.
  constexpr int64_t kSeldom = 32;
  return beyond * kSeldom >= width ? beyond : 0;
}

SmallVector<int64_t> BorderTaps::getSpans(int64_t count) const {
  SmallVector<int64_t> spans;
  int64_t stride = op.getStrides()[1];
  auto countOutside = [&](int64_t pad) {
    // More than a few are seldom, and not worth code of their own.
    constexpr int64_t kMost = 3;
    return most && leavesPixels
               ? std::min({(pad + stride - 1) / stride, count - 1, kMost})
               : 0;
  };
  for (int64_t i = 1; i <= countOutside(op.getPads()[1]); ++i)
    spans.append({i, count});
  // The last tile of a row sees the border behind it. Where it is cut all of
  // its pixels may as well see that.
  if (int64_t beyond = countBeyond(count))
    spans.append({0, count - beyond});
  else
    for (int64_t i = 1; i <= countOutside(op.getPads()[3]); ++i)
      spans.append({0, count - i});
  return spans;
}
