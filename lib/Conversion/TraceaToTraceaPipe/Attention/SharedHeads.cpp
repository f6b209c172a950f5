//===- SharedHeads.cpp - Sums of query heads that share a key head --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedHeads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

int64_t mlir::tracea::getSharedHeads(AttentionOpInterface op) {
  int64_t heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  int64_t groups = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(groups))
    return ShapedType::kDynamic;
  return heads / std::max<int64_t>(groups, 1);
}

Value mlir::tracea::createHeadParts(RewriterBase &rewriter,
                                    AttentionOpInterface op, Value init) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, init);
  sizes[1] = rewriter.getIndexAttr(
      cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1));
  return tensor::EmptyOp::create(rewriter, loc, sizes, op.getAccumulatorType());
}

Value mlir::tracea::addHeadParts(RewriterBase &rewriter, Location loc,
                                 Value parts, Value init) {
  auto partsType = cast<RankedTensorType>(parts.getType());
  auto type = cast<RankedTensorType>(init.getType());
  Type sumType = partsType.getElementType();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, init);
  SmallVector<OpFoldResult> apart(sizes);
  int64_t shared = partsType.getDimSize(1) / type.getDimSize(1);
  apart.insert(apart.begin() + 2, rewriter.getIndexAttr(shared));
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + 2, shared);
  Value expanded = tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, sumType), parts,
      SmallVector<ReassociationIndices>{{0}, {1, 2}, {3}, {4}}, apart);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(sumType));
  Value into =
      linalg::FillOp::create(
          rewriter, loc, zero,
          Value(tensor::EmptyOp::create(rewriter, loc, sizes, sumType)))
          .getResult(0);
  using utils::IteratorType;
  MLIRContext *context = rewriter.getContext();
  SmallVector<IteratorType> loops(5, IteratorType::parallel);
  loops[2] = IteratorType::reduction;
  Value sums =
      linalg::GenericOp::create(
          rewriter, loc, into.getType(), expanded, into,
          ArrayRef<AffineMap>{
              AffineMap::getMultiDimIdentityMap(5, context),
              AffineMap::getMultiDimMapWithTargets(5, {0, 1, 3, 4}, context)},
          loops,
          [](OpBuilder &nested, Location at, ValueRange scalars) {
            linalg::YieldOp::create(
                nested, at,
                arith::AddFOp::create(nested, at, scalars[1], scalars[0])
                    .getResult());
          })
          .getResult(0);
  AffineMap same = AffineMap::getMultiDimIdentityMap(4, context);
  return linalg::GenericOp::create(
             rewriter, loc, type, sums, init, ArrayRef<AffineMap>{same, same},
             SmallVector<IteratorType>(4, IteratorType::parallel),
             [&](OpBuilder &nested, Location at, ValueRange scalars) {
               linalg::YieldOp::create(nested, at,
                                       convertScalar(nested, at, scalars[0],
                                                     type.getElementType()));
             })
      .getResult(0);
}
