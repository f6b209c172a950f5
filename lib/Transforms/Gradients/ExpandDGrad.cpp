//===- ExpandDGrad.cpp - Gradients by images become convolutions ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row h of the result meets row p of the gradient through tap r where
//
//   p * stride + r * dilation = h + pad.
//
// The rows h of one remainder modulo the stride, a phase, meet the same taps:
// those with r * dilation = h + pad modulo the stride, which are every
// (stride / gcd)-th one. From one row of a phase to the next p goes one on, and
// from one of its taps to the next it goes dilation / gcd back. So a phase is a
// convolution of the gradient without a stride, by some of the taps in reverse
// order; it multiplies nothing by zeros that a stride would have put between.
// Where kernels store to rows that lie apart, pixels of a phase go where they
// belong at once, or phases of neighbouring columns together; an epilogue that
// reads something of each pixel comes behind them then. Else phases lie
// one behind the other, each as large as the largest, until the last of them is
// there; then pixels go where they belong, through the epilogue.

#include "DGradPhases.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "tracea/Transforms/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_EXPANDDGRAD
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// One gradient, and the convolutions that it becomes.
class Expansion {
public:
  /// `hasWindows`: kernels store to windows of a tensor.
  Expansion(IRRewriter &rewriter, Conv2DDGradOp op, bool hasWindows)
      : rewriter(rewriter), loc(op.getLoc()), op(op),
        spatial{op.getHeightDim(), op.getWidthDim()},
        filterSpatial{op.getFilterHeightDim(), op.getFilterWidthDim()},
        gradient(op.getGradient()), hasPlaces(hasWindows && canHavePlaces()),
        toPlaces(hasPlaces && canStoreToPlaces()) {}

  /// Replaces the operation, and returns the number of convolutions.
  unsigned run();

private:
  using Sizes = SmallVector<OpFoldResult>;

  RankedTensorType getType(Value tensor) {
    return cast<RankedTensorType>(tensor.getType());
  }
  OpFoldResult constant(int64_t value) { return rewriter.getIndexAttr(value); }
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expr, operands);
  }
  int64_t getTaps(unsigned axis) {
    return getType(op.getFilter()).getDimSize(filterSpatial[axis]);
  }
  /// Whether sums of a phase can be stored to every stride-th pixel of the
  /// result.
  bool canHavePlaces();
  /// Whether its epilogue can come before.
  bool canStoreToPlaces();
  unsigned storeBeforeEpilogue();
  /// Rows of the largest phase.
  OpFoldResult getRows(unsigned axis);
  /// Rows that are stored for a phase.
  OpFoldResult getRows(unsigned axis, const Phase &phase);
  /// The border behind the gradient.
  OpFoldResult getPadHigh(unsigned axis, const Phase &phase);
  /// Where types tell the border.
  MetWindow getWindow(unsigned axis, const Phase &phase) {
    return MetWindow::get(phase.padLow,
                          *getConstantIntValue(getPadHigh(axis, phase)));
  }
  /// Surrounds the gradient with zeros where only the run knows how many a
  /// phase needs.
  void padGradient(ArrayRef<SmallVector<Phase>> phases);
  /// Whether anything that is not zero meets pixels of the phases.
  bool isMet(ArrayRef<Phase> phases);

  /// The convolution of the phases, into `init`, with the epilogue or without.
  Value convolve(Value init, ArrayRef<Phase> phases, bool hasEpilogue);
  /// The convolutions of all phases into every stride-th pixel each; how many.
  unsigned storeToPlaces(ArrayRef<SmallVector<Phase>> phases);
  Value getFilter(ArrayRef<Phase> phases, FilterLayout layout);
  /// The epilogue of zeros.
  Value storeZeros();
  /// The pixels of all phases, [phase, phase] of the result's dimensions, at
  /// their places, through the epilogue.
  Value interleave(Value all);
  /// Applies the epilogue to `sums`, whose element for a pixel is where `map`
  /// says, for pixels whose place in the result is `place` of the loops.
  Value emitEpilogue(Value sums, AffineMap map, ArrayRef<AffineExpr> place,
                     Value init);

  IRRewriter &rewriter;
  Location loc;
  Conv2DDGradOp op;
  unsigned spatial[2], filterSpatial[2];
  /// What convolutions read, and which of its borders are in memory: for each
  /// axis how many rows in front, or nothing.
  Value gradient;
  std::optional<int64_t> border[2];
  /// Whether sums of a phase could leave for their places at once, and whether
  /// pixels do.
  bool hasPlaces, toPlaces;
};
} // namespace

