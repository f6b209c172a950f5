//===- AuxResults.cpp - Auxiliary results of products ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AuxResults.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

GemmOp mlir::tracea::appendAuxResults(RewriterBase &rewriter, GemmOp op,
                                      ArrayRef<AuxResult> added) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  MLIRContext *context = rewriter.getContext();
  SmallVector<Type> types(op->getResultTypes());
  SmallVector<Value> inits(op.getAuxInits());
  SmallVector<Attribute> maps(op.getAuxMaps().getValue());
  SmallVector<Attribute> kinds(op.getAuxKinds().getValue());
  YieldOp yield = cast<YieldOp>(op.getEpilogue().front().getTerminator());
  SmallVector<Value> scalars(yield.getValues());
  for (const AuxResult &result : added) {
    types.push_back(result.init.getType());
    inits.push_back(result.init);
    maps.push_back(AffineMapAttr::get(result.map));
    kinds.push_back(ReductionKindAttr::get(context, result.kind));
    scalars.push_back(result.scalar);
  }
  GemmOp larger = GemmOp::create(
      rewriter, op.getLoc(), types, op.getLhs(), op.getRhs(), op.getExtras(),
      op.getInit(), inits, op.getTransposeLhs(), op.getTransposeRhs(),
      op.getAccAttr(), op.getEpilogueMaps(), rewriter.getArrayAttr(maps),
      rewriter.getArrayAttr(kinds), op.getScheduleAttr());
  larger->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValuesMutable().assign(scalars); });
  rewriter.inlineRegionBefore(op.getEpilogue(), larger.getEpilogue(),
                              larger.getEpilogue().end());
  rewriter.replaceOp(op, larger->getResults().take_front(op->getNumResults()));
  return larger;
}

Value mlir::tracea::createAuxInit(OpBuilder &builder, GemmOp op, AffineMap map,
                                  RankedTensorType type) {
  SmallVector<Value> extents;
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (type.isDynamicDim(dim))
      extents.push_back(
          tensor::DimOp::create(builder, op.getLoc(), op.getInit(),
                                cast<AffineDimExpr>(expr).getPosition()));
  return tensor::EmptyOp::create(builder, op.getLoc(), type, extents);
}

bool mlir::tracea::isDefinedBefore(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return true;
  Operation *place = op->getBlock()->findAncestorOpInBlock(*def);
  return !place || (place != op && place->isBeforeInBlock(op));
}
