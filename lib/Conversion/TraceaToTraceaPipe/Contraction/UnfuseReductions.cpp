//===- UnfuseReductions.cpp - Reductions behind a kernel -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variant that reduces nothing stores what is to be reduced, and an operation
// of linalg reduces it.

#include "ContractionResults.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

#define DEBUG_TYPE "convert-tracea-to-tracea-pipe"

using namespace mlir;
using namespace mlir::tracea;

/// `values` reduced over the dimensions that `map` lacks.
static Value reduce(RewriterBase &rewriter, Location loc, ReductionKind kind,
                    Value values, AffineMap map, Value init) {
  Value neutral = arith::ConstantOp::create(
      rewriter, loc,
      getNeutralElement(kind, getElementTypeOrSelf(init.getType())));
  Value start =
      linalg::FillOp::create(rewriter, loc, neutral, init).getResult(0);
  SmallVector<utils::IteratorType> iterators(map.getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : map.getResults())
    iterators[cast<AffineDimExpr>(expr).getPosition()] =
        utils::IteratorType::parallel;
  AffineMap identity = rewriter.getMultiDimIdentityMap(map.getNumDims());
  return linalg::GenericOp::create(
             rewriter, loc, start.getType(), values, start,
             ArrayRef<AffineMap>{identity, map}, iterators,
             [&](OpBuilder &b, Location loc, ValueRange scalars) {
               linalg::YieldOp::create(
                   b, loc, combine(b, loc, kind, scalars[1], scalars[0]));
             })
      .getResult(0);
}

Value mlir::tracea::reduceBehind(RewriterBase &rewriter, EpilogueOpInterface op,
                                 unsigned index, Value values) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  remark::missed(
      op.getLoc(),
      remark::RemarkOpts::name("reduction-unfused").category(DEBUG_TYPE))
      << remark::metric("Operation", op->getName().getStringRef())
      << remark::metric("Result", static_cast<int>(index) + 1)
      << remark::reason("variant '{0}' stores what is reduced",
                        cast<ScheduledOpInterface>(op.getOperation())
                            .getScheduleAttr()
                            .getVariant());
  return reduce(rewriter, op.getLoc(), getAuxKind(op, index), values,
                getAuxMap(op, index), op.getAuxInitsMutable()[index].get());
}