bool Expansion::canHavePlaces() {
  // Of channels first neighbours in memory would be pixels that lie apart.
  if (op.getLayout() != ImageLayout::NHWC)
    return false;
  // Of small groups and of bytes convolutions may be left to loops, for which
  // it is not known which elements of a window they write.
  Type element = getType(op.getGradient()).getElementType();
  if (op.getGroups() != 1 || !isa<FloatType>(element) ||
      element.getIntOrFloatBitWidth() < 16)
    return false;
  return !ShapedType::isDynamicShape(
      getType(op.getInit()).getShape().drop_front());
}

bool Expansion::canStoreToPlaces() {
  return llvm::all_of(op.getEpilogueMaps().getAsValueRange<AffineMapAttr>(),
                      [&](AffineMap map) {
                        return !map.isFunctionOfDim(spatial[0]) &&
                               !map.isFunctionOfDim(spatial[1]);
                      });
}

OpFoldResult Expansion::getRows(unsigned axis) {
  return apply(
      rewriter.getAffineDimExpr(0).ceilDiv(op.getStrides()[axis]),
      {tensor::getMixedSize(rewriter, loc, op.getInit(), spatial[axis])});
}

OpFoldResult Expansion::getRows(unsigned axis, const Phase &phase) {
  if (!toPlaces)
    return getRows(axis);
  AffineExpr rest = rewriter.getAffineDimExpr(0) - phase.first;
  return apply(
      rest.ceilDiv(op.getStrides()[axis]),
      {tensor::getMixedSize(rewriter, loc, op.getInit(), spatial[axis])});
}

OpFoldResult Expansion::getPadHigh(unsigned axis, const Phase &phase) {
  if (op.getStrides()[axis] == 1)
    return constant((getTaps(axis) - 1) * op.getDilations()[axis] -
                    op.getPads()[axis + 2]);
  AffineExpr d0 = rewriter.getAffineDimExpr(0);
  AffineExpr d1 = rewriter.getAffineDimExpr(1);
  return apply(
      d0 - d1 + phase.padHigh,
      {getRows(axis, phase),
       tensor::getMixedSize(rewriter, loc, op.getGradient(), spatial[axis])});
}

void Expansion::padGradient(ArrayRef<SmallVector<Phase>> phases) {
  Sizes low(4, constant(0)), high = low;
  for (unsigned axis : {0u, 1u}) {
    int64_t most = 0;
    SmallVector<OpFoldResult> ends{constant(0)};
    bool isKnown = true;
    for (const Phase &phase : phases[axis]) {
      if (!phase.numTaps)
        continue;
      most = std::max(most, phase.padLow);
      ends.push_back(getPadHigh(axis, phase));
      isKnown &= getConstantIntValue(ends.back()).has_value();
    }
    if (isKnown)
      continue;
    border[axis] = most;
    low[spatial[axis]] = constant(most);
    SmallVector<AffineExpr> exprs;
    for (unsigned number = 0; number < ends.size(); ++number)
      exprs.push_back(rewriter.getAffineDimExpr(number));
    high[spatial[axis]] = affine::makeComposedFoldedAffineMax(
        rewriter, loc,
        AffineMap::get(ends.size(), 0, exprs, rewriter.getContext()), ends);
  }
  if (!border[0] && !border[1])
    return;
  Type element = getType(gradient).getElementType();
  Value zero = arith::ConstantOp::create(
      rewriter, loc, cast<TypedAttr>(rewriter.getZeroAttr(element)));
  gradient =
      tensor::PadOp::create(rewriter, loc, Type(), gradient, low, high, zero);
}

