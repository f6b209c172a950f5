//===- GemmContraction.cpp - Products of matrices as contractions ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of a matrix is a rectangle of it, in either order.

#include "GemmContraction.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

Reuse MatrixOperand::getReuse(int64_t otherExtent) const {
  // It is read once where the other operand has a single tile.
  bool isOnce = !ShapedType::isDynamic(form.otherExtent) &&
                form.otherExtent <= otherExtent;
  return isOnce ? Reuse::Once : Reuse::Unknown;
}

Value MatrixOperand::getSizeK(KernelBuilder &kb) const {
  if (type.isDynamicDim(getDimK()))
    return kb.getDim(tensor, getDimK());
  return kb.index().constant(type.getDimSize(getDimK()));
}

Value MatrixOperand::getSteps(KernelBuilder &kb, int64_t depth) const {
  return kb.index().ceilDiv(getSizeK(kb), depth);
}

SmallVector<Value> MatrixOperand::at(const ResultTile &tile, Value outer,
                                     Value k) const {
  SmallVector<Value> indices(ArrayRef(tile.batch).take_front(getBatchRank()));
  if (form.isAlongK)
    indices.append({outer, k});
  else
    indices.append({k, outer});
  return indices;
}

SmallVector<AffineExpr> MatrixOperand::at(ArrayRef<AffineExpr> batch,
                                          AffineExpr outer,
                                          AffineExpr k) const {
  SmallVector<AffineExpr> place(batch.take_front(getBatchRank()));
  if (form.isAlongK)
    place.append({outer, k});
  else
    place.append({k, outer});
  return panels ? panels->at(place) : place;
}

SmallVector<Value> MatrixOperand::getCoordinates(KernelBuilder &kb,
                                                 const ResultTile &tile,
                                                 Value step,
                                                 int64_t depth) const {
  return at(tile, form.isLeft ? tile.m : tile.n, kb.index().mul(step, depth));
}

Value MatrixOperand::stage(KernelBuilder &kb, const BlockForm &block,
                           const ResultTile &, ValueRange coordinates) const {
  int64_t batch = getBatchRank();
  return StageOp::create(
      kb.builder(), block.type, kb.getMemRef(tensor), coordinates, ValueRange(),
      kb.matrixMap(batch, /*transposed=*/block.isAlongK != form.isAlongK),
      ArrayRef<int64_t>{batch, batch + 1}, block.slots, block.reuse);
}

/// The form of an operand of `op`, whose result has `other` for its other
/// dimension.
static MatrixOperand::Form getForm(GemmOp op, bool isLeft, int64_t otherDim) {
  Value tensor = isLeft ? op.getLhs() : op.getRhs();
  bool isAlongK = isLeft ? !op.getTransposeLhs() : op.getTransposeRhs();
  auto result = cast<RankedTensorType>(op.getInit().getType());
  bool isShared =
      cast<RankedTensorType>(tensor.getType()).getRank() != result.getRank();
  return {isLeft, isAlongK,
          isAlongK ? op.getK()
          : isLeft ? op.getM()
                   : op.getN(),
          isShared ? ShapedType::kDynamic : result.getDimSize(otherDim)};
}

GemmContraction::GemmContraction(GemmOp op)
    : Contraction(op),
      lhs(op.getLhs(), getForm(op, /*isLeft=*/true, op.getBatchRank() + 1)),
      rhs(op.getRhs(), getForm(op, /*isLeft=*/false, op.getBatchRank())) {}

void GemmContraction::emitChecks(RewriterBase &rewriter) {
  int64_t batchRank = getBatchRank();
  Value left = lhs.getTensor(), right = rhs.getTensor(), init = getInit();
  emitExtentCheck(rewriter, op, left, lhs.getDimK(), right, rhs.getDimK(),
                  "k of lhs and rhs to be equal");
  emitExtentCheck(rewriter, op, left, lhs.getOuterDim(), init, batchRank,
                  "m of lhs and result to be equal");
  emitExtentCheck(rewriter, op, right, rhs.getOuterDim(), init, batchRank + 1,
                  "n of rhs and result to be equal");
  for (int64_t dim = 0; dim < batchRank; ++dim) {
    if (lhs.getBatchRank())
      emitExtentCheck(rewriter, op, left, dim, init, dim,
                      "batch dimensions of lhs and result to be equal");
    if (rhs.getBatchRank())
      emitExtentCheck(rewriter, op, right, dim, init, dim,
                      "batch dimensions of rhs and result to be equal");
  }
}

std::optional<Definition> GemmContraction::getTerms(KernelBuilder &kb,
                                                    unsigned leading) {
  unsigned batch = getBatchRank(), rank = leading + batch + 2;
  Definition definition(kb, rank, 1);
  SmallVector<AffineExpr> dims;
  for (unsigned position = leading; position <= rank; ++position)
    dims.push_back(definition.dim(position));
  AffineExpr m = dims[batch], n = dims[batch + 1], k = dims[batch + 2];
  definition.add(lhs.getTensor(), lhs.at(dims, m, k));
  definition.add(rhs.getTensor(), rhs.at(dims, n, k));
  return definition;
}
