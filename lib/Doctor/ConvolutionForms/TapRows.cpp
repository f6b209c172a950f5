//===- TapRows.cpp - Rows of taps as the channels of one tap --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of the sum takes channels of one tap, and of an image of three
// channels nearly all of a step is padding. With channels last, what the taps
// of a row see lies together in memory: it is copied into an image that has it
// as the channels of one pixel, zeros where the taps leave the image, and rows
// of whole pieces. Nothing but what a tap sees is copied, so that infinities
// beside a window stay there.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;

/// What rows of operands begin at multiples of, in bytes, and what rows are
/// that touch no more lines of the cache than they have to.
static constexpr int64_t kPiece = 16, kLine = 128;

static RankedTensorType getTensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

static Value getZero(OpBuilder &b, Location loc, Type element) {
  return arith::ConstantOp::create(b, loc,
                                   cast<TypedAttr>(b.getZeroAttr(element)));
}

/// `tensor` with `low` and `high` zeros around a dimension.
static Value addZeros(OpBuilder &b, Location loc, Value tensor, int64_t dim,
                      int64_t low, int64_t high) {
  if (!low && !high)
    return tensor;
  RankedTensorType type = getTensorType(tensor);
  SmallVector<OpFoldResult> before(type.getRank(), b.getIndexAttr(0)),
      after(before);
  before[dim] = b.getIndexAttr(low);
  after[dim] = b.getIndexAttr(high);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] += low + high;
  return tensor::PadOp::create(b, loc, type.clone(shape), tensor, before, after,
                               getZero(b, loc, type.getElementType()));
}

/// The windows of the image: channel `j` of pixel `q` is element `q * step + j`
/// of its row, as far as taps see; `sizes` are those of the new image.
static Value makeWindows(OpBuilder &b, Location loc, Value row, int64_t step,
                         int64_t seen, ArrayRef<OpFoldResult> sizes) {
  Type element = getElementTypeOrSelf(row);
  Value init = tensor::EmptyOp::create(b, loc, sizes, element);
  MLIRContext *context = b.getContext();
  AffineExpr n, h, q, j;
  bindDims(context, n, h, q, j);
  AffineMap window = AffineMap::get(4, 0, {n, h, q * step + j}, context);
  bool isWhole = getTensorType(init).getShape().back() == seen;
  auto generic = linalg::GenericOp::create(
      b, loc, init.getType(), row, init,
      ArrayRef<AffineMap>{window, b.getMultiDimIdentityMap(4)},
      SmallVector<utils::IteratorType>(4, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        Value found = arguments.front();
        if (!isWhole) {
          Value place = linalg::IndexOp::create(b, loc, 3);
          Value end = arith::ConstantIndexOp::create(b, loc, seen);
          Value isSeen = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::slt, place, end);
          found = arith::SelectOp::create(b, loc, isSeen, found,
                                          getZero(b, loc, element));
        }
        linalg::YieldOp::create(b, loc, found);
      });
  return generic.getResult(0);
}

std::optional<ConvolutionForm>
mlir::tracea::joinTapsOfRows(RewriterBase &rewriter,
                             const ConvolutionForm &form) {
  Conv2DOp op = form.conv;
  RankedTensorType image = getTensorType(op.getImage()),
                   filter = getTensorType(op.getFilter()),
                   result = getTensorType(op.getInit());
  if (op.getLayout() != ImageLayout::NHWC ||
      op.getFilterLayout() != FilterLayout::KRSC || op.getGroups() != 1 ||
      op.getDilations()[1] != 1 || image.getElementTypeBitWidth() % 8)
    return std::nullopt;
  int64_t taps = filter.getDimSize(2), channels = filter.getDimSize(3);
  int64_t width = image.getDimSize(2), pixels = result.getDimSize(2);
  for (int64_t extent : {taps, channels, width, pixels, image.getDimSize(3)})
    if (ShapedType::isDynamic(extent) || extent < 1)
      return std::nullopt;
  // Of more channels steps are full as it is.
  constexpr int64_t kMostChannels = 128;
  if (taps < 2 || channels > kMostChannels)
    return std::nullopt;
  int64_t bytes = image.getElementTypeBitWidth() / 8;
  int64_t seen = taps * channels;
  auto whole = static_cast<int64_t>(llvm::alignTo(seen * bytes, kPiece));
  if (whole < kLine)
    whole = static_cast<int64_t>(llvm::PowerOf2Ceil(whole));
  int64_t extent = whole / bytes;
  int64_t step = op.getStrides()[1] * channels;
  int64_t before = op.getPads()[1] * channels;
  int64_t after = std::max<int64_t>(
      (pixels - 1) * step + extent - before - width * channels, 0);

  Location loc = op.getLoc();
  ConvolutionForm made = form;
  Value row = tensor::CollapseShapeOp::create(
      rewriter, loc, op.getImage(),
      SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  row = addZeros(rewriter, loc, row, 2, before, after);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getImage());
  sizes[2] = rewriter.getIndexAttr(pixels);
  sizes[3] = rewriter.getIndexAttr(extent);
  Value windows = makeWindows(rewriter, loc, row, step, seen, sizes);
  ++made.numCopies;
  made.copiedBytes += countBytes(op.getImage()) + countBytes(windows);

  Value weights = tensor::CollapseShapeOp::create(
      rewriter, loc, op.getFilter(),
      SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  if (extent > seen) {
    weights = addZeros(rewriter, loc, weights, 2, 0, extent - seen);
    ++made.numCopies;
    made.copiedBytes += 2 * countBytes(weights);
  }
  weights = tensor::ExpandShapeOp::create(
      rewriter, loc,
      filter.clone({filter.getDimSize(0), filter.getDimSize(1), 1, extent}),
      weights, SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});

  ArrayRef<int64_t> pads = op.getPads();
  made.conv = Conv2DOp::create(
      rewriter, loc, op.getResult().getType(), windows, weights, op.getExtras(),
      op.getInit(), ImageLayout::NHWC, FilterLayout::KRSC,
      ArrayRef<int64_t>{op.getStrides()[0], 1},
      ArrayRef<int64_t>{pads[0], 0, pads[2], 0},
      ArrayRef<int64_t>{op.getDilations()[0], 1}, /*groups=*/1, op.getAccAttr(),
      op.getEpilogueMaps(), ScheduleAttr());
  rewriter.cloneRegionBefore(op.getEpilogue(), made.conv.getEpilogue(),
                             made.conv.getEpilogue().end());
  made.result = made.conv.getResult();
  return made;
}