bool Expansion::isMet(ArrayRef<Phase> phases) {
  for (unsigned axis : {0u, 1u}) {
    const Phase &phase = phases[axis];
    if (!phase.numTaps)
      return false;
    int64_t rows = getType(gradient).getDimSize(spatial[axis]);
    if (border[axis] || ShapedType::isDynamic(rows))
      continue;
    // All of the gradient may lie in front of the rows, or behind them.
    if (!getWindow(axis, phase).leavesSome(rows))
      return false;
  }
  return true;
}

/// A tensor's dimension as (groups, extent / groups).
static Value splitDim(OpBuilder &builder, Location loc, Value tensor,
                      unsigned dim, int64_t groups) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<ReassociationIndices> dims;
  for (int64_t position = 0; position < type.getRank(); ++position)
    dims.push_back({position + (position > dim)});
  dims[dim].push_back(dim + 1);
  shape.insert(shape.begin() + dim, groups);
  if (!type.isDynamicDim(dim))
    shape[dim + 1] /= groups;
  OpFoldResult part = affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineDimExpr(0).floorDiv(groups), {sizes[dim]});
  sizes[dim] = part;
  sizes.insert(sizes.begin() + dim, builder.getIndexAttr(groups));
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor,
                                       dims, sizes);
}

/// The filter's taps of the phase in reverse order, outputs and inputs
/// exchanged within groups.
Value Expansion::getFilter(ArrayRef<Phase> phases, FilterLayout layout) {
  unsigned out = op.getFilterOutDim(), in = op.getFilterInDim();
  // One tap is a matrix, which stays where it is.
  if (getTaps(0) == 1 && getTaps(1) == 1 && op.getGroups() == 1 &&
      layout == FilterLayout::RSCK && op.getFilterLayout() != layout) {
    SmallVector<ReassociationIndices> rows = {{0, 1, 2}, {3}}, from = rows;
    if (op.getFilterLayout() == FilterLayout::KCRS)
      from = {{0}, {1, 2, 3}};
    Value matrix =
        tensor::CollapseShapeOp::create(rewriter, loc, op.getFilter(), from);
    RankedTensorType type = getType(matrix);
    Sizes sizes = tensor::getMixedSizes(rewriter, loc, matrix);
    return tensor::ExpandShapeOp::create(
        rewriter, loc,
        type.clone({1, 1, type.getDimSize(0), type.getDimSize(1)}), matrix,
        rows, {constant(1), constant(1), sizes[0], sizes[1]});
  }
  Value split = splitDim(rewriter, loc, op.getFilter(), out, op.getGroups());
  RankedTensorType splitType = getType(split);
  auto at = [&](unsigned dim) { return dim + (dim > out); };
  Sizes sizes = tensor::getMixedSizes(rewriter, loc, split);
  // The dimensions of the copy are the loops: (group, channel) are its outputs.
  bool isOutLast = layout == FilterLayout::RSCK;
  enum Dim { Group, Channel, Row, Column, Sum };
  SmallVector<unsigned> loops = isOutLast
                                    ? SmallVector<unsigned>{3, 4, 0, 1, 2}
                                    : SmallVector<unsigned>{0, 1, 2, 3, 4};
  SmallVector<AffineExpr> place(5);
  auto loop = [&](Dim dim) { return rewriter.getAffineDimExpr(loops[dim]); };
  place[out] = loop(Group);
  place[out + 1] = loop(Sum);
  place[at(in)] = loop(Channel);
  SmallVector<OpFoldResult> shape(5);
  shape[loops[Group]] = sizes[out];
  shape[loops[Sum]] = sizes[out + 1];
  shape[loops[Channel]] = sizes[at(in)];
  for (unsigned axis : {0u, 1u}) {
    const Phase &phase = phases[axis];
    Dim dim = axis == 0 ? Row : Column;
    shape[loops[dim]] = constant(phase.numTaps);
    int64_t last = phase.firstTap + (phase.numTaps - 1) * phase.tapStep;
    place[at(filterSpatial[axis])] = phase.numTaps == 1
                                         ? rewriter.getAffineConstantExpr(last)
                                         : last - loop(dim) * phase.tapStep;
  }
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, shape, splitType.getElementType());
  AffineMap maps[] = {AffineMap::get(5, 0, place, rewriter.getContext()),
                      rewriter.getMultiDimIdentityMap(5)};
  Value copy =
      linalg::GenericOp::create(
          rewriter, loc, empty.getType(), split, empty, maps,
          SmallVector<utils::IteratorType>(5, utils::IteratorType::parallel),
          [](OpBuilder &nested, Location nestedLoc, ValueRange elements) {
            linalg::YieldOp::create(nested, nestedLoc, elements.front());
          })
          .getResult(0);
  SmallVector<ReassociationIndices> dims = {{0, 1}, {2}, {3}, {4}};
  if (isOutLast)
    dims = {{0}, {1}, {2}, {3, 4}};
  return tensor::CollapseShapeOp::create(rewriter, loc, copy, dims);
}

