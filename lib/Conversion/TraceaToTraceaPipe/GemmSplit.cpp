//===- GemmSplit.cpp - Sums of products in parts --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum that the schedule splits leaves as parts in single precision, which a
// second kernel adds up in their order. With a cluster, the workgroups of a
// tile add their parts up in their memories, and each finishes its share of the
// tile's rows.

#include "Definitions.h"
#include "GemmResults.h"
#include "UnitProduct.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Part p of the sum, as element p of a tensor of parts.
static Value lowerParts(KernelRewriter &rewriter, UnitProduct &product) {
  GemmOp op = product.op;
  GemmShape &shape = product.shape;
  ScheduleAttr schedule = op.getScheduleAttr();
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes{rewriter.getIndexAttr(schedule.getSplit())};
  llvm::append_range(
      sizes, tensor::getMixedSizes(rewriter, op.getLoc(), op.getInit()));
  Value parts = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                        op.getAccumulatorType());
  KernelBuilder kb(rewriter, op, schedule, {product.lhs, product.rhs}, parts);
  definePartsOfProduct(kb, op, product.lhs, product.rhs);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  requireAlignment(kb.getKernel());
  setPipeline(kb, product, /*isPersistent=*/false);

  Value result = kb.getDest(parts);
  Value sizeM = kb.getDim(parts, shape.resultRank - 1);
  Value sizeN = kb.getDim(parts, shape.resultRank);
  Value sizeK = product.getSizeK(kb);
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim <= shape.batchRank; ++dim)
    bounds.push_back(kb.getDim(parts, dim));
  bounds.push_back(ix.ceilDiv(sizeM, product.tileM));
  bounds.push_back(ix.ceilDiv(sizeN, product.tileN));
  Value steps = ix.ceilDiv(sizeK, product.tileK);
  Value share = ix.ceilDiv(steps, schedule.getSplit());
  Block::BlockArgListType grid = kb.beginTiles(bounds, schedule.getGroup());
  SmallVector<Value> batch(grid.begin() + 1,
                           grid.begin() + 1 + shape.batchRank);
  Value m = ix.mul(grid[shape.batchRank + 1], product.tileM);
  Value n = ix.mul(grid[shape.batchRank + 2], product.tileN);
  Value first = ix.mul(grid.front(), share);
  Value count = ix.min(ix.sub(steps, first), share);
  Value sum = product.sum(kb, batch, m, n, first, count);
  SmallVector<Value> indices{grid.front()};
  llvm::append_range(indices, shape.at(batch, shape.batchRank, m, n));
  StoreOp::create(b, sum, result, indices,
                  product.getLimits(ix, sizeM, sizeN, m, n),
                  product.getResultMap(kb, shape.batchRank + 1));
  return kb.launch().front();
}

/// Four warps with a row each, and four neighbours a lane: 16 bytes of a sum.
static LanesAttr getRowLanes(MLIRContext *context) {
  auto vector = [&](int64_t row, int64_t column) {
    return DenseI64ArrayAttr::get(context, {row, column});
  };
  return LanesAttr::get(
      context, {vector(0, 1), vector(0, 2)},
      {vector(0, 4), vector(0, 8), vector(0, 16), vector(0, 32), vector(0, 64)},
      {vector(1, 0), vector(2, 0)}, {1, 1});
}

/// Adds the parts up, and applies the epilogue to their sum.
static void lowerSumOfParts(KernelRewriter &rewriter, UnitProduct &product,
                            Value parts) {
  constexpr int64_t kRows = 4, kColumns = 128;
  GemmOp op = product.op;
  GemmShape &shape = product.shape;
  SmallVector<Value> inputs{parts};
  llvm::append_range(inputs, op.getExtras());
  // A warp has a row of its own.
  GemmResults results(rewriter, op, {kRows, kColumns}, {1, kColumns});
  KernelBuilder kb(rewriter, op, op.getScheduleAttr(), inputs,
                   results.getInits());
  defineSumOfParts(kb, op, parts);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  requireAlignment(kb.getKernel());
  kb.getKernel().setWarps(kTeamWarps);

  Value sizeM = kb.getDim(op.getInit(), shape.resultRank - 2);
  Value sizeN = kb.getDim(op.getInit(), shape.resultRank - 1);
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < shape.batchRank; ++dim)
    bounds.push_back(kb.getDim(op.getInit(), dim));
  bounds.push_back(ix.ceilDiv(sizeM, kRows));
  bounds.push_back(ix.ceilDiv(sizeN, kColumns));
  Block::BlockArgListType grid = kb.beginTiles(bounds);
  SmallVector<Value> batch(grid.begin(), grid.begin() + shape.batchRank);
  Value m = ix.mul(grid[shape.batchRank], kRows);
  Value n = ix.mul(grid[shape.batchRank + 1], kColumns);
  SmallVector<Value> limits = {ix.sub(sizeM, m), ix.sub(sizeN, n)};
  SmallVector<Value> indices = shape.at(batch, shape.batchRank, m, n);
  auto tile = RankedTensorType::get({kRows, kColumns}, op.getAccumulatorType(),
                                    getRowLanes(b.getContext()));
  Value sum;
  for (int64_t part = 0; part < op.getScheduleAttr().getSplit(); ++part) {
    SmallVector<Value> at{ix.constant(part)};
    llvm::append_range(at, indices);
    Value one = LoadOp::create(b, tile, kb.getMemRef(parts), at, limits,
                               Value(), kb.matrixMap(shape.batchRank + 1));
    sum = sum ? kb.addTiles(sum, one) : one;
  }
  results.store(kb, sum, indices, kb.matrixMap(shape.batchRank), limits);
  results.finish(kb.launch());
}

