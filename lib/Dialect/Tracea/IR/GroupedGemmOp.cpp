//===- GroupedGemmOp.cpp - Products of groups of rows ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Clone.h"
#include "Verification.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

static int64_t getExtent(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// The first extent that is known of two that agree.
static int64_t getEither(int64_t first, int64_t second) {
  return ShapedType::isStatic(first) ? first : second;
}

Type GroupedGemmOp::getAccumulatorType() {
  if (std::optional<Type> acc = getAcc())
    return *acc;
  return getDefaultAccumulatorType(getElementTypeOrSelf(getLhs().getType()));
}

int64_t GroupedGemmOp::getRows() {
  return getEither(getExtent(getLhs(), 0), getExtent(getInit(), 0));
}

int64_t GroupedGemmOp::getN() {
  return getEither(getExtent(getRhs(), getRhsN()), getExtent(getInit(), 1));
}

int64_t GroupedGemmOp::getK() {
  return getEither(getExtent(getLhs(), 1), getExtent(getRhs(), getRhsK()));
}

int64_t GroupedGemmOp::getNumGroups() {
  return getEither(getExtent(getRhs(), 0), getExtent(getEnds(), 0));
}

LogicalResult GroupedGemmOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto ends = cast<RankedTensorType>(getEnds().getType());
  auto init = cast<RankedTensorType>(getInit().getType());

  if (failed(verifyRank(*this, "lhs", lhs, 2)) ||
      failed(verifyRank(*this, "rhs", rhs, 3)) ||
      failed(verifyRank(*this, "ends", ends, 1)) ||
      failed(verifyRank(*this, "the result", init, 2)))
    return failure();

  // Element types.
  Type element = lhs.getElementType();
  if (element != rhs.getElementType())
    return emitOpError("expected rhs to have elements of type ")
           << element << " as lhs has, found " << rhs.getElementType();
  if (!element.isSignlessInteger(8) &&
      !isa<Float8E4M3FNType, Float8E5M2Type>(element) &&
      failed(verifyFloat(*this, "operands that are neither i8 nor 8-bit floats",
                         element)))
    return failure();
  if (!ends.getElementType().isSignlessInteger(32) &&
      !ends.getElementType().isSignlessInteger(64))
    return emitOpError("expected ends to have elements of type i32 or i64, "
                       "found ")
           << ends.getElementType();
  if (failed(verifyAccumulator(*this, element, getAccumulatorType())))
    return failure();

  // Extents.
  if (failed(verifyExtent(*this, "k", "lhs", lhs.getDimSize(1), "rhs",
                          rhs.getDimSize(getRhsK()))) ||
      failed(verifyExtent(*this, "n", "rhs", rhs.getDimSize(getRhsN()),
                          "the result", init.getDimSize(1))) ||
      failed(verifyExtent(*this, "rows", "lhs", lhs.getDimSize(0), "the result",
                          init.getDimSize(0))) ||
      failed(verifyExtent(*this, "groups", "rhs", rhs.getDimSize(0), "ends",
                          ends.getDimSize(0))))
    return failure();
  return success();
}

LogicalResult
GroupedGemmOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getInit()));
  return success();
}

namespace {
/// Without groups no row has terms: a product of no depth, of which only the
/// epilogue is left.
struct MakeProductOfNoGroups : OpRewritePattern<GroupedGemmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GroupedGemmOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumGroups() != 0)
      return failure();
    // The operands that are not read any more keep what a run refuses of them.
    emitExtentChecks(rewriter, op);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getInit());
    OpFoldResult none = rewriter.getIndexAttr(0);
    Type element = getElementTypeOrSelf(op.getLhs().getType());
    auto makeEmpty = [&](ArrayRef<OpFoldResult> extents) -> Value {
      return tensor::EmptyOp::create(rewriter, op.getLoc(), extents, element);
    };
    auto product = GemmOp::create(
        rewriter, op.getLoc(), makeEmpty({sizes[0], none}),
        makeEmpty({sizes[1], none}), op.getExtras(), op.getInit(),
        /*aux_inits=*/ValueRange(), /*transpose_lhs=*/false,
        /*transpose_rhs=*/true, op.getAccAttr(), op.getEpilogueMapsAttr(),
        /*aux_maps=*/rewriter.getArrayAttr({}),
        /*aux_kinds=*/rewriter.getArrayAttr({}), /*schedule=*/ScheduleAttr());
    rewriter.inlineRegionBefore(op.getEpilogue(), product.getEpilogue(),
                                product.getEpilogue().end());
    rewriter.replaceOp(op, product.getResult());
    return success();
  }
};
} // namespace

void mlir::tracea::populateGroupedGemmCanonicalizations(
    RewritePatternSet &patterns) {
  patterns.add<MakeProductOfNoGroups>(patterns.getContext());
}
