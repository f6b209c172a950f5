//===- ChannelsLast.cpp - Convolutions whose channels are neighbours ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of the sum takes channels of one tap. Where these are neighbours in
// memory they are copied as they are, in bulk; where pixels are, element by
// element. A transposition runs at the speed of memory.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/Constants.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;

/// Dimension i of the result is dimension `order[i]` of the tensor.
static Value transpose(OpBuilder &b, Location loc, Value tensor,
                       ArrayRef<int64_t> order, Value init = Value()) {
  if (!init) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
    SmallVector<OpFoldResult> ordered =
        llvm::map_to_vector(order, [&](int64_t dim) { return sizes[dim]; });
    init =
        tensor::EmptyOp::create(b, loc, ordered, getElementTypeOrSelf(tensor));
  }
  return linalg::TransposeOp::create(b, loc, tensor, init, order)->getResult(0);
}

/// The tensor that `tensor` is the transposition of, in this order.
static Value getTransposed(Value tensor, ArrayRef<int64_t> order) {
  auto op = tensor.getDefiningOp<linalg::TransposeOp>();
  return op && op.getPermutation() == order ? op.getInput() : Value();
}

/// Images and outputs are moved, and filters whose rows are taps, whichever of
/// them are operands and which is the result.
template <typename OpTy>
static std::optional<ConvolutionForm>
moveChannels(RewriterBase &rewriter, const ConvolutionForm &form, OpTy op) {
  constexpr int64_t kLast[] = {0, 2, 3, 1}, kFirst[] = {0, 3, 1, 2};
  constexpr bool isGradient = std::is_same_v<OpTy, Conv2DWGradOp>;
  if (op.getLayout() != ImageLayout::NCHW)
    return std::nullopt;
  Location loc = op.getLoc();
  FilterLayout layout = op.getFilterLayout();
  bool movesFilter = layout == FilterLayout::KCRS;
  // One filter for each channel has its taps in a row either way.
  if constexpr (!isGradient)
    movesFilter &= !op.isDepthwise();
  if (movesFilter)
    layout = FilterLayout::KRSC;
  bool movesResult = !isGradient || movesFilter;

  ConvolutionForm made = form;
  auto move = [&](Value tensor, ArrayRef<int64_t> order) {
    // A constant is moved once for all runs.
    if (!isConstant(tensor)) {
      ++made.numCopies;
      made.copiedBytes += 2 * countBytes(tensor);
    }
    return transpose(rewriter, loc, tensor, order);
  };
  auto putLast = [&](Value tensor) {
    Value source = getTransposed(tensor, kFirst);
    return source ? source : move(tensor, kLast);
  };
  Value image = putLast(op.getImage());
  Value other = op->getOperand(1);
  if (isGradient || movesFilter)
    other = putLast(other);

  // From the new dimensions of the result to the old ones.
  AffineMap reordered =
      movesResult ? AffineMap::getPermutationMap(ArrayRef<unsigned>{0, 3, 1, 2},
                                                 op.getContext())
                  : rewriter.getMultiDimIdentityMap(4);
  SmallVector<Value> extras;
  SmallVector<AffineMap> maps;
  for (auto [extra, old] : llvm::zip(
           op.getExtras(),
           op.getEpilogueMaps().template getAsValueRange<AffineMapAttr>())) {
    AffineMap map = old.compose(reordered);
    Value operand = extra;
    if (movesResult && map.isPermutation() && !map.isIdentity()) {
      Value source = getTransposed(operand, kFirst);
      operand = source && getPermutation(map) == ArrayRef(kLast)
                    ? source
                    : move(operand, getPermutation(map));
      map = rewriter.getMultiDimIdentityMap(map.getNumDims());
    }
    extras.push_back(operand);
    maps.push_back(map);
  }
  Value init = op.getInit();
  if (movesResult) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, init);
    init = tensor::EmptyOp::create(
        rewriter, loc,
        llvm::map_to_vector(kLast, [&](int64_t dim) { return sizes[dim]; }),
        getElementTypeOrSelf(init));
  }
  auto last =
      OpTy::create(rewriter, loc, init.getType(), image, other, extras, init,
                   ImageLayout::NHWC, layout, op.getStrides(), op.getPads(),
                   op.getDilations(), op.getGroups(), op.getAccAttr(),
                   rewriter.getAffineMapArrayAttr(maps), ScheduleAttr());
  rewriter.cloneRegionBefore(op.getEpilogue(), last.getEpilogue(),
                             last.getEpilogue().end());
  made.conv = cast<ConvolutionOpInterface>(last.getOperation());
  made.result = last.getResult();
  if (movesResult) {
    made.numCopies += 1;
    made.copiedBytes += 2 * countBytes(init);
    made.result = transpose(rewriter, loc, made.result, kFirst, op.getInit());
  }
  return made;
}

std::optional<ConvolutionForm>
mlir::tracea::putChannelsLast(RewriterBase &rewriter,
                              const ConvolutionForm &form) {
  using Form = std::optional<ConvolutionForm>;
  return llvm::TypeSwitch<Operation *, Form>(form.conv)
      .Case<Conv2DOp, Conv2DWGradOp>(
          [&](auto op) { return moveChannels(rewriter, form, op); })
      .Default(Form());
}
