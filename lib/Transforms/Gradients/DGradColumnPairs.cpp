//===- DGradColumnPairs.cpp - Two columns of a gradient at a time ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a stride of two along the width, channels last, the pixels of two
// neighbouring columns are one row of twice the channels in memory. Both meet
// columns of the gradient that lie beside each other: as outputs of one
// convolution they share what it reads, and leave in whole rows. A tap that
// only one of both meets is zero for the other; for three taps these are a
// third more products, for half of the kernels. Filters of all phases are made
// by one kernel.

#include "DGradPhases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
class ColumnPairs {
public:
  ColumnPairs(RewriterBase &rewriter, Conv2DDGradOp op, ArrayRef<Phase> rows,
              ArrayRef<Phase> columns)
      : rewriter(rewriter), loc(op.getLoc()), op(op), rows(rows),
        columns(columns), result(getType(op.getInit())),
        gradient(getType(op.getGradient())), filter(getType(op.getFilter())) {}

  bool matches();
  unsigned run();

private:
  using Sizes = SmallVector<OpFoldResult>;
  static RankedTensorType getType(Value tensor) {
    return cast<RankedTensorType>(tensor.getType());
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  OpFoldResult size(int64_t value) { return rewriter.getIndexAttr(value); }
  int64_t getNumTaps() const { return lastMet - firstMet + 1; }
  /// Rows of the result in a phase.
  int64_t getRows(const Phase &phase) {
    return llvm::divideCeil(result.getDimSize(op.getHeightDim()) - phase.first,
                            op.getStrides()[0]);
  }
  MetWindow getRowWindow(const Phase &phase);
  MetWindow getColumnWindow();

  /// Filters [row, column, channel of the gradient, channels of both columns],
  /// the rows of one phase behind those of another.
  Value makeFilters();
  Value makeFilterElement(OpBuilder &b, ValueRange at);
  Value convolve(Value image, Value taps, Value init, const MetWindow &row,
                 const MetWindow &column, int64_t dilation);

  RewriterBase &rewriter;
  Location loc;
  Conv2DDGradOp op;
  ArrayRef<Phase> rows, columns;
  RankedTensorType result, gradient, filter;
  /// Columns of the gradient that a pair meets, counted from its own.
  int64_t firstMet = 0, lastMet = 0;
};
} // namespace

MetWindow ColumnPairs::getRowWindow(const Phase &phase) {
  int64_t extent = gradient.getDimSize(op.getHeightDim());
  return MetWindow::get(phase.padLow, getRows(phase) - extent + phase.padHigh);
}

MetWindow ColumnPairs::getColumnWindow() {
  int64_t extent = gradient.getDimSize(op.getWidthDim());
  int64_t pairs = result.getDimSize(op.getWidthDim()) / 2;
  return MetWindow::get(-firstMet, pairs - extent + lastMet);
}

bool ColumnPairs::matches() {
  if (op.getLayout() != ImageLayout::NHWC || op.getGroups() != 1 ||
      op.getStrides()[1] != 2 || columns.size() != 2 ||
      !op.getExtras().empty() || !filter.hasStaticShape() ||
      ShapedType::isDynamicShape(result.getShape().drop_front()) ||
      ShapedType::isDynamicShape(gradient.getShape().drop_front()) ||
      result.getDimSize(op.getWidthDim()) % 2)
    return false;
  // Others are multiplied by filters whose rows are summed over.
  if (gradient.getElementTypeBitWidth() != 16)
    return false;
  int64_t taps = 0;
  for (const Phase &column : columns) {
    if (!column.numTaps || column.dilation != 1)
      return false;
    int64_t last = column.padHigh, first = last - column.numTaps + 1;
    firstMet = taps ? std::min(firstMet, first) : first;
    lastMet = taps ? std::max(lastMet, last) : last;
    taps += column.numTaps;
  }
  // Zeros are to be few.
  if (2 * 2 * getNumTaps() > 3 * taps)
    return false;
  int64_t height = gradient.getDimSize(op.getHeightDim()),
          width = gradient.getDimSize(op.getWidthDim());
  return getColumnWindow().leavesSome(width) &&
         llvm::all_of(rows, [&](const Phase &row) {
           return row.numTaps && getRowWindow(row).leavesSome(height);
         });
}

