//===- Norms.cpp - Softmax and normalizations -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verification.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

/// The type of the elements that the operation speaks of.
template <typename OpTy>
static Type getElementType(OpTy op) {
  if (auto row = dyn_cast<RowOpInterface>(op.getOperation()))
    return getRowElementType(row);
  return getElementTypeOrSelf(op.getInput().getType());
}

template <typename OpTy>
static Type getRowAccumulator(OpTy op) {
  if (std::optional<Type> acc = op.getAcc())
    return *acc;
  return getDefaultAccumulatorType(getElementType(op));
}

/// The destinations are the last three segments, and say the results' types.
template <typename OpTy>
static LogicalResult inferRowTypes(ValueRange operands,
                                   OpaqueProperties properties,
                                   SmallVectorImpl<Type> &types) {
  auto *values = properties.as<typename OpTy::Properties *>();
  size_t count = 1;
  if (values)
    for (int32_t size : ArrayRef(values->operandSegmentSizes).take_back(2))
      count += static_cast<size_t>(size);
  if (operands.size() < count)
    return failure();
  llvm::append_range(types, operands.take_back(count).getTypes());
  return success();
}

#define TRACEA_ROW_METHODS(OpTy)                                               \
  LogicalResult OpTy::inferReturnTypes(                                        \
      MLIRContext *, std::optional<Location>, ValueRange operands,             \
      DictionaryAttr, OpaqueProperties properties, RegionRange,                \
      SmallVectorImpl<Type> &types) {                                          \
    return inferRowTypes<OpTy>(operands, properties, types);                   \
  }                                                                            \
  MutableOperandRange OpTy::getDpsInitsMutable() {                             \
    return MutableOperandRange(                                                \
        getOperation(), getInitMutable().getOperandNumber(),                   \
        1 + getKeptInits().size() + getRowInits().size());                     \
  }
TRACEA_ROW_METHODS(SoftmaxOp)
TRACEA_ROW_METHODS(LayerNormOp)
TRACEA_ROW_METHODS(RMSNormOp)
#undef TRACEA_ROW_METHODS

Type SoftmaxOp::getAccumulatorType() { return getRowAccumulator(*this); }
Type BatchNormOp::getAccumulatorType() { return getRowAccumulator(*this); }
Type LayerNormOp::getAccumulatorType() { return getRowAccumulator(*this); }
Type RMSNormOp::getAccumulatorType() { return getRowAccumulator(*this); }

/// What all of them expect: floats, and a result of the input's shape.
template <typename OpTy>
static LogicalResult verifyRowOp(OpTy op) {
  RankedTensorType input = cast<RankedTensorType>(op.getInput().getType());
  RankedTensorType init = cast<RankedTensorType>(op.getInit().getType());
  Type element = getElementType(op);
  if (failed(verifyFloat(op, "the input", element)) ||
      failed(verifyAccumulator(op, element, op.getAccumulatorType())) ||
      failed(verifyRank(op, "the result", init, input.getRank())))
    return failure();
  return verifySameShape(op, "the input", input.getShape(), "the result",
                         init.getShape());
}

static LogicalResult verifyEpsilon(Operation *op, const APFloat &epsilon) {
  if (epsilon.isFinite() && !(epsilon.isNegative() && !epsilon.isZero()))
    return success();
  SmallString<16> text;
  epsilon.toString(text);
  return op->emitOpError("expected a finite 'epsilon' of at least 0, found ")
         << text;
}

/// A parameter of floats with the given shape.
static LogicalResult verifyParameter(Operation *op, StringRef name,
                                     Value parameter, ArrayRef<int64_t> shape) {
  if (!parameter)
    return success();
  RankedTensorType type = cast<RankedTensorType>(parameter.getType());
  if (failed(verifyRank(op, name, type, shape.size())) ||
      failed(verifyFloat(op, name, type.getElementType())))
    return failure();
  return verifySameShape(op, "the input's normalized part", shape, name,
                         type.getShape());
}

LogicalResult SoftmaxOp::verify() {
  if (failed(verifyRowOp(*this)))
    return failure();
  return verifyDimension(
      *this, "dim", getDim(),
      cast<RankedTensorType>(getInput().getType()).getRank());
}

LogicalResult BatchNormOp::verify() {
  RankedTensorType input = cast<RankedTensorType>(getInput().getType());
  int64_t axis = getAxis();
  if (failed(verifyRowOp(*this)) ||
      failed(verifyDimension(*this, "axis", axis, input.getRank())) ||
      failed(verifyEpsilon(*this, getEpsilon())))
    return failure();
  ArrayRef<int64_t> shape = input.getShape().slice(axis, 1);
  if (failed(verifyParameter(*this, "scale", getScale(), shape)) ||
      failed(verifyParameter(*this, "bias", getBias(), shape)) ||
      failed(verifyParameter(*this, "mean", getMean(), shape)) ||
      failed(verifyParameter(*this, "variance", getVariance(), shape)))
    return failure();
  return success();
}

LogicalResult LayerNormOp::verify() {
  RankedTensorType input = cast<RankedTensorType>(getInput().getType());
  int64_t axis = getAxis();
  if (failed(verifyRowOp(*this)) ||
      failed(verifyDimension(*this, "axis", axis, input.getRank())) ||
      failed(verifyEpsilon(*this, getEpsilon())))
    return failure();
  ArrayRef<int64_t> shape = input.getShape().drop_front(axis);
  if (failed(verifyParameter(*this, "scale", getScale(), shape)) ||
      failed(verifyParameter(*this, "bias", getBias(), shape)))
    return failure();
  return success();
}

LogicalResult RMSNormOp::verify() {
  RankedTensorType input = cast<RankedTensorType>(getInput().getType());
  int64_t axis = getAxis();
  if (failed(verifyRowOp(*this)) ||
      failed(verifyDimension(*this, "axis", axis, input.getRank())) ||
      failed(verifyEpsilon(*this, getEpsilon())))
    return failure();
  return verifyParameter(*this, "scale", getScale(),
                         input.getShape().drop_front(axis));
}
