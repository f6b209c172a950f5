//===- TapRows.cpp - Rows of taps as the channels of one tap --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of the sum takes channels of one tap, and of an image of three
// channels nearly all of a step is padding. With channels last, what the taps
// of a row see lies together in memory: it is copied into an image that has it
// as the channels of one pixel, zeros where the taps leave the image, and rows
// of whole pieces. Nothing but what a tap sees is copied, so that infinities
// beside a window stay there. A gradient by the filter has columns for what the
// filter has not, which are left out behind it.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;

/// What rows of operands begin at multiples of, in bytes, and what rows are
/// that touch no more lines of the cache than they have to.
static constexpr int64_t kPiece = 16, kLine = 128;

static Value getZero(OpBuilder &b, Location loc, Type element) {
  return arith::ConstantOp::create(b, loc,
                                   cast<TypedAttr>(b.getZeroAttr(element)));
}

namespace {
/// Zeros in front of a dimension and behind it.
struct Border {
  int64_t dim, low, high;
};
} // namespace

/// `tensor` with zeros around it.
static Value addZeros(OpBuilder &b, Location loc, Value tensor,
                      ArrayRef<Border> borders) {
  if (llvm::all_of(borders, [](const Border &border) {
        return !border.low && !border.high;
      }))
    return tensor;
  RankedTensorType type = getTensorType(tensor);
  SmallVector<OpFoldResult> before(type.getRank(), b.getIndexAttr(0)),
      after(before);
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, low, high] : borders) {
    before[dim] = b.getIndexAttr(low);
    after[dim] = b.getIndexAttr(high);
    if (!ShapedType::isDynamic(shape[dim]))
      shape[dim] += low + high;
  }
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

namespace {
/// The image whose pixels have what the taps of a row see as channels: as many
/// as are seen, and as there are with zeros behind them.
struct Windows {
  Value image;
  int64_t seen, extent;
};
} // namespace

/// The windows of `op`, or nothing where they are not worth it. With
/// `hasBorder` they have rows of zeros above and below the image's, so that no
/// tap leaves them.
static std::optional<Windows> joinTaps(RewriterBase &rewriter,
                                       ConvolutionOpInterface op,
                                       ConvolutionForm &made,
                                       bool hasBorder = false) {
  ConvolutionParts parts = op.getParts();
  RankedTensorType image = getTensorType(parts.image),
                   filter = getTensorType(parts.filter),
                   output = getTensorType(parts.output);
  if (op.getLayout() != ImageLayout::NHWC ||
      op.getFilterLayout() != FilterLayout::KRSC || op.getGroups() != 1 ||
      op.getDilations()[1] != 1 || image.getElementTypeBitWidth() % 8)
    return std::nullopt;
  int64_t taps = filter.getDimSize(2), channels = filter.getDimSize(3);
  int64_t width = image.getDimSize(2), pixels = output.getDimSize(2);
  for (int64_t extent : {taps, channels, width, pixels, image.getDimSize(3)})
    if (ShapedType::isDynamic(extent) || extent < 1)
      return std::nullopt;
  if (hasBorder && (image.isDynamicDim(1) || filter.isDynamicDim(1) ||
                    output.isDynamicDim(1)))
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
  Value row = tensor::CollapseShapeOp::create(
      rewriter, loc, parts.image,
      SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  Border above{1, 0, 0};
  if (hasBorder) {
    above.low = op.getPads()[0];
    int64_t seenRows = (output.getDimSize(1) - 1) * op.getStrides()[0] +
                       (filter.getDimSize(1) - 1) * op.getDilations()[0] + 1;
    above.high =
        std::max<int64_t>(seenRows - above.low - image.getDimSize(1), 0);
  }
  row = addZeros(rewriter, loc, row, {above, {2, before, after}});
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, parts.image);
  if (hasBorder)
    sizes[1] =
        rewriter.getIndexAttr(image.getDimSize(1) + above.low + above.high);
  sizes[2] = rewriter.getIndexAttr(pixels);
  sizes[3] = rewriter.getIndexAttr(extent);
  Value windows = makeWindows(rewriter, loc, row, step, seen, sizes);
  ++made.numCopies;
  made.copiedBytes += countBytes(parts.image) + countBytes(windows);
  return Windows{windows, seen, extent};
}