Value ColumnPairs::makeFilterElement(OpBuilder &b, ValueRange at) {
  Value row = at[0], column = at[1], sum = at[2], side = at[3], channel = at[4];
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto add = [&](Value x, int64_t y) -> Value {
    return arith::AddIOp::create(b, loc, x, number(y));
  };
  // start - step * x.
  auto down = [&](int64_t start, int64_t step, Value x) -> Value {
    return arith::SubIOp::create(
        b, loc, number(start), arith::MulIOp::create(b, loc, x, number(step)));
  };
  // The rows of the last phase, unless they are those of one before it.
  Value tapRow;
  int64_t end = 0;
  for (const Phase &phase : rows) {
    Value here = down(phase.getLastTap(), phase.tapStep, add(row, -end));
    Value isBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           row, number(end));
    tapRow =
        tapRow ? arith::SelectOp::create(b, loc, isBefore, tapRow, here) : here;
    end += phase.numTaps;
  }
  // Which of its own taps a column meets there: as many to the left of the one
  // that meets its first tap.
  Value isRight =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, side, number(0));
  auto bySide = [&](function_ref<Value(const Phase &)> get) -> Value {
    Value left = get(columns[0]), right = get(columns[1]);
    return arith::SelectOp::create(b, loc, isRight, right, left);
  };
  Value tap = bySide([&](const Phase &phase) {
    return down(phase.padHigh - firstMet, 1, column);
  });
  Value ends =
      bySide([&](const Phase &phase) { return number(phase.numTaps); });
  // Below zero is far above as an unsigned number.
  Value isMet =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, tap, ends);
  tap = arith::SelectOp::create(b, loc, isMet, tap, number(0));
  Value tapColumn = bySide([&](const Phase &phase) {
    return add(arith::MulIOp::create(b, loc, tap, number(phase.tapStep)),
               phase.firstTap);
  });
  SmallVector<Value> place(4);
  place[op.getFilterHeightDim()] = tapRow;
  place[op.getFilterWidthDim()] = tapColumn;
  place[op.getFilterOutDim()] = sum;
  place[op.getFilterInDim()] = channel;
  Value some = tensor::ExtractOp::create(b, loc, op.getFilter(), place);
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(filter.getElementType())));
  return arith::SelectOp::create(b, loc, isMet, some, zero);
}

Value ColumnPairs::makeFilters() {
  int64_t height = 0;
  for (const Phase &row : rows)
    height += row.numTaps;
  int64_t sums = filter.getDimSize(op.getFilterOutDim());
  int64_t channels = filter.getDimSize(op.getFilterInDim());
  constexpr unsigned kRank = 5;
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, ArrayRef<int64_t>{height, getNumTaps(), sums, 2, channels},
      filter.getElementType());
  Value all = linalg::GenericOp::create(
                  rewriter, loc, empty.getType(), ValueRange(), empty,
                  ArrayRef(rewriter.getMultiDimIdentityMap(kRank)),
                  SmallVector<utils::IteratorType>(
                      kRank, utils::IteratorType::parallel),
                  [&](OpBuilder &b, Location, ValueRange) {
                    SmallVector<Value> at;
                    for (unsigned dim = 0; dim < kRank; ++dim)
                      at.push_back(linalg::IndexOp::create(b, loc, dim));
                    linalg::YieldOp::create(b, loc, makeFilterElement(b, at));
                  })
                  .getResult(0);
  SmallVector<ReassociationIndices> dims = {{0}, {1}, {2}, {3, 4}};
  return tensor::CollapseShapeOp::create(rewriter, loc, all, dims);
}

