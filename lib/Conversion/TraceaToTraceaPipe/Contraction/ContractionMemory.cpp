//===- ContractionMemory.cpp - What kernels ask of memory -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies need rows that begin at multiples of 16 bytes. Lanes copy from
// anywhere, but move whole pieces where rows begin so.

#include "ContractionResults.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Operands come first, tables and what the epilogue reads behind them.
static constexpr unsigned kOperands = 2;

/// Opens the tiles. Where the schedule says so, lanes keep in shared memory
/// where the rows of a tile are.
static ResultTile openTiles(KernelBuilder &kb, Contraction &contraction,
                            int64_t parts) {
  const auto &fields =
      contraction.getSchedule().getFields<schedule::LaneRing>();
  ArrayRef<int64_t> shape = contraction.getSchedule().getTile();
  ResultTile tile = contraction.beginTiles(kb, shape, fields.group, parts);
  if (!fields.table)
    return tile;
  ImplicitLocOpBuilder &b = kb.builder();
  DelinearizeOp walk = getDelinearize(tile.walk);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(walk);
  int64_t coordinates = walk.getResult().getType().getCoordinates();
  Value table = ScratchOp::create(
      b, MemRefType::get({coordinates, shape[0]}, b.getI64Type(),
                         MemRefLayoutAttrInterface{},
                         StagedAttr::get(b.getContext(), {})));
  walk.getTableMutable().assign(table);
  return tile;
}

/// The parts of all sums, by kernels for each kind of memory.
static Value
lowerParts(KernelRewriter &rewriter, Contraction &contraction,
           const schedule::LaneRing &fields,
           function_ref<void(KernelBuilder &, OpenTiles, StoreSums)> build,
           function_ref<bool(unsigned)> isWanted) {
  Value parts = createParts(rewriter, contraction, fields.split);
  SmallVector<Value> inputs = {contraction.getLhs().getTensor(),
                               contraction.getRhs().getTensor()};
  llvm::append_range(inputs, contraction.getTables());
  auto store = [&](KernelBuilder &kb, Value sums, const ResultTile &tile,
                   function_ref<Value(Value)> arrange) {
    kb.store(arrange ? arrange(sums) : sums, contraction.getAddress(kb, tile),
             tile.getLimits(kb.index()));
  };
  return launchForMemory(
             rewriter, contraction.getOp(), inputs, parts, kOperands,
             [&](KernelBuilder &kb, bool) {
               contraction.defineParts(kb);
               build(
                   kb,
                   [&](KernelBuilder &kb) {
                     return openTiles(kb, contraction, fields.split);
                   },
                   store);
             },
             isWanted)
      .front();
}

void mlir::tracea::lowerForMemory(
    KernelRewriter &rewriter, Contraction &contraction, ArrayRef<int64_t> reach,
    function_ref<void(KernelBuilder &, OpenTiles, StoreSums)> build,
    function_ref<bool(unsigned)> isWanted) {
  ArrayRef<int64_t> tile = contraction.getSchedule().getTile();
  const auto &fields =
      contraction.getSchedule().getFields<schedule::LaneRing>();
  if (fields.split > 1)
    return lowerSumOfParts(
        rewriter, contraction,
        lowerParts(rewriter, contraction, fields, build, isWanted),
        /*takesAnyMemory=*/true);
  ContractionResults results(rewriter, contraction.getOp(), tile.take_front(2),
                             reach);
  auto store = [&](KernelBuilder &kb, Value sums, const ResultTile &tile,
                   function_ref<Value(Value)> arrange) {
    results.store(kb, sums, contraction.getAddress(kb, tile),
                  tile.getLimits(kb.index()), arrange);
  };
  results.finish(launchForMemory(
      rewriter, contraction.getOp(), contraction.getInputs(),
      results.getInits(), kOperands,
      [&](KernelBuilder &kb, bool) {
        contraction.define(kb);
        build(
            kb,
            [&](KernelBuilder &kb) {
              return openTiles(kb, contraction, /*parts=*/0);
            },
            store);
      },
      isWanted));
}
