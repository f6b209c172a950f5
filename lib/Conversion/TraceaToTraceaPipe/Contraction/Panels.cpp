//===- Panels.cpp - Panels of an operand of a CPU's product ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Panels.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

RankedTensorType Panels::getType(int64_t count, int64_t depth,
                                 Type element) const {
  SmallVector<int64_t> shape = {count, depth / words.length, width};
  return kb.getStagedType(words.getShape(arrange(shape)), element);
}

Value Panels::stage(RankedTensorType type, ValueRange indices, Value outer,
                    Value depth, int64_t slots) const {
  IndexMath &ix = kb.index();
  int64_t word = words.length;
  SmallVector<Value> limits = arrange(SmallVector<Value>{
      ix.ceilDiv(outer, width), words.getSteps(kb, depth), ix.constant(width)});
  SmallVector<AffineExpr> batch(operand.getBatchRank(), kb.zero());
  SmallVector<AffineExpr> at =
      arrange(SmallVector<AffineExpr>{kb.dim(0), kb.dim(1), kb.dim(2)});
  AffineExpr k = at[1];
  // What is beyond the ends is multiplied: it is zero.
  SmallVector<int64_t> padded = {operand.getOuterDim()};
  if (word > 1) {
    limits.push_back(ix.constant(word));
    k = k * word + kb.dim(3);
    padded.push_back(operand.getDimK());
    llvm::sort(padded);
  }
  AffineMap map =
      kb.map(type.getRank(), operand.at(batch, at[0] * width + at[2], k));
  return StageOp::create(kb.builder(), type, kb.getMemRef(operand.getTensor()),
                         indices, limits, map, padded, slots);
}

Value Panels::viewPanel(Value staged, Value panel) const {
  auto type = cast<RankedTensorType>(staged.getType());
  int64_t steps = arrange(SmallVector<int64_t>(type.getShape()))[1];
  SmallVector<int64_t> window =
      words.getShape({isLhs ? width : steps, isLhs ? steps : width});
  SmallVector<AffineExpr> map = arrange(SmallVector<AffineExpr>{
      kb.zero(), kb.dim(isLhs ? 1 : 0), kb.dim(isLhs ? 0 : 1)});
  SmallVector<Value> offsets(type.getRank(), kb.index().constant(0));
  offsets[0] = panel;
  if (words.length > 1)
    map.push_back(kb.dim(2));
  return ViewOp::create(kb.builder(),
                        kb.getStagedType(window, type.getElementType()), staged,
                        offsets, kb.map(map.size() - 1, map));
}

Value Panels::viewPacked(Value at, Value k, int64_t depth) const {
  IndexMath &ix = kb.index();
  Value memory = kb.getMemRef(operand.getTensor());
  Value zero = ix.constant(0);
  if (words.length > 1)
    return viewWords(
        kb, memory,
        {ix.floorDiv(at, width), ix.floorDiv(k, words.length), zero, zero},
        words.getShape({depth / words.length, width}));
  return kb.window(memory, {ix.floorDiv(at, width), k, zero}, {depth, width}, 1,
                   2);
}

Value Panels::viewRows(const ResultTile &tile, Value row, Value k,
                       int64_t depth) const {
  Value memory = kb.getMemRef(operand.getTensor());
  auto type = cast<MemRefType>(memory.getType());
  int64_t word = words.length;
  SmallVector<AffineExpr> batch(operand.getBatchRank(), kb.zero());
  AffineMap map =
      kb.map(3, operand.at(batch, kb.dim(0), kb.dim(1) * word + kb.dim(2)));
  auto layout =
      StridedLayoutAttr::get(kb.builder().getContext(), ShapedType::kDynamic,
                             {type.getShape().back(), word, 1});
  return ViewOp::create(kb.builder(),
                        MemRefType::get(words.getShape({width, depth / word}),
                                        type.getElementType(), layout,
                                        type.getMemorySpace()),
                        memory, operand.at(tile, row, k), map);
}

void Panels::prefetchNext(Value panels, Value at, Value k,
                          int64_t steps) const {
  IndexMath &ix = kb.index();
  auto type = cast<ShapedType>(panels.getType());
  SmallVector<Value> indices(type.getRank(), ix.constant(0));
  indices[0] = ix.add(ix.floorDiv(at, width), 1);
  indices[1] = k;
  SmallVector<Value> limits;
  for (auto [index, extent] : llvm::zip(indices, type.getShape()))
    limits.push_back(ix.sub(ix.constant(extent), index));
  PrefetchOp::create(kb.builder(), panels, indices, limits,
                     AffineMap::getMultiDimIdentityMap(
                         type.getRank(), kb.builder().getContext()),
                     {1, steps, width}, /*write=*/false, /*level=*/2);
}
