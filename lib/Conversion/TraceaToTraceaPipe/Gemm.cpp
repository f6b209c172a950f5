//===- Gemm.cpp - tracea.gemm as a packed, blocked kernel -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variant "gemm.packed": the loops of Goto and van de Geijn ("Anatomy of
// High-Performance Matrix Multiplication", 2008) in the tile vocabulary. One
// grid tile of TM x TN walks k in blocks of KC; a block of B is staged as
// panels of NR columns, MC rows of A at a time as panels of MR rows, and one
// register tile of MR x NR accumulates over a block. Between blocks the sums
// rest in the result when it has the accumulator's type, else in a scratch
// tile.

#include "Definitions.h"
#include "GemmResults.h"
#include "GemmShape.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Map of a staged panel [panel, k, i] to matrix coordinates behind `batch`
/// leading dimensions: (panel * width + i) along `wide`, k along the other.
static AffineMap getPanelMap(KernelBuilder &kb, int64_t batch, int64_t width,
                             bool wideIsLast) {
  SmallVector<AffineExpr> results(batch, kb.zero());
  AffineExpr wide = kb.dim(0) * width + kb.dim(2);
  AffineExpr depth = kb.dim(1);
  results.push_back(wideIsLast ? depth : wide);
  results.push_back(wideIsLast ? wide : depth);
  return kb.map(3, results);
}

void GemmShape::emitChecks(RewriterBase &rewriter) {
  emitExtentCheck(rewriter, op, op.getLhs(), lhsK, op.getRhs(), rhsK,
                  "k of lhs and rhs to be equal");
  emitExtentCheck(rewriter, op, op.getLhs(), lhsM, op.getInit(), resultRank - 2,
                  "m of lhs and result to be equal");
  emitExtentCheck(rewriter, op, op.getRhs(), rhsN, op.getInit(), resultRank - 1,
                  "n of rhs and result to be equal");
  for (int64_t dim = 0; dim < batchRank; ++dim) {
    if (lhsBatch)
      emitExtentCheck(rewriter, op, op.getLhs(), dim, op.getInit(), dim,
                      "batch dimensions of lhs and result to be equal");
    if (rhsBatch)
      emitExtentCheck(rewriter, op, op.getRhs(), dim, op.getInit(), dim,
                      "batch dimensions of rhs and result to be equal");
  }
}