Value Expansion::convolve(Value init, ArrayRef<Phase> phases,
                          bool hasEpilogue) {
  Sizes sizes = tensor::getMixedSizes(rewriter, loc, gradient);
  Sizes offsets(4, constant(0)), steps(4, constant(1));
  int64_t pads[4] = {};
  int64_t dilations[2];
  bool isWhole = true;
  AffineExpr d0 = rewriter.getAffineDimExpr(0);
  for (unsigned axis : {0u, 1u}) {
    const Phase &phase = phases[axis];
    OpFoldResult &size = sizes[spatial[axis]], &offset = offsets[spatial[axis]];
    dilations[axis] = phase.dilation;
    if (border[axis]) {
      offset = constant(*border[axis] - phase.padLow);
      size = apply(d0 + (phase.numTaps - 1) * phase.dilation,
                   {getRows(axis, phase)});
      isWhole = false;
      continue;
    }
    MetWindow window = getWindow(axis, phase);
    pads[axis] = window.padLow;
    pads[axis + 2] = window.padHigh;
    isWhole &= window.getLeftOut() == 0;
    offset = constant(window.before);
    size = apply(d0 - window.getLeftOut(), {size});
  }
  Value image = gradient;
  if (!isWhole)
    image = tensor::ExtractSliceOp::create(rewriter, loc, gradient, offsets,
                                           sizes, steps);
  // Rows of channels stay rows where they can be multiplied as they are.
  bool isNarrow = getType(gradient).getElementTypeBitWidth() == 16;
  FilterLayout layout = isNarrow ? FilterLayout::RSCK : FilterLayout::KRSC;
  auto conv = Conv2DOp::create(
      rewriter, loc, init.getType(), image, getFilter(phases, layout),
      hasEpilogue ? ValueRange(op.getExtras()) : ValueRange(), init,
      op.getLayout(), layout, ArrayRef<int64_t>{1, 1}, pads, dilations,
      op.getGroups(), op.getAccAttr(),
      hasEpilogue ? op.getEpilogueMaps() : rewriter.getArrayAttr({}),
      ScheduleAttr());
  if (hasEpilogue)
    rewriter.cloneRegionBefore(op.getEpilogue(), conv.getEpilogue(),
                               conv.getEpilogue().end());
  return conv.getResult();
}

