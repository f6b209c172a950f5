//===- ContractionSplit.cpp - Sums of products in parts -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum that the schedule splits leaves as parts in the type of sums, which a
// second kernel adds up in their order. With a cluster, the workgroups of a
// tile add their parts up in their memories, and each finishes its share of the
// tile's rows.

#include "../WarpTile.h"
#include "ContractionResults.h"
#include "WarpgroupTile.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

Value mlir::tracea::createParts(KernelRewriter &rewriter,
                                Contraction &contraction, int64_t split) {
  EpilogueOpInterface op = contraction.getOp();
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes{rewriter.getIndexAttr(split)};
  llvm::append_range(sizes, tensor::getMixedSizes(rewriter, op.getLoc(),
                                                  contraction.getInit()));
  return tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                 contraction.getAccumulatorType());
}

/// Part p of the sum, as element p of a tensor of parts.
static Value lowerParts(KernelRewriter &rewriter, WarpgroupTile &unit) {
  Contraction &contraction = unit.contraction;
  const auto &fields =
      contraction.getSchedule().getFields<schedule::WarpgroupGemm>();
  Value parts = createParts(rewriter, contraction, fields.split);
  KernelBuilder kb(
      rewriter, contraction.getOp(),
      {contraction.getLhs().getTensor(), contraction.getRhs().getTensor()},
      parts);
  contraction.defineParts(kb);
  IndexMath &ix = kb.index();
  requireAlignment(kb.getKernel());
  setPipeline(kb, unit, /*isPersistent=*/false);

  ResultTile tile = contraction.beginTiles(
      kb, {unit.tileM, unit.tileN, unit.tileK}, fields.group, fields.split);
  Value sum = unit.sum(kb, tile);
  kb.store(sum, contraction.getAddress(kb, tile, unit.isTransposed),
           tile.getLimits(ix, unit.isTransposed));
  return kb.launch().front();
}

void mlir::tracea::buildSumOfParts(KernelBuilder &kb, Contraction &contraction,
                                   Value parts,
                                   const ContractionResults &results,
                                   RankedTensorType type) {
  defineSumOfParts(kb, contraction.getOp(), parts);
  IndexMath &ix = kb.index();
  ResultTile tile = contraction.beginTiles(kb, type.getShape());
  SmallVector<Value> limits = tile.getLimits(ix);
  TileAddress address = contraction.getAddress(kb, tile);
  SmallVector<AffineExpr> partExprs{kb.zero()};
  llvm::append_range(partExprs, address.map.getResults());
  int64_t split = cast<RankedTensorType>(parts.getType()).getDimSize(0);
  Value sum;
  for (int64_t part = 0; part < split; ++part) {
    TileAddress from = address;
    from.memory = kb.getMemRef(parts);
    from.indices.insert(from.indices.begin(), ix.constant(part));
    from.map = kb.map(address.map.getNumDims(), partExprs);
    Value one = kb.load(type, from, limits);
    sum = sum ? kb.addTiles(sum, one) : one;
  }
  results.store(kb, sum, address, limits);
}

/// The kernel of a sum of parts for the warps of a GPU.
static void buildForWarps(KernelBuilder &kb, Contraction &contraction,
                          Value parts, const ContractionResults &results) {
  kb.getKernel().setWarps(kPartRows);
  buildSumOfParts(
      kb, contraction, parts, results,
      RankedTensorType::get({kPartRows, kPartColumns},
                            contraction.getAccumulatorType(),
                            getPartLanes(kb.builder().getContext())));
}

void mlir::tracea::lowerSumOfParts(KernelRewriter &rewriter,
                                   Contraction &contraction, Value parts,
                                   bool takesAnyMemory) {
  EpilogueOpInterface op = contraction.getOp();
  SmallVector<Value> inputs{parts};
  llvm::append_range(inputs, op.getExtras());
  // A warp has a row of its own.
  ContractionResults results(rewriter, op, {kPartRows, kPartColumns},
                             {1, kPartColumns});
  if (takesAnyMemory) {
    auto numOperands = static_cast<unsigned>(inputs.size());
    return results.finish(
        launchForMemory(rewriter, op, inputs, results.getInits(), numOperands,
                        [&](KernelBuilder &kb, bool) {
                          buildForWarps(kb, contraction, parts, results);
                        }));
  }
  KernelBuilder kb(rewriter, op, inputs, results.getInits());
  requireAlignment(kb.getKernel());
  buildForWarps(kb, contraction, parts, results);
  results.finish(kb.launch());
}

//===----------------------------------------------------------------------===//
// Within a cluster
//===----------------------------------------------------------------------===//

