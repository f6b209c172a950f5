//===- JoinedRows.cpp - Several dimensions of a result as one -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a contraction's tiles may be several dimensions of its result, the
// pixels of images say. Where they follow each other in memory they are one
// dimension of the same memory, and a tile is a box of it, which copies in bulk
// move. What the epilogue reads of each row is joined as the result is.

#include "Contraction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

/// The dimensions of a tensor, of which `count` from `first` on are one.
static SmallVector<ReassociationIndices> getJoined(int64_t rank, int64_t first,
                                                   int64_t count) {
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim <= first || dim >= first + count)
      dims.push_back({dim});
    else
      dims.back().push_back(dim);
  return dims;
}

/// `tensor` with the elements of `count` dimensions along the last of them.
static Value joinDims(ImplicitLocOpBuilder &b, Value tensor, int64_t first,
                      int64_t count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> dims =
      getJoined(type.getRank(), first, count);
  Value row = tensor::CollapseShapeOp::create(b, tensor, dims);
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t dim = first; dim + 1 < first + count; ++dim)
    shape[dim] = 1;
  shape[first + count - 1] =
      cast<RankedTensorType>(row.getType()).getDimSize(first);
  return tensor::ExpandShapeOp::create(b, type.clone(shape), row, dims);
}

EpilogueOpInterface mlir::tracea::joinResultDims(RewriterBase &rewriter,
                                                 EpilogueOpInterface op,
                                                 unsigned count) {
  if (!op.getAuxInitsMutable().empty())
    return {};
  // Where those dimensions begin of what the epilogue reads of each row.
  SmallVector<std::optional<unsigned>> begins;
  for (auto map : op.getEpilogueMaps().getAsValueRange<AffineMapAttr>()) {
    auto find = [&](unsigned dim) {
      return map.getResultPosition(getAffineDimExpr(dim, map.getContext()));
    };
    std::optional<unsigned> begin = find(0);
    for (unsigned dim = 1; dim < count; ++dim)
      if (find(dim) != (begin ? std::optional(*begin + dim) : std::nullopt))
        return {};
    begins.push_back(begin);
  }
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  b.setInsertionPoint(op);
  Value init = op.getEpilogueInit().get();
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), init);
  // Nothing is read of the destination, and another one need not be copied to.
  Value row = joinDims(
      b, tensor::EmptyOp::create(b, sizes, type.getElementType()), 0, count);

  SmallVector<Value> extras;
  for (auto [extra, begin] : llvm::zip(op.getExtras(), begins))
    extras.push_back(begin ? joinDims(b, extra, *begin, count) : extra);
  auto other = cast<EpilogueOpInterface>(b.clone(*op));
  for (auto [operand, extra] : llvm::zip(other.getExtrasMutable(), extras))
    operand.set(extra);
  other.getEpilogueInit().set(row);
  Value result = other.getEpilogueResult();
  result.setType(row.getType());
  SmallVector<ReassociationIndices> dims = getJoined(type.getRank(), 0, count);
  Value joint = tensor::CollapseShapeOp::create(b, result, dims);
  rewriter.replaceOp(
      op, tensor::ExpandShapeOp::create(b, type, joint, dims, sizes));
  return other;
}