LogicalResult mlir::tracea::lowerGemm(KernelRewriter &rewriter, GemmOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  ArrayRef<int64_t> tile = schedule.getTile();
  int64_t tileM = tile[0], tileN = tile[1], tileK = tile[2], stageM = tile[3];
  int64_t regM = schedule.getRegisters()[0], regN = schedule.getRegisters()[1];
  if (stageM % regM || tileN % regN || tileM % regM)
    return op.emitOpError() << "expects a schedule whose tile is a multiple of "
                               "its register tile, found "
                            << schedule;
  op = unfuseReductions(rewriter, op);
  Type accType = op.getAccumulatorType();
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  GemmShape shape(op);
  shape.emitChecks(rewriter);
  int64_t resultRank = shape.resultRank, batchRank = shape.batchRank;
  bool lhsT = op.getTransposeLhs(), rhsT = op.getTransposeRhs();

  KernelBuilder kb(rewriter, op, schedule);
  defineProduct(kb, op, op.getLhs(), op.getRhs());
  GemmResults results(rewriter, op);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  Value lhs = kb.getMemRef(op.getLhs()), rhs = kb.getMemRef(op.getRhs());
  Value result = kb.getDest(op.getInit());
  Value sizeM = kb.getDim(op.getInit(), resultRank - 2);
  Value sizeN = kb.getDim(op.getInit(), resultRank - 1);
  Value sizeK = kb.getDim(op.getLhs(), shape.lhsK);

  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < batchRank; ++dim)
    bounds.push_back(kb.getDim(op.getInit(), dim));
  bounds.push_back(ix.ceilDiv(sizeM, tileM));
  bounds.push_back(ix.ceilDiv(sizeN, tileN));
  Block::BlockArgListType grid = kb.beginTiles(bounds, schedule.getGroup());

  SmallVector<Value> batch(grid.begin(), grid.begin() + batchRank);
  Value m0 = ix.mul(grid[batchRank], tileM);
  Value n0 = ix.mul(grid[batchRank + 1], tileN);
  Value lengthM = ix.min(ix.sub(sizeM, m0), tileM);
  Value lengthN = ix.min(ix.sub(sizeN, n0), tileN);

  RankedTensorType accTile = kb.getTileType({regM, regN}, accType);
  int64_t panelsM = llvm::divideCeil(stageM, regM);
  int64_t panelsN = llvm::divideCeil(tileN, regN);
  RankedTensorType lhsPanels =
      kb.getStagedType({panelsM, tileK, regM}, accType);
  RankedTensorType rhsPanels =
      kb.getStagedType({panelsN, tileK, regN}, accType);
  RankedTensorType lhsView = kb.getStagedType({regM, tileK}, accType);
  RankedTensorType rhsView = kb.getStagedType({tileK, regN}, accType);
  AffineMap lhsMap = getPanelMap(kb, shape.lhsBatch, regM, /*wideIsLast=*/lhsT);
  AffineMap rhsMap =
      getPanelMap(kb, shape.rhsBatch, regN, /*wideIsLast=*/!rhsT);

  // Where sums rest between blocks of k.
  std::optional<int64_t> knownK = getStatic(sizeK);
  bool oneBlock = knownK && *knownK <= tileK;
  bool inResult = resultType.getElementType() == accType;
  Value scratch;
  if (!oneBlock && !inResult)
    scratch = ScratchOp::create(
        b,
        MemRefType::get({tileM, tileN}, accType, AffineMap(),
                        StagedAttr::get(b.getContext(), ArrayRef<int64_t>())));

  SmallVector<AffineExpr> resultExprs(batchRank, kb.zero());
  resultExprs.push_back(kb.dim(0));
  resultExprs.push_back(kb.dim(1));
  AffineMap resultMap = kb.map(2, resultExprs);
  AffineMap plainMap = kb.map(2, {kb.dim(0), kb.dim(1)});
  Value zero = ix.constant(0);

  // An empty sum still writes the epilogue of zero.
  kb.loop(ix.max(sizeK, 1), tileK, [&](Value k0) {
    Value lengthK = ix.min(ix.sub(sizeK, k0), tileK);
    Value first = ix.equal(k0, zero);
    Value last = ix.lessOrEqual(sizeK, ix.add(k0, tileK));

    SmallVector<Value> rhsIndices =
        shape.at(batch, shape.rhsBatch, rhsT ? n0 : k0, rhsT ? k0 : n0);
    Value rhsStaged = StageOp::create(
        b, rhsPanels, rhs, rhsIndices,
        ValueRange{ix.ceilDiv(lengthN, regN), lengthK, ix.constant(regN)},
        rhsMap, ArrayRef<int64_t>{shape.rhsN}, schedule.getSlots());

    kb.loop(lengthM, stageM, [&](Value ms) {
      Value rows = ix.min(ix.sub(lengthM, ms), stageM);
      Value mBase = ix.add(m0, ms);
      SmallVector<Value> lhsIndices =
          shape.at(batch, shape.lhsBatch, lhsT ? k0 : mBase, lhsT ? mBase : k0);
      Value lhsStaged = StageOp::create(
          b, lhsPanels, lhs, lhsIndices,
          ValueRange{ix.ceilDiv(rows, regM), lengthK, ix.constant(regM)},
          lhsMap, ArrayRef<int64_t>{shape.lhsM}, schedule.getSlots());

      kb.loop(lengthN, regN, [&](Value j) {
        Value rhsPanel = ViewOp::create(
            b, rhsView, rhsStaged, ValueRange{ix.floorDiv(j, regN), zero, zero},
            kb.map(2, {kb.zero(), kb.dim(0), kb.dim(1)}));
        kb.loop(rows, regM, [&](Value i) {
          Value lhsPanel =
              ViewOp::create(b, lhsView, lhsStaged,
                             ValueRange{ix.floorDiv(i, regM), zero, zero},
                             kb.map(2, {kb.zero(), kb.dim(1), kb.dim(0)}));
          SmallVector<Value> limits = {ix.sub(rows, i), ix.sub(lengthN, j)};
          SmallVector<Value> resultIndices(batch);
          resultIndices.push_back(ix.add(mBase, i));
          resultIndices.push_back(ix.add(n0, j));
          TileAddress address{result, resultIndices, resultMap};
          TileAddress rest = address;
          if (scratch)
            rest = {scratch, {ix.add(ms, i), j}, plainMap};
          PrefetchOp::create(b, rest.memory, rest.indices, limits, rest.map,
                             ArrayRef<int64_t>{regM, regN},
                             /*write=*/true);
          // A block's sum starts from zero and is added to the others at its
          // end: that keeps rounding errors to those of a block.
          Value block =
              MmaOp::create(b, lhsPanel, rhsPanel, kb.splat(accTile, 0),
                            lengthK, ValueRange());
          Value sum = kb.select(
              first, [&] { return block; },
              [&]() -> Value {
                Value others =
                    LoadOp::create(b, accTile, rest.memory, rest.indices,
                                   limits, Value(), rest.map);
                return kb.addTiles(others, block);
              });
          kb.branch(
              last,
              [&] { results.store(kb, sum, resultIndices, resultMap, limits); },
              [&] {
                StoreOp::create(b, sum, rest.memory, rest.indices, limits,
                                rest.map);
              });
        });
      });
    });
  });
  kb.finish();
  return success();
}

