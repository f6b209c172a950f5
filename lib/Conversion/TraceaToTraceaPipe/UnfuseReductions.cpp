//===- UnfuseReductions.cpp - Reductions behind a product -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variant that reduces nothing stores what is to be reduced, and an operation
// of linalg reduces it.

#include "GemmResults.h"
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

GemmOp mlir::tracea::unfuseReductions(RewriterBase &rewriter, GemmOp op) {
  auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
  SmallVector<Value> inits(op.getAuxInits());
  SmallVector<Attribute> maps(op.getAuxMaps().getValue());
  SmallVector<Attribute> kinds(op.getAuxKinds().getValue());
  SmallVector<unsigned> reduced;
  for (unsigned index = 0; index < inits.size(); ++index)
    if (getAuxKind(epilogue, index) != ReductionKind::None)
      reduced.push_back(index);
  if (reduced.empty())
    return op;

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  MLIRContext *context = rewriter.getContext();
  Location loc = op.getLoc();
  unsigned rank = cast<RankedTensorType>(op.getInit().getType()).getRank();
  for (unsigned index : reduced) {
    inits[index] = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getInit()),
        getElementTypeOrSelf(inits[index].getType()));
    maps[index] = AffineMapAttr::get(rewriter.getMultiDimIdentityMap(rank));
    kinds[index] = ReductionKindAttr::get(context, ReductionKind::None);
  }
  SmallVector<Type> types = {op.getResult().getType()};
  llvm::append_range(types, ValueRange(inits).getTypes());
  GemmOp whole = GemmOp::create(
      rewriter, loc, types, op.getLhs(), op.getRhs(), op.getExtras(),
      op.getInit(), inits, op.getTransposeLhs(), op.getTransposeRhs(),
      op.getAccAttr(), op.getEpilogueMaps(), rewriter.getArrayAttr(maps),
      rewriter.getArrayAttr(kinds), op.getScheduleAttr());
  whole->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  whole.getEpilogue().takeBody(op.getEpilogue());
  SmallVector<Value> results(whole->getResults());
  for (unsigned index : reduced)
    results[index + 1] =
        reduce(rewriter, loc,
               cast<ReductionKindAttr>(op.getAuxKinds()[index]).getValue(),
               results[index + 1],
               cast<AffineMapAttr>(op.getAuxMaps()[index]).getValue(),
               op.getAuxInits()[index]);
  remark::missed(
      loc, remark::RemarkOpts::name("reduction-unfused").category(DEBUG_TYPE))
      << remark::metric("Operation", op->getName().getStringRef())
      << remark::metric("Results", static_cast<int>(reduced.size()))
      << remark::reason("variant '{0}' stores what is reduced",
                        op.getScheduleAttr().getVariant());
  rewriter.replaceOp(op, results);
  rewriter.setInsertionPoint(whole);
  return whole;
}
