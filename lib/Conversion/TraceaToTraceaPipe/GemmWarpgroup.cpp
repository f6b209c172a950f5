//===- GemmWarpgroup.cpp - tracea.gemm for a unit of four warps -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "gemm.warpgroup": a grid tile of TM x TN sums over k in steps of TK.
// Each step stages a block of both operands in the order that memory has them;
// the unit reads either order. Copies fill with zeros what lies past the ends
// of a matrix, so that nothing is masked before the result. What is copied
// when, and by whom, is the pipeline level's business: the kernel carries what
// the schedule says of it.

#include "GemmShape.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Bytes of a row that the unit and bulk copies swizzle as one.
static constexpr int64_t kSwizzledBytes = 128;
/// Rows of a team, and the warps that multiply them.
static constexpr int64_t kTeamRows = 64;
static constexpr int64_t kTeamWarps = 4;

/// The accumulator of `teams` teams of four warps, 64 rows each (PTX ISA,
/// "Register Fragments for wgmma.mma_async"): a lane has two neighbours of
/// every eighth column, in two rows eight apart.
static LanesAttr getAccumulatorLanes(MLIRContext *context, int64_t teams,
                                     int64_t columns) {
  SmallVector<DenseI64ArrayAttr> reg, lane, warp;
  auto add = [&](SmallVectorImpl<DenseI64ArrayAttr> &list, int64_t row,
                 int64_t column) {
    list.push_back(DenseI64ArrayAttr::get(context, {row, column}));
  };
  add(reg, 0, 1);
  add(reg, 8, 0);
  int64_t pieces = columns / 8, power = pieces & -pieces;
  for (int64_t step = 1; step < power; step *= 2)
    add(reg, 0, 8 * step);
  add(lane, 0, 2);
  add(lane, 0, 4);
  for (int64_t row : {1, 2, 4})
    add(lane, row, 0);
  for (int64_t row = 16; row < kTeamRows * teams; row *= 2)
    add(warp, row, 0);
  return LanesAttr::get(context, reg, lane, warp, {1, pieces / power});
}

/// A block of a matrix in memory's order, as rows of 128 swizzled bytes.
static FailureOr<RankedTensorType> getBlockType(GemmOp op, int64_t rows,
                                                int64_t columns, Type element) {
  int64_t panel = kSwizzledBytes * 8 / element.getIntOrFloatBitWidth();
  if (rows % 8 || columns % panel)
    return op.emitOpError()
           << "expects a tile whose operands' rows are "
              "multiples of "
           << panel << " elements, found " << op.getScheduleAttr();
  auto staged = StagedAttr::get(op.getContext(), {4, 7, 5, 8, 6, 9},
                                columns == panel ? 0 : panel);
  return RankedTensorType::get({rows, columns}, element, staged);
}