/// A window of `shape` into the matrix of a memref, at `indices`: dimension
/// `first` of the memref moves with the window's rows, `second` with its
/// columns.
static Value getWindow(KernelBuilder &kb, Value memory, ValueRange indices,
                       ArrayRef<int64_t> shape, int64_t first, int64_t second) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<AffineExpr> map(type.getRank(), kb.zero());
  map[first] = kb.dim(0);
  map[second] = kb.dim(1);
  SmallVector<int64_t> strides(2, 1);
  int64_t last = type.getRank() - 1;
  strides[first == last ? 1 : 0] = type.getDimSize(last);
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return ViewOp::create(kb.builder(),
                        MemRefType::get(shape, type.getElementType(), layout,
                                        type.getMemorySpace()),
                        memory, indices, kb.map(2, map));
}

LogicalResult mlir::tracea::lowerGemmDirect(KernelRewriter &rewriter,
                                            GemmOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  int64_t tileM = schedule.getTile()[0], tileN = schedule.getTile()[1];
  int64_t tileK = schedule.getTile()[2];
  int64_t regM = schedule.getRegisters()[0], regN = schedule.getRegisters()[1];
  if (tileN % regN || tileM % regM)
    return op.emitOpError() << "expects a schedule whose tile is a multiple of "
                               "its register tile, found "
                            << schedule;
  if (op.getTransposeRhs())
    return op.emitOpError() << "expects rows of rhs to be contiguous along n "
                               "for the variant 'gemm.direct', found "
                               "transpose_rhs";
  op = unfuseReductions(rewriter, op);
  GemmShape shape(op);
  shape.emitChecks(rewriter);

  KernelBuilder kb(rewriter, op, schedule);
  defineProduct(kb, op, op.getLhs(), op.getRhs());
  GemmResults results(rewriter, op);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  Value sizeM = kb.getDim(op.getInit(), shape.resultRank - 2);
  Value sizeN = kb.getDim(op.getInit(), shape.resultRank - 1);
  Value sizeK = kb.getDim(op.getLhs(), shape.lhsK);
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < shape.batchRank; ++dim)
    bounds.push_back(kb.getDim(op.getInit(), dim));
  bounds.push_back(ix.ceilDiv(sizeM, tileM));
  bounds.push_back(ix.ceilDiv(sizeN, tileN));
  Block::BlockArgListType grid = kb.beginTiles(bounds, schedule.getGroup());
  SmallVector<Value> batch(grid.begin(), grid.begin() + shape.batchRank);
  Value m0 = ix.mul(grid[shape.batchRank], tileM);
  Value n0 = ix.mul(grid[shape.batchRank + 1], tileN);
  Value lengthM = ix.min(ix.sub(sizeM, m0), tileM);
  Value lengthN = ix.min(ix.sub(sizeN, n0), tileN);

  RankedTensorType accTile =
      kb.getTileType({regM, regN}, op.getAccumulatorType());
  SmallVector<AffineExpr> exprs(shape.batchRank, kb.zero());
  exprs.push_back(kb.dim(0));
  exprs.push_back(kb.dim(1));
  AffineMap resultMap = kb.map(2, exprs);
  bool lhsT = op.getTransposeLhs();

  kb.loop(lengthN, regN, [&](Value j) {
    kb.loop(lengthM, regM, [&](Value i) {
      Value m = ix.add(m0, i), n = ix.add(n0, j);
      SmallVector<Value> limits = {ix.sub(lengthM, i), ix.sub(lengthN, j)};
      // Sums of blocks of k are added up: the error is that of one block.
      Value sum = kb.loop(
          sizeK, tileK, kb.splat(accTile, 0), [&](Value k, Value others) {
            Value depth = ix.min(ix.sub(sizeK, k), tileK);
            Value lhs = getWindow(
                kb, kb.getMemRef(op.getLhs()),
                shape.at(batch, shape.lhsBatch, lhsT ? k : m, lhsT ? m : k),
                {regM, tileK}, shape.lhsM, shape.lhsK);
            Value rhs = getWindow(kb, kb.getMemRef(op.getRhs()),
                                  shape.at(batch, shape.rhsBatch, k, n),
                                  {tileK, regN}, shape.rhsK, shape.rhsN);
            Value block =
                MmaOp::create(b, lhs, rhs, kb.splat(accTile, 0), depth, limits);
            return kb.addTiles(others, block);
          });
      SmallVector<Value> indices(batch);
      indices.push_back(m);
      indices.push_back(n);
      results.store(kb, sum, indices, resultMap, limits);
    });
  });
  kb.finish();
  return success();
}
