//===- CoreGrid.cpp - Loops over the cores of a CPU -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CoreGrid.h"
#include "BlockSums.h"
#include "SizeBuilder.h"
#include "TransposingCopy.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Loop iterations that one tile of the grid should have at least: enough to
/// outweigh taking a tile, few enough to spread over the cores.
constexpr int64_t kGrainIterations = 16384;
/// The last parallel dimension is the one that is vectorized.
constexpr int64_t kMinInnerExtent = 256;
/// Neighbours of the source of a transposition that a tile has at least: some
/// lines of memory.
constexpr int64_t kMinSourceExtent = 64;

/// Whether windows into its operands can stand for a tile of `op`: indices that
/// are linear and never fall as a loop goes on begin where the tile does.
static bool canBeTiledByWindows(linalg::LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      std::optional<LinearForm> form = tryGetLinearForm(expr, map.getNumDims());
      return form && llvm::all_of(form->coefficients,
                                  [](int64_t factor) { return factor >= 0; });
    });
  });
}

/// Whether `op` asks an operand for its shape alone, as pooling does its
/// window.
static bool hasShapeOperand(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    return isa<MemRefType>(operand->get().getType()) &&
           !op.payloadUsesValueFromOperand(operand);
  });
}

/// The iterations [offset, offset + size) of `op`, each on single elements.
static LogicalResult buildLoops(OpBuilder &builder, TilingInterface op,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op.getOperation());
      structured && isBlockSum(structured)) {
    emitBlockSum(builder, structured, offsets, sizes);
    return success();
  }
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op.getLoc();
  SizeBuilder size(builder, loc);
  Value zero = size.value(size.constant(0)), one = size.value(size.constant(1));
  SmallVector<Value> extents, indices;
  for (OpFoldResult extent : sizes)
    extents.push_back(size.value(extent));
  for (auto [offset, extent] : llvm::zip(offsets, extents)) {
    auto loop = scf::ForOp::create(builder, loc, zero, extent, one);
    builder.setInsertionPointToStart(loop.getBody());
    OpFoldResult inner = loop.getInductionVar();
    indices.push_back(size.value(size.add(offset, inner)));
  }
  return op.generateScalarImplementation(builder, loc, indices);
}

LogicalResult mlir::tracea::buildCoreGrid(OpBuilder &builder,
                                          TilingInterface op,
                                          ArrayRef<unsigned> parallel,
                                          ArrayRef<OpFoldResult> offsets,
                                          ArrayRef<OpFoldResult> extents) {
  Location loc = op.getLoc();
  SizeBuilder size(builder, loc);
  // Where operands have no windows the tile is loops over single elements, and
  // where one is not read: then the kernel has no use for it.
  auto structured = dyn_cast<linalg::LinalgOp>(op.getOperation());
  bool isLoops = structured && (!canBeTiledByWindows(structured) ||
                                hasShapeOperand(structured));
  std::optional<TransposingCopy> transposition;
  if (structured)
    transposition = TransposingCopy::match(structured);
  SmallVector<OpFoldResult> chunks;
  SmallVector<Value> bounds;
  for (auto [position, dim] : llvm::enumerate(parallel)) {
    OpFoldResult inner = size.constant(1);
    for (unsigned other = 0; other < extents.size(); ++other)
      if (!llvm::is_contained(parallel.take_front(position + 1), other))
        inner = size.mul(inner, extents[other]);
    OpFoldResult least = size.ceilDiv(size.constant(kGrainIterations),
                                      size.max(inner, size.constant(1)));
    if (position + 1 == parallel.size())
      least = size.max(least, size.constant(kMinInnerExtent));
    if (transposition && transposition->sourceDim == dim)
      least = size.max(least, size.constant(kMinSourceExtent));
    // What is proved of loops is proved of tiles of one size.
    if (isLoops && !getConstantIntValue(least))
      least =
          size.constant(position + 1 == parallel.size() ? kMinInnerExtent : 1);
    OpFoldResult chunk =
        isLoops ? least
                : size.max(size.min(least, extents[dim]), size.constant(1));
    chunks.push_back(chunk);
    bounds.push_back(size.value(size.ceilDiv(extents[dim], chunk)));
  }

  TilesOp tiles = TilesOp::create(builder, loc, bounds);
  op->moveBefore(&tiles.getBody().front(), tiles.getBody().front().begin());
  builder.setInsertionPoint(op);
  SmallVector<OpFoldResult> tileOffsets(offsets), tileSizes(extents);
  for (auto [index, dim, chunk, bound] :
       llvm::zip(tiles.getIndices(), parallel, chunks, bounds)) {
    if (getConstantIntValue(bound) == 1)
      continue;
    OpFoldResult offset = size.mul(OpFoldResult(index), chunk);
    tileSizes[dim] = getConstantIntValue(chunk) == 1
                         ? chunk
                         : size.min(chunk, size.sub(extents[dim], offset));
    tileOffsets[dim] = offset;
  }
  return isLoops ? buildLoops(builder, op, tileOffsets, tileSizes)
                 : LogicalResult(op.getTiledImplementation(builder, tileOffsets,
                                                           tileSizes));
}