//===----------------------------------------------------------------------===//
// Within a cluster
//===----------------------------------------------------------------------===//

/// The rows of the accumulator that one warp of one workgroup finishes.
static int64_t getWarpRows(const UnitProduct &product, int64_t cluster) {
  return product.rows / (cluster * product.teams * kTeamWarps);
}

/// Rows of a tile for all warps, in their order: 16 bytes of a lane where there
/// are enough, lanes along columns first.
static LanesAttr getShareLanes(MLIRContext *context, const UnitProduct &product,
                               int64_t cluster) {
  constexpr unsigned kLaneBits = 5, kVectorBits = 2;
  unsigned columnBits = llvm::Log2_64(product.columns);
  unsigned rowBits = llvm::Log2_64(getWarpRows(product, cluster));
  unsigned vectorBits = std::min(kVectorBits, columnBits + rowBits - kLaneBits);
  SmallVector<DenseI64ArrayAttr> bits, reg, lane, warp;
  for (unsigned bit = 0; bit < columnBits; ++bit)
    bits.push_back(DenseI64ArrayAttr::get(context, {0, int64_t(1) << bit}));
  for (unsigned bit = 0; bit < rowBits; ++bit)
    bits.push_back(DenseI64ArrayAttr::get(context, {int64_t(1) << bit, 0}));
  for (auto [number, vector] : llvm::enumerate(bits)) {
    bool isLane = number >= vectorBits && number < vectorBits + kLaneBits;
    (isLane ? lane : reg).push_back(vector);
  }
  int64_t rows = product.rows / cluster;
  for (int64_t row = int64_t(1) << rowBits; row < rows; row *= 2)
    warp.push_back(DenseI64ArrayAttr::get(context, {row, 0}));
  return LanesAttr::get(context, reg, lane, warp, {1, 1});
}

/// Checks that the workgroups of a cluster can share the tile's rows.
static LogicalResult verifyCluster(UnitProduct &product) {
  ScheduleAttr schedule = product.op.getScheduleAttr();
  constexpr int64_t kLeastColumns = 32;
  if (getWarpRows(product, schedule.getCluster()) < 1 ||
      !llvm::isPowerOf2_64(product.columns) || product.columns < kLeastColumns)
    return product.op.emitOpError()
           << "expects a tile of 32, 64, 128 or 256 "
           << (product.isTransposed ? "rows" : "columns")
           << " for a sum that a cluster shares, and at least one row for each "
              "warp of its workgroups, found "
           << schedule;
  return success();
}

/// Workgroup p of a cluster sums part p, and finishes share p of the rows.
static LogicalResult lowerShared(KernelRewriter &rewriter,
                                 UnitProduct &product) {
  if (failed(verifyCluster(product)))
    return failure();
  GemmOp op = product.op;
  GemmShape &shape = product.shape;
  ScheduleAttr schedule = op.getScheduleAttr();
  int64_t cluster = schedule.getCluster(), rows = product.rows / cluster;
  SmallVector<int64_t> share = {rows, product.columns};
  SmallVector<int64_t> reach = {getWarpRows(product, cluster), product.columns};
  if (product.isTransposed) {
    std::swap(share[0], share[1]);
    std::swap(reach[0], reach[1]);
  }
  GemmResults results(rewriter, op, share, reach);
  KernelBuilder kb(rewriter, op, schedule, product.getInputs(),
                   results.getInits());
  defineProduct(kb, op, product.lhs, product.rhs);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  requireAlignment(kb.getKernel());
  setPipeline(kb, product, /*isPersistent=*/false);

  Value sizeM = kb.getDim(op.getInit(), shape.resultRank - 2);
  Value sizeN = kb.getDim(op.getInit(), shape.resultRank - 1);
  Value sizeK = product.getSizeK(kb);
  SmallVector<Value> bounds{ix.constant(cluster)};
  for (int64_t dim = 0; dim < shape.batchRank; ++dim)
    bounds.push_back(kb.getDim(op.getInit(), dim));
  bounds.push_back(ix.ceilDiv(sizeM, product.tileM));
  bounds.push_back(ix.ceilDiv(sizeN, product.tileN));
  Value steps = ix.ceilDiv(sizeK, product.tileK);
  Value length = ix.ceilDiv(steps, cluster);
  Block::BlockArgListType grid =
      kb.beginTiles(bounds, schedule.getGroup(), cluster);
  Value part = grid.front();
  SmallVector<Value> batch(grid.begin() + 1,
                           grid.begin() + 1 + shape.batchRank);
  Value m = ix.mul(grid[shape.batchRank + 1], product.tileM);
  Value n = ix.mul(grid[shape.batchRank + 2], product.tileN);
  Value first = ix.mul(part, length);
  Value count = ix.min(ix.sub(steps, first), length);
  Value sum = product.sum(kb, batch, m, n, first, count);
  auto mine =
      RankedTensorType::get({rows, product.columns}, op.getAccumulatorType(),
                            getShareLanes(b.getContext(), product, cluster));
  Value total = ClusterSumOp::create(b, mine, sum, part);
  Value &moved = product.isTransposed ? n : m;
  moved = ix.add(moved, ix.mul(part, rows));
  results.store(kb, total, shape.at(batch, shape.batchRank, m, n),
                product.getResultMap(kb, shape.batchRank),
                product.getLimits(ix, sizeM, sizeN, m, n));
  results.finish(kb.launch());
  return success();
}

LogicalResult mlir::tracea::lowerSplitProduct(KernelRewriter &rewriter,
                                              UnitProduct &product) {
  if (product.op.getScheduleAttr().getCluster() > 1)
    return lowerShared(rewriter, product);
  lowerSumOfParts(rewriter, product, lowerParts(rewriter, product));
  return success();
}