LogicalResult mlir::tracea::lowerGemmWarpgroup(RewriterBase &rewriter,
                                               GemmOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  int64_t tileM = schedule.getTile()[0], tileN = schedule.getTile()[1];
  int64_t tileK = schedule.getTile()[2];
  int64_t teams = std::max<int64_t>(schedule.getConsumers(), 1);
  Type element = cast<RankedTensorType>(op.getLhs().getType()).getElementType();
  if (schedule.getUnit() != MatrixUnit::Wgmma)
    return op.emitOpError() << "expects the unit 'wgmma' for the variant "
                               "'gemm.warpgroup', found "
                            << schedule;
  if (!element.isF16() && !element.isBF16())
    return op.emitOpError()
           << "expects operands of f16 or bf16 for the variant "
              "'gemm.warpgroup', found "
           << element;
  if (tileM != kTeamRows * teams || tileN % 8 || tileN < 8 || tileN > 256 ||
      !llvm::isPowerOf2_64(teams))
    return op.emitOpError() << "expects a tile of 64 rows for each of 1, 2, 4 "
                               "or 8 consumers and 8 to 256 columns in eights, "
                               "found "
                            << schedule;
  GemmShape shape(op);
  bool lhsT = op.getTransposeLhs(), rhsT = op.getTransposeRhs();
  FailureOr<RankedTensorType> lhsBlock =
      getBlockType(op, lhsT ? tileK : tileM, lhsT ? tileM : tileK, element);
  FailureOr<RankedTensorType> rhsBlock =
      getBlockType(op, rhsT ? tileN : tileK, rhsT ? tileK : tileN, element);
  if (failed(lhsBlock) || failed(rhsBlock))
    return failure();
  shape.emitChecks(rewriter);

  auto module = op->getParentOfType<ModuleOp>();
  auto target =
      module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
  KernelBuilder kb(rewriter, op, schedule);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  kb.getKernel().setPipelineAttr(PipelineAttr::get(
      b.getContext(), teams, kTeamWarps,
      teams > 1 ? ArrayRef<int64_t>{40, 232} : ArrayRef<int64_t>{},
      target.getCores() > 1 ? target.getCores() : 0, /*pending=*/1));

  Value result = kb.getDest(op.getInit());
  Value sizeM = kb.getDim(op.getInit(), shape.resultRank - 2);
  Value sizeN = kb.getDim(op.getInit(), shape.resultRank - 1);
  Value sizeK = kb.getDim(op.getLhs(), shape.lhsK);
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < shape.batchRank; ++dim)
    bounds.push_back(kb.getDim(op.getInit(), dim));
  bounds.push_back(ix.ceilDiv(sizeM, tileM));
  bounds.push_back(ix.ceilDiv(sizeN, tileN));
  Value steps = ix.ceilDiv(sizeK, tileK);
  Block::BlockArgListType grid = kb.beginTiles(bounds, schedule.getGroup());
  SmallVector<Value> batch(grid.begin(), grid.begin() + shape.batchRank);
  Value m = ix.mul(grid[shape.batchRank], tileM);
  Value n = ix.mul(grid[shape.batchRank + 1], tileN);

  auto accumulator =
      RankedTensorType::get({tileM, tileN}, op.getAccumulatorType(),
                            getAccumulatorLanes(b.getContext(), teams, tileN));
  auto matrixMap = [&](int64_t batchRank) {
    SmallVector<AffineExpr> results(batchRank, kb.zero());
    results.push_back(kb.dim(0));
    results.push_back(kb.dim(1));
    return kb.map(2, results);
  };
  auto stage = [&](RankedTensorType type, Value operand, ValueRange indices,
                   int64_t operandBatch) -> Value {
    return StageOp::create(b, type, kb.getMemRef(operand), indices,
                           ValueRange(), matrixMap(operandBatch),
                           ArrayRef<int64_t>{operandBatch, operandBatch + 1},
                           schedule.getSlots());
  };
  // The block as the product sees it.
  auto orient = [&](Value block, bool transposed) -> Value {
    if (!transposed)
      return block;
    auto type = cast<RankedTensorType>(block.getType());
    Value zero = ix.constant(0);
    return ViewOp::create(
        b,
        RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, element,
                              type.getEncoding()),
        block, ValueRange{zero, zero}, kb.map(2, {kb.dim(1), kb.dim(0)}));
  };
  Value sum = kb.loop(
      steps, 1, kb.splat(accumulator, 0), [&](Value step, Value others) {
        Value k = ix.mul(step, tileK);
        SmallVector<Value> lhsAt =
            shape.at(batch, shape.lhsBatch, lhsT ? k : m, lhsT ? m : k);
        SmallVector<Value> rhsAt =
            shape.at(batch, shape.rhsBatch, rhsT ? n : k, rhsT ? k : n);
        Value lhs = stage(*lhsBlock, op.getLhs(), lhsAt, shape.lhsBatch);
        Value rhs = stage(*rhsBlock, op.getRhs(), rhsAt, shape.rhsBatch);
        return MmaOp::create(b, orient(lhs, lhsT), orient(rhs, rhsT), others,
                             Value(), ValueRange())
            .getResult();
      });
  SmallVector<Value> limits = {ix.sub(sizeM, m), ix.sub(sizeN, n)};
  SmallVector<Value> indices = shape.at(batch, shape.batchRank, m, n);
  AffineMap resultMap = matrixMap(shape.batchRank);
  Value out = kb.emitEpilogue(op, sum, {result, indices, resultMap}, limits);
  StoreOp::create(b, out, result, indices, limits, resultMap);
  kb.finish();
  return success();
}