Value Expansion::emitEpilogue(Value sums, AffineMap map,
                              ArrayRef<AffineExpr> place, Value init) {
  unsigned loops = getType(init).getRank();
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  if (sums) {
    inputs.push_back(sums);
    maps.push_back(map);
  }
  llvm::append_range(inputs, op.getExtras());
  AffineMap pixel = AffineMap::get(loops, 0, place, rewriter.getContext());
  for (auto extra : op.getEpilogueMaps().getAsValueRange<AffineMapAttr>())
    maps.push_back(extra.compose(pixel));
  maps.push_back(rewriter.getMultiDimIdentityMap(loops));
  auto generic = linalg::GenericOp::create(
      rewriter, loc, init.getType(), inputs, init, maps,
      SmallVector<utils::IteratorType>(loops, utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
        scalars = scalars.drop_back();
        Value stored;
        if (sums &&
            !hasEpilogue(cast<EpilogueOpInterface>(op.getOperation()))) {
          stored = scalars.front();
        } else {
          Value sum;
          if (sums) {
            sum = scalars.front();
            scalars = scalars.drop_front();
            if (sum.getType() != op.getAccumulatorType())
              sum = arith::ExtFOp::create(nested, nestedLoc,
                                          op.getAccumulatorType(), sum);
          } else {
            sum = arith::ConstantOp::create(
                nested, nestedLoc,
                cast<TypedAttr>(nested.getZeroAttr(op.getAccumulatorType())));
          }
          stored = inlineEpilogue(nested, nestedLoc,
                                  cast<EpilogueOpInterface>(op.getOperation()),
                                  sum, scalars)
                       .front();
        }
        linalg::YieldOp::create(nested, nestedLoc, stored);
      });
  return generic.getResult(0);
}

Value Expansion::storeZeros() {
  SmallVector<AffineExpr> place;
  for (unsigned dim = 0; dim < 4; ++dim)
    place.push_back(rewriter.getAffineDimExpr(dim));
  return emitEpilogue(Value(), AffineMap(), place, op.getInit());
}

Value Expansion::interleave(Value all) {
  RankedTensorType type = getType(op.getInit());
  ArrayRef<int64_t> strides = op.getStrides();
  auto d = [&](unsigned dim) { return rewriter.getAffineDimExpr(dim); };
  auto isWhole = [&](unsigned axis) {
    int64_t rows = type.getDimSize(spatial[axis]);
    return ShapedType::isStatic(rows) && rows % strides[axis] == 0;
  };
  SmallVector<AffineExpr> from(6), place(4);
  if (!isWhole(0) || !isWhole(1)) {
    for (unsigned dim = 0; dim < 4; ++dim)
      place[dim] = from[dim + 2] = d(dim);
    for (unsigned axis : {0u, 1u}) {
      from[axis] = d(spatial[axis]) % strides[axis];
      from[spatial[axis] + 2] = d(spatial[axis]).floorDiv(strides[axis]);
    }
    return emitEpilogue(all, AffineMap::get(4, 0, from, rewriter.getContext()),
                        place, op.getInit());
  }
  // Each phase has as many rows: a row and its phase are loops of their own,
  // which the result has as one dimension.
  SmallVector<ReassociationIndices> dims;
  Sizes sizes = tensor::getMixedSizes(rewriter, loc, op.getInit()), split;
  unsigned loop = 0;
  for (unsigned dim = 0; dim < 4; ++dim) {
    const unsigned *axis = llvm::find(spatial, dim);
    if (axis == std::end(spatial)) {
      dims.push_back({loop});
      split.push_back(sizes[dim]);
      place[dim] = from[dim + 2] = d(loop++);
      continue;
    }
    unsigned number = axis - spatial;
    dims.push_back({loop, loop + 1});
    split.push_back(getRows(number));
    split.push_back(constant(strides[number]));
    place[dim] = d(loop) * strides[number] + d(loop + 1);
    from[dim + 2] = d(loop);
    from[number] = d(loop + 1);
    loop += 2;
  }
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, split, type.getElementType());
  Value pixels = emitEpilogue(
      all, AffineMap::get(6, 0, from, rewriter.getContext()), place, empty);
  return tensor::CollapseShapeOp::create(rewriter, loc, type, pixels, dims);
}

