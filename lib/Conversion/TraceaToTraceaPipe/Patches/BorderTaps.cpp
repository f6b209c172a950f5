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

BorderTaps::BorderTaps(KernelRewriter &rewriter, Conv2DOp op) : op(op) {
  auto type = cast<RankedTensorType>(op.getFilter().getType());
  taps = type.getDimSize(op.getFilterHeightDim());
  if (taps == 1 || (op.getPads()[0] == 0 && op.getPads()[2] == 0))
    return;
  isAlwaysFinite = type.getElementType().isInteger();
  if (isAlwaysFinite || !isConstant(op.getFilter()))
    return;
  rewriter.setInsertionPoint(op);
  operand = countIfFinite(rewriter, op.getLoc(), op.getFilter(), taps);
}

void BorderTaps::begin(KernelBuilder &kb) {
  if (isAlwaysFinite)
    most = kb.index().constant(taps);
  else if (operand)
    most = ReadOp::create(kb.builder(), kb.getMemRef(operand), ValueRange());
}

std::pair<Value, Value> BorderTaps::getRows(KernelBuilder &kb, Value p) const {
  IndexMath &ix = kb.index();
  Value first = ix.constant(0), end = ix.constant(taps);
  if (!most)
    return {first, end};
  int64_t dilation = op.getDilations()[0];
  int64_t above = op.getPads()[0], below = op.getPads()[2];
  // What tap 0 sees, in rows of the image with its border.
  Value top = ix.mul(p, op.getStrides()[0]);
  if (above > 0) {
    Value outside = ix.ceilDiv(ix.sub(ix.constant(above), top), dilation);
    first = ix.max(ix.min(outside, most), int64_t(0));
  }
  if (below > 0) {
    Value size = kb.getDim(op.getImage(), op.getHeightDim());
    Value rest = ix.sub(ix.add(size, ix.constant(above)), top);
    Value inside = ix.ceilDiv(rest, dilation);
    end = ix.min(ix.max(inside, ix.sub(end, most)), taps);
  }
  return {first, end};
}