Value ColumnPairs::convolve(Value image, Value taps, Value init,
                            const MetWindow &row, const MetWindow &column,
                            int64_t dilation) {
  Sizes offsets(4, size(0)), steps(4, size(1));
  Sizes sizes = tensor::getMixedSizes(rewriter, loc, image);
  for (auto [dim, window] : {std::pair(op.getHeightDim(), row),
                             std::pair(op.getWidthDim(), column)}) {
    offsets[dim] = size(window.before);
    sizes[dim] = size(gradient.getDimSize(dim) - window.getLeftOut());
  }
  if (row.getLeftOut() || column.getLeftOut())
    image = tensor::ExtractSliceOp::create(rewriter, loc, image, offsets, sizes,
                                           steps);
  int64_t pads[] = {row.padLow, column.padLow, row.padHigh, column.padHigh};
  auto conv = Conv2DOp::create(
      rewriter, loc, init.getType(), image, taps, ValueRange(), init,
      ImageLayout::NHWC, FilterLayout::RSCK, ArrayRef<int64_t>{1, 1}, pads,
      ArrayRef<int64_t>{dilation, 1}, /*groups=*/1, op.getAccAttr(),
      rewriter.getArrayAttr({}), ScheduleAttr());
  rewriter.cloneRegionBefore(op.getEpilogue(), conv.getEpilogue(),
                             conv.getEpilogue().end());
  return conv.getResult();
}

unsigned ColumnPairs::run() {
  Value filters = makeFilters();
  Sizes sizes = tensor::getMixedSizes(rewriter, loc, op.getInit());
  Sizes paired = sizes;
  int64_t pairs = result.getDimSize(op.getWidthDim()) / 2;
  int64_t channels = result.getDimSize(op.getChannelDim());
  paired[op.getWidthDim()] = size(pairs);
  paired[op.getChannelDim()] = size(2 * channels);
  Value all =
      tensor::EmptyOp::create(rewriter, loc, paired, result.getElementType());
  MetWindow column = getColumnWindow();
  int64_t begin = 0;
  for (const Phase &row : rows) {
    Sizes tapOffsets(4, size(0)), ones(4, size(1));
    Sizes tapSizes = tensor::getMixedSizes(rewriter, loc, filters);
    tapOffsets[0] = size(begin);
    tapSizes[0] = size(row.numTaps);
    begin += row.numTaps;
    Value taps = filters;
    if (rows.size() > 1)
      taps = tensor::ExtractSliceOp::create(rewriter, loc, filters, tapOffsets,
                                            tapSizes, ones);
    Sizes offsets(4, size(0)), steps(4, size(1)), some = paired;
    offsets[op.getHeightDim()] = size(row.first);
    steps[op.getHeightDim()] = size(op.getStrides()[0]);
    some[op.getHeightDim()] = size(getRows(row));
    Value init = all;
    if (rows.size() > 1)
      init = tensor::ExtractSliceOp::create(rewriter, loc, all, offsets, some,
                                            steps);
    Value done = convolve(op.getGradient(), taps, init, getRowWindow(row),
                          column, row.dilation);
    all = rows.size() == 1 ? done
                           : tensor::InsertSliceOp::create(
                                 rewriter, loc, done, all, offsets, some, steps)
                                 .getResult();
  }
  Sizes apart = paired;
  apart.back() = size(2);
  apart.push_back(size(channels));
  SmallVector<int64_t> shape(result.getShape());
  shape[op.getWidthDim()] = pairs;
  shape.back() = 2;
  shape.push_back(channels);
  SmallVector<ReassociationIndices> split = {{0}, {1}, {2}, {3, 4}};
  SmallVector<ReassociationIndices> joined = {{0}, {1}, {2, 3}, {4}};
  all = tensor::ExpandShapeOp::create(rewriter, loc, result.clone(shape), all,
                                      split, apart);
  all = tensor::CollapseShapeOp::create(rewriter, loc, result, all, joined);
  rewriter.replaceOp(op, all);
  return rows.size();
}

std::optional<unsigned>
mlir::tracea::storeColumnPairs(RewriterBase &rewriter, Conv2DDGradOp op,
                               ArrayRef<Phase> rows, ArrayRef<Phase> columns) {
  ColumnPairs pairs(rewriter, op, rows, columns);
  if (!pairs.matches())
    return std::nullopt;
  return pairs.run();
}