unsigned Expansion::storeToPlaces(ArrayRef<SmallVector<Phase>> phases) {
  // All of it is stored; nothing of what was there has to be kept for that.
  Value result = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getInit()),
      getType(op.getInit()).getElementType());
  SmallVector<std::array<Phase, 2>> met;
  bool isWhole = true;
  for (const Phase &row : phases[0])
    for (const Phase &column : phases[1]) {
      if (isMet({row, column}))
        met.push_back({row, column});
      else
        isWhole = false;
    }
  if (!isWhole)
    result = storeZeros();
  for (const std::array<Phase, 2> &both : met) {
    Sizes sizes = tensor::getMixedSizes(rewriter, loc, op.getInit());
    Sizes offsets(4, constant(0)), steps(4, constant(1));
    for (unsigned axis : {0u, 1u}) {
      sizes[spatial[axis]] = getRows(axis, both[axis]);
      offsets[spatial[axis]] = constant(both[axis].first);
      steps[spatial[axis]] = constant(op.getStrides()[axis]);
    }
    Value places = tensor::ExtractSliceOp::create(rewriter, loc, result,
                                                  offsets, sizes, steps);
    Value done = convolve(places, both, /*hasEpilogue=*/true);
    result = tensor::InsertSliceOp::create(rewriter, loc, done, result, offsets,
                                           sizes, steps);
  }
  rewriter.replaceOp(op, result);
  return met.size();
}

/// The type to which an epilogue rounds its sums before all else; that of sums
/// where it does not.
static Type getStoredType(Conv2DDGradOp op) {
  BlockArgument sum = op.getEpilogue().front().getArgument(0);
  auto rounded = sum.hasOneUse() ? dyn_cast<arith::TruncFOp>(*sum.user_begin())
                                 : arith::TruncFOp();
  return rounded && !rounded.getRoundingmode() ? rounded.getType()
                                               : op.getAccumulatorType();
}

/// Stores the sums alone, rounded where the epilogue does that first, and makes
/// of them what the epilogue does.
unsigned Expansion::storeBeforeEpilogue() {
  emitEpilogueChecks(rewriter, cast<EpilogueOpInterface>(op.getOperation()));
  Type sum = op.getAccumulatorType(), element = getStoredType(op);
  Value init = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getInit()),
      element);
  auto alone = cast<Conv2DDGradOp>(rewriter.cloneWithoutRegions(*op));
  alone.getExtrasMutable().clear();
  alone.setEpilogueMapsAttr(rewriter.getArrayAttr({}));
  alone.getInitMutable().set(init);
  alone.getResult().setType(getType(init));
  if (element != sum) {
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&alone.getEpilogue(), {}, sum, loc);
    Value rounded =
        arith::TruncFOp::create(rewriter, loc, element, body->getArgument(0));
    YieldOp::create(rewriter, loc, rounded);
  }
  SmallVector<AffineExpr> place;
  for (unsigned dim = 0; dim < 4; ++dim)
    place.push_back(rewriter.getAffineDimExpr(dim));
  rewriter.replaceOp(op, emitEpilogue(alone.getResult(),
                                      rewriter.getMultiDimIdentityMap(4), place,
                                      op.getInit()));
  return Expansion(rewriter, alone, /*hasWindows=*/true).run();
}

