//===- TileViews.cpp - Tiles of views are tiles of buffers ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes/TileViews.h"
#include "SizeBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tracea;

bool mlir::tracea::isTileView(Operation *view) {
  auto isStatic = [](Value memory) {
    auto type = dyn_cast<MemRefType>(memory.getType());
    return type && type.hasStaticShape();
  };
  if (!isa_and_nonnull<memref::SubViewOp, memref::ExpandShapeOp,
                       memref::TransposeOp, memref::CastOp>(view) ||
      !isStatic(view->getOperand(0)) || !isStatic(view->getResult(0)))
    return false;
  auto window = dyn_cast<memref::SubViewOp>(view);
  return !window || llvm::all_of(window.getMixedStrides(), [](auto stride) {
    return getConstantIntValue(stride).has_value();
  });
}

/// From a place in the window to one in what it is cut from.
static void follow(SizeBuilder &size, memref::SubViewOp window,
                   TilePlace &place) {
  llvm::SmallBitVector dropped = window.getDroppedDims();
  TilePlace outer;
  unsigned next = 0;
  for (auto [dim, offset, stride] :
       llvm::enumerate(window.getMixedOffsets(), window.getMixedStrides())) {
    if (dropped.test(dim)) {
      outer.indices.push_back(size.value(offset));
      outer.steps.push_back(getAffineConstantExpr(0, window.getContext()));
      continue;
    }
    outer.indices.push_back(size.value(
        size.add(size.mul(OpFoldResult(place.indices[next]), stride), offset)));
    outer.steps.push_back(place.steps[next++] * *getConstantIntValue(stride));
  }
  outer.memory = window.getSource();
  place = std::move(outer);
}

static void follow(SizeBuilder &size, memref::ExpandShapeOp split,
                   TilePlace &place) {
  TilePlace outer;
  ArrayRef<int64_t> shape = split.getResultType().getShape();
  for (const ReassociationIndices &group : split.getReassociationIndices()) {
    OpFoldResult index = size.constant(0);
    AffineExpr step = getAffineConstantExpr(0, split.getContext());
    for (int64_t dim : group) {
      index = size.add(size.mul(index, size.constant(shape[dim])),
                       OpFoldResult(place.indices[dim]));
      step = step * shape[dim] + place.steps[dim];
    }
    outer.indices.push_back(size.value(index));
    outer.steps.push_back(step);
  }
  outer.memory = split.getSrc();
  place = std::move(outer);
}

static void follow(memref::TransposeOp turn, TilePlace &place) {
  TilePlace outer = place;
  for (auto [dim, expr] : llvm::enumerate(turn.getPermutation().getResults())) {
    unsigned from = cast<AffineDimExpr>(expr).getPosition();
    outer.indices[from] = place.indices[dim];
    outer.steps[from] = place.steps[dim];
  }
  outer.memory = turn.getIn();
  place = std::move(outer);
}

void mlir::tracea::followTileViews(ImplicitLocOpBuilder &builder,
                                   TilePlace &place) {
  SizeBuilder size(builder, builder.getLoc());
  while (Operation *view = place.memory.getDefiningOp()) {
    if (!isTileView(view))
      return;
    if (auto window = dyn_cast<memref::SubViewOp>(view))
      follow(size, window, place);
    else if (auto split = dyn_cast<memref::ExpandShapeOp>(view))
      follow(size, split, place);
    else if (auto turn = dyn_cast<memref::TransposeOp>(view))
      follow(turn, place);
    else
      place.memory = view->getOperand(0);
  }
}
