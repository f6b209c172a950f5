//===- FoldElementwise.cpp - Evaluates elementwise ops on constants -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One element at a time, each scalar operation by its own folder, so that the
// folded value is the one that the operations define. Conversions that round
// and a few functions without a folder are evaluated here.

#include "EpilogueUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tracea;

static Attribute foldRsqrt(FloatAttr operand) {
  // In double, rounded once more at the end: below f64 the result is within
  // half a unit in the last place but for double rounding.
  APFloat value = operand.getValue();
  bool ignored;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
  APFloat result(1.0 / std::sqrt(value.convertToDouble()));
  result.convert(cast<FloatType>(operand.getType()).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &ignored);
  return FloatAttr::get(operand.getType(), result);
}

/// Evaluates one scalar operation; null if it cannot be.
static Attribute evaluate(Operation *op,
                          const llvm::SmallDenseMap<Value, Attribute> &values) {
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Attribute value = values.lookup(operand);
    if (!value)
      return {};
    operands.push_back(value);
  }
  auto asFloat = [&](unsigned index) {
    return dyn_cast<FloatAttr>(operands[index]);
  };

  // The folder of truncf gives up on a value that has to be rounded.
  if (isa<arith::TruncFOp>(op)) {
    FloatType type = dyn_cast<FloatType>(op->getResult(0).getType());
    FloatAttr operand = asFloat(0);
    if (!type || !operand)
      return {};
    APFloat value = operand.getValue();
    bool ignored;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &ignored);
    return FloatAttr::get(type, value);
  }
  if (isa<math::RsqrtOp>(op))
    return asFloat(0) ? foldRsqrt(asFloat(0)) : Attribute();
  if (isa<math::FmaOp>(op)) {
    if (!asFloat(0) || !asFloat(1) || !asFloat(2))
      return {};
    APFloat value = asFloat(0).getValue();
    value.fusedMultiplyAdd(asFloat(1).getValue(), asFloat(2).getValue(),
                           APFloat::rmNearestTiesToEven);
    return FloatAttr::get(asFloat(0).getType(), value);
  }

  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  if (Attribute value = dyn_cast<Attribute>(results.front()))
    return value;
  return values.lookup(cast<Value>(results.front()));
}

/// Offset of each result element in a tensor of type `type` read by `map`.
static int64_t getOffset(ArrayRef<int64_t> index, AffineMap map,
                         ArrayRef<int64_t> shape) {
  int64_t offset = 0;
  for (auto [expr, extent] : llvm::zip_equal(map.getResults(), shape)) {
    int64_t position = 0;
    if (AffineDimExpr dim = dyn_cast<AffineDimExpr>(expr))
      position = index[dim.getPosition()];
    offset = offset * extent + position;
  }
  return offset;
}

Attribute mlir::tracea::foldElementwise(const ElementwiseOp &op,
                                        int64_t maxElements) {
  Operation *operation = op.getOperation();
  RankedTensorType type =
      cast<RankedTensorType>(operation->getResult(0).getType());
  if (!type.hasStaticShape() || type.getNumElements() == 0 ||
      !op.getCaptures().empty())
    return {};

  SmallVector<DenseElementsAttr> tensors;
  SmallVector<Attribute> scalars;
  bool anyTensor = false;
  bool allSplat = true;
  for (const ElementwiseOp::Input &input : op.getInputs()) {
    Attribute value;
    if (!matchPattern(input.operand->get(), m_Constant(&value)))
      return {};
    DenseElementsAttr dense = dyn_cast<DenseElementsAttr>(value);
    if (!dense && isa<ShapedType>(input.operand->get().getType()))
      return {};
    anyTensor |= static_cast<bool>(dense);
    allSplat &= !dense || dense.isSplat();
    tensors.push_back(dense);
    scalars.push_back(dense ? Attribute() : value);
  }
  if (!anyTensor)
    return {};
  int64_t count = allSplat ? 1 : type.getNumElements();
  if (count > maxElements)
    return {};

  // Folders may rewrite an operation in place: evaluate a private copy.
  Block scratch;
  SmallVector<Value> arguments;
  for (const ElementwiseOp::Input &input : op.getInputs())
    arguments.push_back(scratch.addArgument(
        getElementTypeOrSelf(input.operand->get().getType()),
        operation->getLoc()));
  OpBuilder builder(operation->getContext());
  builder.setInsertionPointToEnd(&scratch);
  Value result = op.emit(builder, arguments, {});

  SmallVector<Attribute> elements;
  SmallVector<int64_t> index(type.getRank(), 0);
  llvm::SmallDenseMap<Value, Attribute> values;
  for (int64_t element = 0; element < count; ++element) {
    for (auto [position, input] : llvm::enumerate(op.getInputs())) {
      Attribute value = scalars[position];
      if (DenseElementsAttr dense = tensors[position])
        value = dense.isSplat()
                    ? dense.getSplatValue<Attribute>()
                    : dense.getValues<Attribute>()[getOffset(
                          index, input.map, dense.getType().getShape())];
      values[arguments[position]] = value;
    }
    for (Operation &inner : scratch) {
      Attribute value = evaluate(&inner, values);
      if (!value)
        return {};
      values[inner.getResult(0)] = value;
    }
    Attribute value = values.lookup(result);
    TypedAttr typed = dyn_cast_if_present<TypedAttr>(value);
    if (!typed || typed.getType() != type.getElementType())
      return {};
    elements.push_back(value);
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      if (++index[dim] < type.getDimSize(dim))
        break;
      index[dim] = 0;
    }
  }
  return DenseElementsAttr::get(type, elements);
}

namespace {
struct FoldElementwisePattern : public RewritePattern {
  FoldElementwisePattern(MLIRContext *context, int64_t maxElements,
                         std::function<void()> onFold)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        maxElements(maxElements), onFold(std::move(onFold)) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 ||
        !isa<RankedTensorType>(op->getResult(0).getType()))
      return failure();
    std::string ignored;
    std::optional<ElementwiseOp> elementwise =
        ElementwiseOp::match(op, ignored);
    if (!elementwise)
      return failure();
    Attribute value = foldElementwise(*elementwise, maxElements);
    if (!value)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, cast<TypedAttr>(value));
    if (onFold)
      onFold();
    return success();
  }

private:
  int64_t maxElements;
  std::function<void()> onFold;
};
} // namespace

void mlir::tracea::populateFoldElementwisePatterns(
    RewritePatternSet &patterns, int64_t maxElements,
    std::function<void()> onFold) {
  patterns.add<FoldElementwisePattern>(patterns.getContext(), maxElements,
                                       std::move(onFold));
}