/// `op` of other operands, whose filter has one tap in a row. The windows have
/// taken care of the image's columns.
template <typename OpTy>
static OpTy makeOneTapWide(RewriterBase &rewriter, OpTy op, Value windows,
                           Value other, Value init, bool hasBorder = false) {
  SmallVector<int64_t> pads(op.getPads());
  if (hasBorder)
    pads[0] = pads[2] = 0;
  auto made =
      OpTy::create(rewriter, op.getLoc(), init.getType(), windows, other,
                   op.getExtras(), init, ImageLayout::NHWC, FilterLayout::KRSC,
                   ArrayRef<int64_t>{op.getStrides()[0], 1},
                   ArrayRef<int64_t>{pads[0], 0, pads[2], 0},
                   ArrayRef<int64_t>{op.getDilations()[0], 1}, /*groups=*/1,
                   op.getAccAttr(), op.getEpilogueMaps(), ScheduleAttr());
  rewriter.cloneRegionBefore(op.getEpilogue(), made.getEpilogue(),
                             made.getEpilogue().end());
  return made;
}

static std::optional<ConvolutionForm> joinTapsOfRows(RewriterBase &rewriter,
                                                     ConvolutionForm made,
                                                     Conv2DOp op,
                                                     bool hasBorder = false) {
  std::optional<Windows> windows =
      joinTaps(rewriter, made.conv, made, hasBorder);
  if (!windows)
    return std::nullopt;
  Location loc = op.getLoc();
  RankedTensorType filter = getTensorType(op.getFilter());
  int64_t extent = windows->extent;
  Value weights = tensor::CollapseShapeOp::create(
      rewriter, loc, op.getFilter(),
      SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  if (extent > windows->seen) {
    weights =
        addZeros(rewriter, loc, weights, Border{2, 0, extent - windows->seen});
    ++made.numCopies;
    made.copiedBytes += 2 * countBytes(weights);
  }
  weights = tensor::ExpandShapeOp::create(
      rewriter, loc,
      filter.clone({filter.getDimSize(0), filter.getDimSize(1), 1, extent}),
      weights, SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  Conv2DOp conv = makeOneTapWide(rewriter, op, windows->image, weights,
                                 op.getInit(), hasBorder);
  made.conv = cast<ConvolutionOpInterface>(conv.getOperation());
  made.result = conv.getResult();
  return made;
}

static std::optional<ConvolutionForm>
joinTapsOfRows(RewriterBase &rewriter, ConvolutionForm made, Conv2DWGradOp op) {
  // What the epilogue reads for each channel of a tap would have to be joined
  // as well.
  for (auto map : op.getEpilogueMaps().getAsValueRange<AffineMapAttr>())
    if (map.isFunctionOfDim(op.getFilterWidthDim()) ||
        map.isFunctionOfDim(op.getFilterInDim()))
      return std::nullopt;
  std::optional<Windows> windows = joinTaps(rewriter, made.conv, made);
  if (!windows)
    return std::nullopt;
  Location loc = op.getLoc();
  RankedTensorType result = getTensorType(op.getInit());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getInit());
  sizes[2] = rewriter.getIndexAttr(1);
  sizes[3] = rewriter.getIndexAttr(windows->extent);
  Value init =
      tensor::EmptyOp::create(rewriter, loc, sizes, result.getElementType());
  Conv2DWGradOp grad =
      makeOneTapWide(rewriter, op, windows->image, op.getGradient(), init);
  made.conv = cast<ConvolutionOpInterface>(grad.getOperation());

  SmallVector<OpFoldResult> zeros(4, rewriter.getIndexAttr(0)),
      ones(4, rewriter.getIndexAttr(1));
  sizes[3] = rewriter.getIndexAttr(windows->seen);
  Value taken = tensor::ExtractSliceOp::create(rewriter, loc, grad.getResult(),
                                               zeros, sizes, ones);
  SmallVector<ReassociationIndices> row{{0}, {1}, {2, 3}};
  taken = tensor::CollapseShapeOp::create(rewriter, loc, taken, row);
  Value whole =
      tensor::CollapseShapeOp::create(rewriter, loc, op.getInit(), row);
  taken = linalg::CopyOp::create(rewriter, loc, taken, whole).getResult(0);
  made.result =
      tensor::ExpandShapeOp::create(rewriter, loc, result, taken, row);
  ++made.numCopies;
  made.copiedBytes += 2 * countBytes(op.getInit());
  return made;
}

std::optional<ConvolutionForm>
mlir::tracea::joinTapsOfRows(RewriterBase &rewriter,
                             const ConvolutionForm &form) {
  using Form = std::optional<ConvolutionForm>;
  return llvm::TypeSwitch<Operation *, Form>(form.conv)
      .Case<Conv2DOp, Conv2DWGradOp>(
          [&](auto op) { return ::joinTapsOfRows(rewriter, form, op); })
      .Default(Form());
}

std::optional<ConvolutionForm>
mlir::tracea::joinTapsAndBorder(RewriterBase &rewriter,
                                const ConvolutionForm &form) {
  ConvolutionForm made = form;
  auto op = dyn_cast<Conv2DOp>(made.conv.getOperation());
  if (!op || !isOfWords(op))
    return std::nullopt;
  return ::joinTapsOfRows(rewriter, made, op, /*hasBorder=*/true);
}