/// The rows of the accumulator that one warp of one workgroup finishes.
static int64_t getWarpRows(const WarpgroupTile &unit, int64_t cluster) {
  return unit.rows / (cluster * unit.teams * kTeamWarps);
}

/// Rows of a tile for all warps, in their order: 16 bytes of a lane where there
/// are enough, lanes along columns first.
static LanesAttr getShareLanes(MLIRContext *context, const WarpgroupTile &unit,
                               int64_t cluster) {
  constexpr unsigned kLaneBits = 5, kVectorBits = 2;
  unsigned columnBits = llvm::Log2_64(unit.columns);
  unsigned rowBits = llvm::Log2_64(getWarpRows(unit, cluster));
  unsigned vectorBits = std::min(kVectorBits, columnBits + rowBits - kLaneBits);
  std::vector<alg::TileCoord> bits;
  for (unsigned bit = 0; bit < columnBits; ++bit)
    bits.push_back({0, int64_t(1) << bit});
  for (unsigned bit = 0; bit < rowBits; ++bit)
    bits.push_back({int64_t(1) << bit, 0});
  alg::LaneBases bases;
  for (auto [number, vector] : llvm::enumerate(bits)) {
    bool isLane = number >= vectorBits && number < vectorBits + kLaneBits;
    (isLane ? bases.lane : bases.reg).push_back(vector);
  }
  int64_t rows = unit.rows / cluster;
  for (int64_t row = int64_t(1) << rowBits; row < rows; row *= 2)
    bases.warp.push_back({row, 0});
  return getLanesAttr(context, bases, {1, 1});
}

/// Checks that the workgroups of a cluster can share the tile's rows.
static LogicalResult verifyCluster(WarpgroupTile &unit) {
  ScheduleAttr schedule = unit.contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpgroupGemm>();
  constexpr int64_t kLeastColumns = 32;
  if (getWarpRows(unit, fields.cluster) < 1 ||
      !llvm::isPowerOf2_64(unit.columns) || unit.columns < kLeastColumns)
    return unit.contraction.emitError()
           << "expects a tile of 32, 64, 128 or 256 "
           << (unit.isTransposed ? "rows" : "columns")
           << " for a sum that a cluster shares, and at least one row for each "
              "warp of its workgroups, found "
           << schedule;
  return success();
}

/// Workgroup p of a cluster sums part p, and finishes share p of the rows.
static LogicalResult lowerShared(KernelRewriter &rewriter,
                                 WarpgroupTile &unit) {
  if (failed(verifyCluster(unit)))
    return failure();
  Contraction &contraction = unit.contraction;
  const auto &fields =
      contraction.getSchedule().getFields<schedule::WarpgroupGemm>();
  int64_t cluster = fields.cluster, rows = unit.rows / cluster;
  SmallVector<int64_t> share = {rows, unit.columns};
  SmallVector<int64_t> reach = {getWarpRows(unit, cluster), unit.columns};
  if (unit.isTransposed) {
    std::swap(share[0], share[1]);
    std::swap(reach[0], reach[1]);
  }
  ContractionResults results(rewriter, contraction.getOp(), share, reach);
  KernelBuilder kb(rewriter, contraction.getOp(), contraction.getInputs(),
                   results.getInits());
  contraction.define(kb);
  IndexMath &ix = kb.index();
  requireAlignment(kb.getKernel());
  setPipeline(kb, unit, /*isPersistent=*/false);

  ResultTile tile = contraction.beginTiles(
      kb, {unit.tileM, unit.tileN, unit.tileK}, fields.group, cluster, cluster);
  Value sum = unit.sum(kb, tile);
  auto mine = RankedTensorType::get(
      {rows, unit.columns}, contraction.getAccumulatorType(),
      getShareLanes(rewriter.getContext(), unit, cluster));
  Value total = ClusterSumOp::create(kb.builder(), mine, sum, tile.part);
  Value &moved = unit.isTransposed ? tile.n : tile.m;
  moved = ix.add(moved, ix.mul(tile.part, rows));
  results.store(kb, total, contraction.getAddress(kb, tile, unit.isTransposed),
                tile.getLimits(ix, unit.isTransposed));
  results.finish(kb.launch());
  return success();
}

LogicalResult mlir::tracea::lowerSplitSum(KernelRewriter &rewriter,
                                          WarpgroupTile &unit) {
  if (unit.contraction.getSchedule()
          .getFields<schedule::WarpgroupGemm>()
          .cluster > 1)
    return lowerShared(rewriter, unit);
  lowerSumOfParts(rewriter, unit.contraction, lowerParts(rewriter, unit),
                  /*takesAnyMemory=*/false);
  return success();
}