unsigned Expansion::run() {
  rewriter.setInsertionPoint(op);
  if (hasPlaces && !toPlaces &&
      !llvm::is_contained(getType(op.getInit()).getShape(), 0) &&
      !llvm::is_contained(getType(gradient).getShape(), 0) &&
      getPhases(op, 0).size() * getPhases(op, 1).size() > 1)
    return storeBeforeEpilogue();
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(op.getOperation()));
  emitEpilogueChecks(rewriter, cast<EpilogueOpInterface>(op.getOperation()));
  if (llvm::is_contained(getType(op.getInit()).getShape(), 0)) {
    rewriter.replaceOp(op, op.getInit());
    return 0;
  }
  // Sums of nothing.
  if (llvm::is_contained(getType(gradient).getShape(), 0)) {
    rewriter.replaceOp(op, storeZeros());
    return 0;
  }
  SmallVector<Phase> phases[] = {getPhases(op, 0), getPhases(op, 1)};
  padGradient(phases);
  if (phases[0].size() == 1 && phases[1].size() == 1) {
    Phase only[] = {phases[0].front(), phases[1].front()};
    bool some = isMet(only);
    rewriter.replaceOp(op, some ? convolve(op.getInit(), only, true)
                                : storeZeros());
    return some;
  }
  if (toPlaces) {
    if (std::optional<unsigned> count =
            storeColumnPairs(rewriter, op, phases[0], phases[1]))
      return *count;
    return storeToPlaces(phases);
  }
  // An epilogue takes sums as they are.
  Sizes sizes = tensor::getMixedSizes(rewriter, loc, op.getInit());
  for (unsigned axis : {0u, 1u})
    sizes[spatial[axis]] = getRows(axis);
  Sizes allSizes = {constant(phases[0].size()), constant(phases[1].size())};
  llvm::append_range(allSizes, sizes);
  bool isPlain = !hasEpilogue(cast<EpilogueOpInterface>(op.getOperation()));
  Type element = isPlain ? getType(op.getInit()).getElementType()
                         : op.getAccumulatorType();
  Value all = tensor::EmptyOp::create(rewriter, loc, allSizes, element);
  bool hasHoles = false;
  for (const Phase &row : phases[0])
    for (const Phase &column : phases[1])
      hasHoles |= !isMet({row, column});
  if (hasHoles) {
    Value zero = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(rewriter.getZeroAttr(element)));
    all = linalg::FillOp::create(rewriter, loc, zero, all).getResult(0);
  }
  RankedTensorType one =
      RankedTensorType::get(getType(all).getShape().drop_front(2), element);
  Sizes ones(6, constant(1)), slice = allSizes;
  slice[0] = slice[1] = constant(1);
  unsigned count = 0;
  for (auto [row, rowPhase] : llvm::enumerate(phases[0]))
    for (auto [column, columnPhase] : llvm::enumerate(phases[1])) {
      Phase both[] = {rowPhase, columnPhase};
      if (!isMet(both))
        continue;
      Sizes offsets(6, constant(0));
      offsets[0] = constant(row);
      offsets[1] = constant(column);
      Value init = tensor::ExtractSliceOp::create(rewriter, loc, one, all,
                                                  offsets, slice, ones);
      Value done = convolve(init, both, /*hasEpilogue=*/false);
      ++count;
      all = tensor::InsertSliceOp::create(rewriter, loc, done, all, offsets,
                                          slice, ones);
    }
  rewriter.replaceOp(op, interleave(all));
  return count;
}

namespace {
struct ExpandDGrad : mlir::tracea::impl::ExpandDGradBase<ExpandDGrad> {
  using ExpandDGradBase::ExpandDGradBase;

  void runOnOperation() override {
    SmallVector<Conv2DDGradOp> ops;
    getOperation()->walk([&](Conv2DDGradOp op) { ops.push_back(op); });
    // A module that names its target is for no other.
    bool hasWindows = storesToWindows;
    if (auto target =
            getOperation()
                ->getParentOfType<ModuleOp>()
                ->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName))
      hasWindows = target.getKind() != TargetKind::CPU;
    IRRewriter rewriter(&getContext());
    for (Conv2DDGradOp op : ops) {
      auto filter = cast<RankedTensorType>(op.getFilter().getType());
      if (filter.isDynamicDim(op.getFilterHeightDim()) ||
          filter.isDynamicDim(op.getFilterWidthDim())) {
        op.emitOpError()
            << "expects a filter of static height and width, found " << filter;
        return signalPassFailure();
      }
      if (op.getScheduleAttr()) {
        op.emitOpError() << "becomes convolutions, each of which has a "
                            "schedule of its own; found one for all: "
                         << op.getScheduleAttr();
        return signalPassFailure();
      }
      Location loc = op.getLoc();
      unsigned count = Expansion(rewriter, op, hasWindows).run();
      numConvolutions += count;
      remark::passed(loc, remark::RemarkOpts::name("GradientExpanded")
                              .category("tracea-expand-dgrad"))
          << ("the gradient is " + std::to_string(count) +
              (count == 1 ? " convolution" : " convolutions") +
              " without strides");
    }
  }
};
} // namespace
