//===- Contraction.cpp - Sums of products of two operands -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all contractions share: the grid of tiles, the loop over steps, and what
// a kernel says of itself. The result's last two dimensions are a matrix unless
// a provider says otherwise.

#include "Contraction.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

SmallVector<Value> ResultTile::getLimits(IndexMath &ix,
                                         bool isTransposed) const {
  SmallVector<Value> limits = {ix.sub(sizeM, m), ix.sub(sizeN, n)};
  if (isTransposed)
    std::swap(limits[0], limits[1]);
  return limits;
}

TargetAttr Contraction::getTarget() {
  return op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
}

SmallVector<Value> Contraction::getInputs() {
  SmallVector<Value> inputs = {getLhs().getTensor(), getRhs().getTensor()};
  llvm::append_range(inputs, getTables());
  llvm::append_range(inputs, op.getExtras());
  return inputs;
}

TileAddress Contraction::getAddress(KernelBuilder &kb, const ResultTile &tile,
                                    bool isTransposed) {
  TileAddress address;
  address.memory = kb.getDest(0u);
  int64_t rank = cast<MemRefType>(address.memory.getType()).getRank();
  if (rank > getResultType().getRank())
    address.indices.push_back(tile.part);
  llvm::append_range(address.indices,
                     ArrayRef(tile.batch).take_front(getBatchRank()));
  address.indices.append({tile.m, tile.n});
  address.map = kb.matrixMap(rank - 2, isTransposed);
  return address;
}

SmallVector<Value> Contraction::getExtents(KernelBuilder &kb) {
  Value memory = kb.getDest(0u);
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  SmallVector<Value> extents;
  for (int64_t dim = rank - 2 - getBatchRank(); dim < rank; ++dim)
    extents.push_back(kb.getExtent(memory, dim));
  return extents;
}

ResultTile Contraction::beginTiles(KernelBuilder &kb, ArrayRef<int64_t> tile,
                                   int64_t group, int64_t parts,
                                   int64_t cluster) {
  IndexMath &ix = kb.index();
  SmallVector<Value> extents = getExtents(kb);
  ResultTile mine;
  mine.sizeN = extents.pop_back_val();
  mine.sizeM = extents.pop_back_val();
  SmallVector<Value> bounds;
  if (parts)
    bounds.push_back(ix.constant(parts));
  llvm::append_range(bounds, extents);
  bounds.push_back(ix.ceilDiv(mine.sizeM, tile[0]));
  bounds.push_back(ix.ceilDiv(mine.sizeN, tile[1]));
  Value steps, share;
  if (tile.size() > 2)
    steps = getLhs().getSteps(kb, tile[2]);
  if (parts)
    share = ix.ceilDiv(steps, parts);
  SmallVector<Value> grid(kb.beginTiles(bounds, group, cluster));
  ArrayRef<Value> matrix = ArrayRef(grid).drop_front(parts ? 1 : 0);
  mine.batch = llvm::to_vector(matrix.drop_back(2));
  mine.m = ix.mul(matrix.drop_back().back(), tile[0]);
  mine.n = ix.mul(matrix.back(), tile[1]);
  mine.walk = getWalk(kb, mine.m);
  mine.first = ix.constant(0);
  mine.count = steps;
  if (parts) {
    mine.part = grid.front();
    mine.first = ix.mul(mine.part, share);
    mine.count = ix.min(ix.sub(steps, mine.first), share);
  }
  return mine;
}

Value Contraction::sum(
    KernelBuilder &kb, const ResultTile &tile, const BlockForm &lhs,
    const BlockForm &rhs, RankedTensorType accumulator,
    function_ref<Value(Value lhs, Value rhs, Value others)> multiply) {
  // Both blocks' coordinates come before either block: what is staged together
  // can then share a ring.
  return kb.loop(tile.count, 1, kb.splat(accumulator, 0),
                 [&](Value step, Value others) {
                   step = kb.index().add(tile.first, step);
                   OperandAccess &left = getLhs(), &right = getRhs();
                   SmallVector<Value> leftAt =
                       left.getCoordinates(kb, tile, step, lhs.getDepth());
                   SmallVector<Value> rightAt =
                       right.getCoordinates(kb, tile, step, rhs.getDepth());
                   Value leftBlock = left.stage(kb, lhs, tile, leftAt);
                   Value rightBlock = right.stage(kb, rhs, tile, rightAt);
                   return multiply(leftBlock, rightBlock, others);
                 });
}

void Contraction::define(KernelBuilder &kb) {
  std::optional<Definition> definition = getTerms(kb, /*leading=*/0);
  if (!definition)
    return;
  definition->addEpilogue(op);
  definition->set(/*factors=*/2);
}

void Contraction::defineParts(KernelBuilder &kb) {
  if (std::optional<Definition> definition = getTerms(kb, /*leading=*/1))
    definition->set(/*factors=*/2);
}

Value mlir::tracea::loadFragment(KernelBuilder &kb, RankedTensorType type,
                                 Value block, bool isExchanged, int64_t row,
                                 int64_t column) {
  if (isExchanged)
    std::swap(row, column);
  IndexMath &ix = kb.index();
  return LoadOp::create(kb.builder(), type, block,
                        ValueRange{ix.constant(row), ix.constant(column)},
                        ValueRange(), Value(), kb.matrixMap(0, isExchanged));
}
