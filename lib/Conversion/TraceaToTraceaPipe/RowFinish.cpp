//===- RowFinish.cpp - What is made of a row's own results ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a row is in registers, so is what the epilogue makes of it until the
// row of that is reduced; a longer row goes through the epilogue once for each
// reduction, and once more for its results. What a finish computes of the row
// alone is computed once a row.

#include "Contraction/ContractionResults.h"
#include "RowKernel.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

SmallVector<Value> RowKernel::mapElements(function_ref<Value(Value)> body) {
  Value dest = kb.getDest(op.getEpilogueInit().get());
  return kb.emitEpilogueResults(op, body(loadInput(std::nullopt)),
                                {dest, indices, getMap()}, limits);
}

void RowKernel::finish(function_ref<Value(Value)> body) {
  SmallVector<Value> heldElements, reduced;
  if (isResident)
    overRow(Value(), [&](Value) {
      heldElements = mapElements(body);
      return Value();
    });
  auto yielded = cast<YieldOp>(op.getEpilogue().front().getTerminator());
  for (auto [index, scalar] :
       llvm::enumerate(yielded.getValues().drop_front())) {
    ReductionKind kind = getFinishKind(row, index);
    TypedAttr neutral = getNeutralElement(kind, scalar.getType());
    auto fold = [&, index = index](Value carried) {
      Value term =
          isResident ? heldElements[index + 1] : mapElements(body)[index + 1];
      term = dropPadding(term, neutral);
      return carried ? combine(b, b.getLoc(), kind, carried, term) : term;
    };
    Value folded =
        isResident
            ? fold(Value())
            : overRow(kb.splat(accTile.clone(scalar.getType()), neutral), fold);
    reduced.push_back(reduceLanes(getReduceKind(kind), folded));
  }

  IRMapping rowValues = finishRow(reduced);
  storeRowResults(rowValues);
  overRow(Value(), [&](Value) {
    Value element =
        isResident ? heldElements.front() : mapElements(body).front();
    StoreOp::create(b, finishElement(element, rowValues),
                    kb.getDest(op.getEpilogueInit().get()), indices, limits,
                    getMap());
    return Value();
  });
}

IRMapping RowKernel::finishRow(ValueRange reduced) {
  Block &block = row.getFinish().front();
  RowValues ofRow(block);
  IRMapping tiles;
  tiles.map(block.getArguments().drop_front(), reduced);
  auto lookup = [&](Value value) { return tiles.lookup(value); };
  for (Operation &scalar : block.without_terminator()) {
    if (!ofRow.contains(scalar.getResult(0)))
      continue;
    if (auto constant = dyn_cast<arith::ConstantOp>(scalar))
      tiles.map(constant.getResult(),
                kb.splat(getRowTile(constant.getType()), constant.getValue()));
    else
      kb.emitScalar(scalar, getRowTile(scalar.getResult(0).getType()), tiles,
                    lookup);
  }
  return tiles;
}

Value RowKernel::finishElement(Value element, const IRMapping &rowValues) {
  Block &block = row.getFinish().front();
  RowValues ofRow(block);
  IRMapping tiles;
  tiles.map(block.getArgument(0), element);
  auto lookup = [&](Value value) -> Value {
    if (Value known = tiles.lookupOrNull(value))
      return known;
    Value tile;
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      tile = kb.splat(accTile.clone(constant.getType()), constant.getValue());
    else
      tile = spread(rowValues.lookup(value));
    tiles.map(value, tile);
    return tile;
  };
  for (Operation &scalar : block.without_terminator())
    if (!ofRow.contains(scalar.getResult(0)))
      kb.emitScalar(scalar, accTile, tiles, lookup);
  return lookup(cast<YieldOp>(block.getTerminator()).getValue());
}

void RowKernel::storeRowResults(const IRMapping &rowValues) {
  SmallVector<Value> at,
      ends = {limits[0], lanesReduced() ? ix.constant(1) : limits[1]};
  SmallVector<AffineExpr> exprs;
  AffineMap places = getMap();
  for (AffineExpr expr : getRowMap(row).getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    at.push_back(indices[dim]);
    exprs.push_back(places.getResult(dim));
  }
  auto yield = cast<YieldOp>(row.getFinish().front().getTerminator());
  // Behind the result's destination and those of what is kept.
  auto first = static_cast<unsigned>(1 + row.getKeptInitsMutable().size());
  for (auto [index, value] : llvm::enumerate(yield.getValues().drop_front()))
    StoreOp::create(b, rowValues.lookup(value),
                    kb.getDest(first + static_cast<unsigned>(index)), at, ends,
                    kb.map(2, exprs));
}
