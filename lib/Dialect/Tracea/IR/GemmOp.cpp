//===- GemmOp.cpp - Matrix product ----------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verification.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

Type GemmOp::getAccumulatorType() {
  if (std::optional<Type> acc = getAcc())
    return *acc;
  return getDefaultAccumulatorType(getElementTypeOrSelf(getLhs().getType()));
}

LogicalResult GemmOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties properties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  // The destinations are the last two segments.
  auto *values = properties.as<Properties *>();
  size_t count =
      1 + static_cast<size_t>(values ? values->operandSegmentSizes.back() : 0);
  if (operands.size() < count)
    return failure();
  llvm::append_range(types, operands.take_back(count).getTypes());
  return success();
}

MutableOperandRange GemmOp::getDpsInitsMutable() {
  return MutableOperandRange(getOperation(),
                             getInitMutable().getOperandNumber(),
                             1 + getAuxInits().size());
}

int64_t GemmOp::getBatchRank() {
  return cast<RankedTensorType>(getResult().getType()).getRank() - 2;
}

/// Extent of the last dimension (0) or the last but one (1).
static int64_t getMatrixExtent(Value matrix, int64_t fromLast) {
  RankedTensorType type = cast<RankedTensorType>(matrix.getType());
  return type.getDimSize(type.getRank() - 1 - fromLast);
}

int64_t GemmOp::getM() {
  int64_t extent = getMatrixExtent(getLhs(), getTransposeLhs() ? 0 : 1);
  return ShapedType::isStatic(extent) ? extent : getMatrixExtent(getInit(), 1);
}

int64_t GemmOp::getN() {
  int64_t extent = getMatrixExtent(getRhs(), getTransposeRhs() ? 1 : 0);
  return ShapedType::isStatic(extent) ? extent : getMatrixExtent(getInit(), 0);
}

int64_t GemmOp::getK() {
  int64_t extent = getMatrixExtent(getLhs(), getTransposeLhs() ? 1 : 0);
  return ShapedType::isStatic(extent)
             ? extent
             : getMatrixExtent(getRhs(), getTransposeRhs() ? 0 : 1);
}

LogicalResult GemmOp::verify() {
  RankedTensorType lhs = cast<RankedTensorType>(getLhs().getType());
  RankedTensorType rhs = cast<RankedTensorType>(getRhs().getType());
  RankedTensorType init = cast<RankedTensorType>(getInit().getType());

  // Ranks: each operand carries the batch dimensions or none.
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return emitOpError("expected lhs and rhs of rank 2 or more, found ")
           << lhs.getRank() << " and " << rhs.getRank();
  int64_t rank = std::max(lhs.getRank(), rhs.getRank());
  if (lhs.getRank() != rank && lhs.getRank() != 2)
    return emitOpError("expected lhs to have rank ")
           << rank << " or 2, found " << lhs.getRank();
  if (rhs.getRank() != rank && rhs.getRank() != 2)
    return emitOpError("expected rhs to have rank ")
           << rank << " or 2, found " << rhs.getRank();
  if (failed(verifyRank(*this, "the result", init, rank)))
    return failure();

  // Element types.
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError("expected rhs to have elements of type ")
           << lhs.getElementType() << " as lhs has, found "
           << rhs.getElementType();
  if (!lhs.getElementType().isSignlessInteger(8) &&
      !isa<Float8E4M3FNType, Float8E5M2Type>(lhs.getElementType()) &&
      failed(verifyFloat(*this, "operands that are neither i8 nor 8-bit floats",
                         lhs.getElementType())))
    return failure();
  if (failed(
          verifyAccumulator(*this, lhs.getElementType(), getAccumulatorType())))
    return failure();

  // Extents.
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    std::string name = ("batch dimension " + Twine(dim)).str();
    if (lhs.getRank() == rank &&
        failed(verifyExtent(*this, name, "the result", init.getDimSize(dim),
                            "lhs", lhs.getDimSize(dim))))
      return failure();
    if (rhs.getRank() == rank &&
        failed(verifyExtent(*this, name, "the result", init.getDimSize(dim),
                            "rhs", rhs.getDimSize(dim))))
      return failure();
    // The result may be dynamic where both operands are known.
    if (lhs.getRank() == rhs.getRank() &&
        failed(verifyExtent(*this, name, "lhs", lhs.getDimSize(dim), "rhs",
                            rhs.getDimSize(dim))))
      return failure();
  }
  int64_t lhsM = getMatrixExtent(getLhs(), getTransposeLhs() ? 0 : 1);
  int64_t lhsK = getMatrixExtent(getLhs(), getTransposeLhs() ? 1 : 0);
  int64_t rhsK = getMatrixExtent(getRhs(), getTransposeRhs() ? 0 : 1);
  int64_t rhsN = getMatrixExtent(getRhs(), getTransposeRhs() ? 1 : 0);
  if (failed(verifyExtent(*this, "k", "lhs", lhsK, "rhs", rhsK)) ||
      failed(verifyExtent(*this, "m", "lhs", lhsM, "the result",
                          getMatrixExtent(getInit(), 1))) ||
      failed(verifyExtent(*this, "n", "rhs", rhsN, "the result",
                          getMatrixExtent(getInit(), 0))))
    return failure();
  return success();
}
