//===- GroupedGemm.cpp - tracea.grouped_gemm for a unit of four warps -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "grouped.warpgroup": workgroups walk over the tiles of all groups.
// How many there are, and which rows of which group a tile has, is found on the
// device from the ends of the groups; the host knows a bound of their number,
// from which the grid follows. A tile is that of a contraction of the matrix of
// all rows with one of a batch, which its group chooses. Rows past the end of a
// group are multiplied, but not stored.
//
// Rows that are in no group are the last tiles. Their sums have no terms.

#include "Contraction/ContractionResults.h"
#include "Contraction/WarpgroupTile.h"
#include "GemmContraction.h"
#include "Variants.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
/// tracea.grouped_gemm. The batch of a tile is its group.
class GroupedContraction : public Contraction {
public:
  explicit GroupedContraction(GroupedGemmOp op)
      : Contraction(op), grouped(op),
        lhs(op.getLhs(), {/*isLeft=*/true, /*isAlongK=*/true,
                          /*rowExtent=*/op.getK(),
                          /*otherExtent=*/ShapedType::kDynamic}),
        rhs(op.getRhs(), {/*isLeft=*/false, op.getTransposeRhs(),
                          op.getTransposeRhs() ? op.getK() : op.getN(),
                          getResultType().getDimSize(0)}) {}

  MatrixOperand &getLhs() override { return lhs; }
  MatrixOperand &getRhs() override { return rhs; }
  void emitChecks(RewriterBase &rewriter) override {
    emitExtentChecks(rewriter, grouped);
  }
  /// Which terms a row has is data.
  std::optional<Definition> getTerms(KernelBuilder &, unsigned) override {
    return std::nullopt;
  }
  SmallVector<Value> getTables() override { return {grouped.getEnds()}; }
  Value getEnds() { return grouped.getEnds(); }

private:
  GroupedGemmOp grouped;
  MatrixOperand lhs, rhs;
};
} // namespace

/// The walk of one workgroup over the tiles of all groups.
static void emitWalk(KernelBuilder &kb, GroupedContraction &contraction,
                     WarpgroupTile &unit, const ContractionResults &results) {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  const auto &fields =
      contraction.getSchedule().getFields<schedule::WarpgroupRing>();
  int64_t cores = std::max<int64_t>(contraction.getTarget().getCores(), 1);
  Value ends = kb.getMemRef(contraction.getEnds());
  Value rows = kb.getDim(contraction.getInit(), 0);
  Value sizeN = kb.getDim(contraction.getInit(), 1);
  Value groups = kb.getExtent(ends, 0);
  Value steps = contraction.getLhs().getSteps(kb, unit.tileK);
  Value columns = ix.ceilDiv(sizeN, unit.tileN);
  // Each group but one may add a tile, if it has a row.
  Value most = ix.mul(
      ix.add(ix.ceilDiv(rows, unit.tileM), ix.min(groups, rows)), columns);
  Value workgroups = ix.min(most, cores * fields.residents);
  auto count = RaggedCountOp::create(b, ends, rows, unit.tileM);
  Value tiles = ix.mul(count.getAll(), columns);
  Block::BlockArgListType grid = kb.beginTiles(workgroups);

  auto walk = scf::ForOp::create(b, grid[0], tiles, workgroups);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(walk.getBody());
  auto raster = RasterOp::create(b, walk.getInductionVar(), count.getAll(),
                                 columns, std::max<int64_t>(fields.group, 1));
  auto found = RaggedTileOp::create(b, raster.getRow(), ends, rows, unit.tileM);
  ResultTile tile;
  tile.m = found.getFirst();
  tile.n = ix.mul(raster.getColumn(), unit.tileN);
  tile.sizeM = found.getEnd();
  tile.sizeN = sizeN;
  // Of rows in no group no matrix is read.
  tile.batch = {found.getGroup()};
  Value isFull = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                       raster.getRow(), count.getFull());
  tile.first = ix.constant(0);
  tile.count = arith::SelectOp::create(b, isFull, steps, tile.first);
  Value sum = unit.sum(kb, tile);
  results.store(kb, sum, contraction.getAddress(kb, tile), tile.getLimits(ix));
}

LogicalResult mlir::tracea::lowerGroupedGemmWarpgroup(KernelRewriter &rewriter,
                                                      GroupedGemmOp op) {
  GroupedContraction contraction(op);
  WarpgroupTile unit(contraction, /*isTransposed=*/false);
  if (failed(unit.verify()))
    return failure();
  contraction.emitChecks(rewriter);
  padOperands(rewriter, contraction);
  ContractionResults results(rewriter, contraction.getOp());
  KernelBuilder kb(rewriter, op, contraction.getInputs(), results.getInits());
  requireAlignment(kb.getKernel());
  setPipeline(kb, unit, /*isPersistent=*/false);
  emitWalk(kb, contraction, unit, results);
  results.finish(kb.launch());
  return success();
}
