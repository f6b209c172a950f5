//===- FoldPads.cpp - Folds zero padding into convolutions ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution counts every element outside of its image as zero, so that a
// zero around the image in memory says nothing new.

#include "EpilogueUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Transforms/Passes.h"

#define DEBUG_TYPE "tracea-fold-pads"

namespace mlir::tracea {
#define GEN_PASS_DEF_FOLDPADS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// A tensor with zeros around it.
struct ZeroPadding {
  Value source;
  SmallVector<int64_t> low, high;
};
} // namespace

static bool isZero(Value scalar) {
  return scalar && (matchPattern(scalar, m_AnyZeroFloat()) ||
                    matchPattern(scalar, m_Zero()));
}

static FailureOr<ZeroPadding> matchPad(tensor::PadOp pad, StringRef &whyNot) {
  if (!isZero(pad.getConstantPaddingValue())) {
    whyNot = "the padding value is not a constant zero";
    return failure();
  }
  ZeroPadding padding;
  padding.source = pad.getSource();
  for (auto [low, high] :
       llvm::zip_equal(pad.getMixedLowPad(), pad.getMixedHighPad())) {
    std::optional<int64_t> staticLow = getConstantIntValue(low);
    std::optional<int64_t> staticHigh = getConstantIntValue(high);
    if (!staticLow || !staticHigh || *staticLow < 0 || *staticHigh < 0) {
      whyNot = "the amount of padding is not known";
      return failure();
    }
    padding.low.push_back(*staticLow);
    padding.high.push_back(*staticHigh);
  }
  return padding;
}

/// The same as an insertion into a tensor of zeros.
static FailureOr<ZeroPadding> matchInsertion(tensor::InsertSliceOp insert,
                                             StringRef &whyNot) {
  Value background = peelCasts(insert.getDest());
  linalg::FillOp fill = background.getDefiningOp<linalg::FillOp>();
  bool zeros = (fill && isZero(fill.value())) ||
               matchPattern(background, m_AnyZeroFloat()) ||
               matchPattern(background, m_Zero());
  if (!zeros) {
    whyNot = "the image is not inserted into zeros";
    return failure();
  }
  RankedTensorType source = insert.getSourceType();
  RankedTensorType result = insert.getDestType();
  if (source.getRank() != result.getRank() || !insert.hasUnitStride()) {
    whyNot = "the insertion has strides or another rank";
    return failure();
  }
  ZeroPadding padding;
  padding.source = insert.getSource();
  for (auto [dim, offset, size] :
       llvm::enumerate(insert.getMixedOffsets(), insert.getMixedSizes())) {
    std::optional<int64_t> low = getConstantIntValue(offset);
    std::optional<int64_t> extent = getConstantIntValue(size);
    if (low && *low == 0 && source.isDynamicDim(dim) &&
        result.isDynamicDim(dim) && isa<Value>(size)) {
      // A dynamic extent is not padded if it is the destination's own.
      tensor::EmptyOp empty =
          fill ? fill.output().getDefiningOp<tensor::EmptyOp>()
               : tensor::EmptyOp();
      if (empty && empty.getDynamicSize(dim) == cast<Value>(size)) {
        padding.low.push_back(0);
        padding.high.push_back(0);
        continue;
      }
    }
    if (!low || !extent || result.isDynamicDim(dim)) {
      whyNot = "the amount of padding is not known";
      return failure();
    }
    padding.low.push_back(*low);
    padding.high.push_back(result.getDimSize(dim) - *low - *extent);
  }
  return padding;
}

/// The padding that a convolution's `pads` can express, if its image has one;
/// the reason if it has another.
static FailureOr<ZeroPadding> findPadding(Conv2DOp op, StringRef &whyNot) {
  Operation *producer = peelCasts(op.getImage()).getDefiningOp();
  FailureOr<ZeroPadding> padding = failure();
  if (tensor::PadOp pad = dyn_cast_if_present<tensor::PadOp>(producer))
    padding = matchPad(pad, whyNot);
  else if (tensor::InsertSliceOp insert =
               dyn_cast_if_present<tensor::InsertSliceOp>(producer))
    padding = matchInsertion(insert, whyNot);
  if (failed(padding))
    return failure();
  for (unsigned dim : {op.getBatchDim(), op.getChannelDim()}) {
    if (padding->low[dim] != 0 || padding->high[dim] != 0) {
      whyNot = "batch or channels are padded";
      return failure();
    }
  }
  return padding;
}

namespace {

struct FoldPad : public OpRewritePattern<Conv2DOp> {
  FoldPad(MLIRContext *context, std::function<void()> onFold)
      : OpRewritePattern(context), onFold(std::move(onFold)) {}

  LogicalResult matchAndRewrite(Conv2DOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getScheduleAttr())
      return failure();
    StringRef ignored;
    FailureOr<ZeroPadding> padding = findPadding(op, ignored);
    if (failed(padding))
      return failure();
    unsigned height = op.getHeightDim();
    unsigned width = op.getWidthDim();
    SmallVector<int64_t> pads(op.getPads());
    pads[0] += padding->low[height];
    pads[1] += padding->low[width];
    pads[2] += padding->high[height];
    pads[3] += padding->high[width];
    rewriter.modifyOpInPlace(op, [&] {
      op.getImageMutable().set(padding->source);
      op.setPads(pads);
    });
    onFold();
    return success();
  }

private:
  std::function<void()> onFold;
};

struct FoldPadsPass : public mlir::tracea::impl::FoldPadsBase<FoldPadsPass> {
  using FoldPadsBase::FoldPadsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldPad>(&getContext(), [this] { ++numFolded; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([](Conv2DOp op) {
      StringRef whyNot;
      if (failed(findPadding(op, whyNot)) && !whyNot.empty())
        remark::missed(
            op.getLoc(),
            remark::RemarkOpts::name("PadNotFolded").category(DEBUG_TYPE))
            << remark::metric("Operation", op->getName().getStringRef())
            << remark::reason("{0}", whyNot);
    });
  }
};

} // namespace
