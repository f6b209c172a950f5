//===- GroupedGemm.cpp - tracea.grouped_gemm for a unit of four warps -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "grouped.warpgroup": workgroups walk over the tiles of all groups.
// How many there are, and which rows of which group a tile has, is found on the
// device from the ends of the groups; the host knows a bound of their number,
// from which the grid follows. A tile is that of one product: the matrix of its
// group is the batch of the second operand. Rows past the end of a group are
// multiplied, but not stored.
//
// Rows that are in no group are the last tiles. Their sums have no terms.

#include "UnitProduct.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// What the run has to check: extents that two operands share.
static void emitChecks(RewriterBase &rewriter, GroupedGemmOp op) {
  int64_t k = op.getRhsK(), n = op.getRhsN();
  emitExtentCheck(rewriter, op, op.getLhs(), 1, op.getRhs(), k,
                  "lhs and rhs to have the same k");
  emitExtentCheck(rewriter, op, op.getLhs(), 0, op.getInit(), 0,
                  "lhs and the result to have the same rows");
  emitExtentCheck(rewriter, op, op.getRhs(), n, op.getInit(), 1,
                  "rhs and the result to have the same n");
  emitExtentCheck(rewriter, op, op.getRhs(), 0, op.getEnds(), 0,
                  "an end for each matrix of rhs");
  if (!cast<RankedTensorType>(op.getRhs().getType()).isDynamicDim(0))
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value groups = rewriter.createOrFold<tensor::DimOp>(loc, op.getRhs(), 0);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value some = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sgt,
                                     groups, zero);
  cf::AssertOp::create(rewriter, loc, some,
                       "tracea.grouped_gemm: expected at least one group");
}

/// The products of all rows with each matrix: what one tile computes is a part
/// of it. Nothing is left of the operation after the lowering.
static GemmOp createProduct(RewriterBase &rewriter, GroupedGemmOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getInit());
  sizes.insert(sizes.begin(),
               tensor::getMixedSize(rewriter, loc, op.getRhs(), 0));
  Value init =
      tensor::EmptyOp::create(rewriter, loc, sizes, op.getAccumulatorType());
  return GemmOp::create(rewriter, loc, op.getLhs(), op.getRhs(),
                        /*extras=*/ValueRange(), init,
                        /*aux_inits=*/ValueRange(), /*transpose_lhs=*/false,
                        op.getTransposeRhs(), op.getAccAttr(),
                        /*epilogue_maps=*/rewriter.getArrayAttr({}),
                        /*aux_maps=*/rewriter.getArrayAttr({}),
                        /*aux_kinds=*/rewriter.getArrayAttr({}),
                        op.getScheduleAttr());
}

/// The walk of one workgroup over the tiles of all groups.
static void emitWalk(KernelBuilder &kb, GroupedGemmOp op, UnitProduct &product,
                     int64_t cores) {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  ScheduleAttr schedule = op.getScheduleAttr();
  Value result = kb.getDest(op.getInit()), ends = kb.getMemRef(op.getEnds());
  Value rows = kb.getDim(op.getInit(), 0), sizeN = kb.getDim(op.getInit(), 1);
  Value groups = kb.getDim(op.getEnds(), 0);
  Value steps = ix.ceilDiv(product.getSizeK(kb), product.tileK);
  Value columns = ix.ceilDiv(sizeN, product.tileN);
  // Each group but one may add a tile, if it has a row.
  Value most = ix.mul(
      ix.add(ix.ceilDiv(rows, product.tileM), ix.min(groups, rows)), columns);
  Value workgroups = ix.min(most, cores);
  auto count = RaggedCountOp::create(b, ends, rows, product.tileM);
  Value tiles = ix.mul(count.getAll(), columns);
  Block::BlockArgListType grid = kb.beginTiles(workgroups);

  auto walk = scf::ForOp::create(b, grid[0], tiles, workgroups);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(walk.getBody());
  auto raster =
      RasterOp::create(b, walk.getInductionVar(), count.getAll(), columns,
                       std::max<int64_t>(schedule.getGroup(), 1));
  auto tile =
      RaggedTileOp::create(b, raster.getRow(), ends, rows, product.tileM);
  Value first = tile.getFirst();
  Value n = ix.mul(raster.getColumn(), product.tileN);
  Value group = ix.min(tile.getGroup(), ix.sub(groups, 1));
  Value isFull = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                       raster.getRow(), count.getFull());
  Value terms = arith::SelectOp::create(b, isFull, steps, ix.constant(0));
  Value sum = product.sum(kb, group, first, n, ix.constant(0), terms);
  SmallVector<Value> limits = {ix.sub(tile.getEnd(), first), ix.sub(sizeN, n)};
  SmallVector<Value> indices = {first, n};
  AffineMap map = product.getResultMap(kb, 0);
  Value out = kb.emitEpilogue(op, sum, {result, indices, map}, limits);
  StoreOp::create(b, out, result, indices, limits, map);
}

LogicalResult mlir::tracea::lowerGroupedGemmWarpgroup(KernelRewriter &rewriter,
                                                      GroupedGemmOp op) {
  GemmOp gemm = createProduct(rewriter, op);
  UnitProduct product(gemm, /*isTransposed=*/false);
  product.subject = op;
  if (failed(product.verify()))
    return failure();
  emitChecks(rewriter, op);
  product.lhs = padRows(rewriter, gemm, op.getLhs());
  product.rhs = padRows(rewriter, gemm, op.getRhs());
  SmallVector<Value> inputs{product.lhs, product.rhs, op.getEnds()};
  llvm::append_range(inputs, op.getExtras());
  KernelBuilder kb(rewriter, op, op.getScheduleAttr(), inputs, op.getInit());
  requireAlignment(kb.getKernel());
  setPipeline(kb, product, /*isPersistent=*/false);
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
  emitWalk(kb, op, product,
           std::max<int64_t>(target.getCores(), 1) *
               op.getScheduleAttr().getResidents());
  rewriter.eraseOp(gemm);
  kb.finish();
  return success();
}
