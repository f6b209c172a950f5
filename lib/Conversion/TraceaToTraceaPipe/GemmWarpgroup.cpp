//===- GemmWarpgroup.cpp - tracea.gemm for a unit of four warps -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "gemm.warpgroup": a grid tile of TM x TN sums over k in steps of TK.
// Each step stages a block of both operands in the order that memory has them;
// the unit reads either order. Copies fill with zeros what lies past the ends
// of a matrix, so that nothing is masked before the result. Operands whose rows
// are known to be no multiples of 16 bytes are padded first. What is copied
// when, and by whom, is the pipeline level's business: the kernel carries what
// the schedule says of it.
//
// The unit multiplies 64 rows at a time, but columns in eights. Variant
// "gemm.skinny" computes the transposed product, for results with few rows:
// their columns are the unit's rows.
//
// A sum that the schedule splits leaves as parts in single precision, which a
// second kernel adds up in their order.

#include "GemmShape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"

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

/// A block of a matrix in memory's order, as rows of 128 swizzled bytes. The
/// last panel of rows may hold more than is multiplied.
static RankedTensorType getBlockType(GemmOp op, int64_t rows, int64_t columns,
                                     Type element) {
  int64_t panel = kSwizzledBytes * 8 / element.getIntOrFloatBitWidth();
  columns = llvm::alignTo(columns, panel);
  auto staged = StagedAttr::get(op.getContext(), {4, 7, 5, 8, 6, 9},
                                columns == panel ? 0 : panel);
  return RankedTensorType::get({rows, columns}, element, staged);
}

/// What bulk copies and vectors ask of memory.
static constexpr int64_t kAlignedBytes = 16;

/// Asks for what bulk copies need of every argument whose type allows it.
static void requireAlignment(KernelOp kernel) {
  Builder b(kernel.getContext());
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || memref.getRank() == 0)
      continue;
    // Rows that are known not to be multiples of it stay what they are.
    int64_t row = memref.getShape().back();
    if (memref.getRank() > 1 && !ShapedType::isDynamic(row) &&
        row * memref.getElementTypeBitWidth() % (8 * kAlignedBytes) != 0)
      continue;
    kernel.setArgAttr(number, kAlignedAttrName,
                      b.getI64IntegerAttr(kAlignedBytes));
  }
}

namespace {
/// The product as the unit computes it: left times right, where the left
/// operand's rows go in 64s.
struct UnitProduct {
  UnitProduct(GemmOp op, bool isTransposed)
      : op(op), shape(op), lhs(op.getLhs()), rhs(op.getRhs()),
        isTransposed(isTransposed) {
    ScheduleAttr schedule = op.getScheduleAttr();
    tileM = schedule.getTile()[0];
    tileN = schedule.getTile()[1];
    tileK = schedule.getTile()[2];
    rows = isTransposed ? tileN : tileM;
    columns = isTransposed ? tileM : tileN;
    teams = std::max<int64_t>(schedule.getConsumers(), 1);
    element = cast<RankedTensorType>(op.getLhs().getType()).getElementType();
  }

  LogicalResult verify();
  /// What the kernel reads: both operands, then those of the epilogue.
  SmallVector<Value> getInputs() {
    SmallVector<Value> inputs{lhs, rhs};
    llvm::append_range(inputs, op.getExtras());
    return inputs;
  }
  /// Terms of the sum; padded rows have more, which are zeros.
  Value getSizeK(KernelBuilder &kb) {
    auto type = cast<RankedTensorType>(op.getLhs().getType());
    if (type.isDynamicDim(shape.lhsK))
      return kb.getDim(lhs, shape.lhsK);
    return kb.index().constant(type.getDimSize(shape.lhsK));
  }
  RankedTensorType getAccumulator() {
    return RankedTensorType::get(
        {rows, columns}, op.getAccumulatorType(),
        getAccumulatorLanes(op.getContext(), teams, columns));
  }
  /// The result's dimensions of the accumulator's; the first are the batch's.
  AffineMap getResultMap(KernelBuilder &kb, int64_t leading) {
    SmallVector<AffineExpr> results(leading, kb.zero());
    results.push_back(kb.dim(isTransposed ? 1 : 0));
    results.push_back(kb.dim(isTransposed ? 0 : 1));
    return kb.map(2, results);
  }
  /// In the accumulator's order.
  SmallVector<Value> getLimits(IndexMath &ix, Value sizeM, Value sizeN, Value m,
                               Value n) {
    SmallVector<Value> limits = {ix.sub(sizeM, m), ix.sub(sizeN, n)};
    if (isTransposed)
      std::swap(limits[0], limits[1]);
    return limits;
  }
  /// Sums steps [first, first + count) over k of the tile at (m, n).
  Value sum(KernelBuilder &kb, ValueRange batch, Value m, Value n, Value first,
            Value count);

  GemmOp op;
  GemmShape shape;
  /// The operands, or padded copies of them.
  Value lhs, rhs;
  bool isTransposed;
  int64_t tileM, tileN, tileK, rows, columns, teams;
  Type element;
  RankedTensorType lhsBlock, rhsBlock;
};
} // namespace

LogicalResult UnitProduct::verify() {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (schedule.getUnit() != MatrixUnit::Wgmma)
    return op.emitOpError() << "expects the unit 'wgmma' for the variant '"
                            << schedule.getVariant() << "', found " << schedule;
  bool isHalf = element.isF16() || element.isBF16();
  if (!isHalf && !element.isF32() && !element.isInteger(8) &&
      !isa<Float8E4M3FNType, Float8E5M2Type>(element))
    return op.emitOpError()
           << "expects operands of f16, bf16, f32 (rounded to tf32), "
              "f8E4M3FN, f8E5M2 or i8 for the variant '"
           << schedule.getVariant() << "', found " << element;
  Type accumulator = op.getAccumulatorType();
  if (element.isInteger(8) ? !accumulator.isInteger(32) : !accumulator.isF32())
    return op.emitOpError()
           << "expects to sum products of " << element << " in "
           << (element.isInteger(8) ? "i32" : "f32") << " for the variant '"
           << schedule.getVariant() << "', found " << accumulator;
  // The unit reads either order of halves alone.
  if (!isHalf && (op.getTransposeLhs() || !op.getTransposeRhs()))
    return op.emitOpError()
           << "expects k to be the contiguous dimension of both operands of "
           << element << " for the variant '" << schedule.getVariant()
           << "' (rhs transposed, lhs not)";
  if (rows != kTeamRows * teams || columns % 8 || columns < 8 ||
      columns > 256 || !llvm::isPowerOf2_64(teams))
    return op.emitOpError()
           << "expects a tile of 64 " << (isTransposed ? "columns" : "rows")
           << " for each of 1, 2, 4 or 8 consumers and 8 to "
              "256 "
           << (isTransposed ? "rows" : "columns") << " in eights, found "
           << schedule;
  int64_t step = kSwizzledBytes * 8 / element.getIntOrFloatBitWidth();
  if (tileK % step)
    return op.emitOpError()
           << "expects k of the tile to be a multiple of " << step
           << " for elements of " << element << ", found " << schedule;
  bool lhsT = op.getTransposeLhs(), rhsT = op.getTransposeRhs();
  lhsBlock =
      getBlockType(op, lhsT ? tileK : tileM, lhsT ? tileM : tileK, element);
  rhsBlock =
      getBlockType(op, rhsT ? tileN : tileK, rhsT ? tileK : tileN, element);
  return success();
}

Value UnitProduct::sum(KernelBuilder &kb, ValueRange batch, Value m, Value n,
                       Value first, Value count) {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  bool lhsT = op.getTransposeLhs(), rhsT = op.getTransposeRhs();
  auto stage = [&](RankedTensorType type, Value operand, ValueRange indices,
                   int64_t operandBatch) -> Value {
    SmallVector<AffineExpr> results(operandBatch, kb.zero());
    results.push_back(kb.dim(0));
    results.push_back(kb.dim(1));
    return StageOp::create(b, type, kb.getMemRef(operand), indices,
                           ValueRange(), kb.map(2, results),
                           ArrayRef<int64_t>{operandBatch, operandBatch + 1},
                           op.getScheduleAttr().getSlots());
  };
  // The block as the product sees it, `extents` of it.
  auto orient = [&](Value block, bool transposed,
                    ArrayRef<int64_t> extents) -> Value {
    auto type = cast<RankedTensorType>(block.getType());
    if (!transposed && type.getShape() == extents)
      return block;
    Value zero = ix.constant(0);
    AffineMap map = transposed ? kb.map(2, {kb.dim(1), kb.dim(0)})
                               : kb.map(2, {kb.dim(0), kb.dim(1)});
    return ViewOp::create(
        b, RankedTensorType::get(extents, element, type.getEncoding()), block,
        ValueRange{zero, zero}, map);
  };
  return kb.loop(
      count, 1, kb.splat(getAccumulator(), 0), [&](Value step, Value others) {
        Value k = ix.mul(ix.add(first, step), tileK);
        SmallVector<Value> lhsAt =
            shape.at(batch, shape.lhsBatch, lhsT ? k : m, lhsT ? m : k);
        SmallVector<Value> rhsAt =
            shape.at(batch, shape.rhsBatch, rhsT ? n : k, rhsT ? k : n);
        Value lhs = stage(lhsBlock, this->lhs, lhsAt, shape.lhsBatch);
        Value rhs = stage(rhsBlock, this->rhs, rhsAt, shape.rhsBatch);
        Value left = isTransposed ? orient(rhs, !rhsT, {rows, tileK})
                                  : orient(lhs, lhsT, {rows, tileK});
        Value right = isTransposed ? orient(lhs, !lhsT, {tileK, columns})
                                   : orient(rhs, rhsT, {tileK, columns});
        return MmaOp::create(b, left, right, others, Value(), ValueRange())
            .getResult();
      });
}

/// What the pipeline level is told of the kernel's warps.
static void setPipeline(KernelBuilder &kb, const UnitProduct &product,
                        bool isPersistent) {
  auto module = product.op->getParentOfType<ModuleOp>();
  auto target =
      module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
  kb.getKernel().setPipelineAttr(PipelineAttr::get(
      kb.builder().getContext(), product.teams, kTeamWarps,
      product.teams > 1 ? ArrayRef<int64_t>{40, 232} : ArrayRef<int64_t>{},
      isPersistent && target.getCores() > 1 ? target.getCores() : 0,
      /*pending=*/1));
}

/// The whole sum and its epilogue in one kernel.
static void lowerWhole(RewriterBase &rewriter, UnitProduct &product) {
  GemmOp op = product.op;
  GemmShape &shape = product.shape;
  KernelBuilder kb(rewriter, op, op.getScheduleAttr(), product.getInputs(),
                   op.getInit());
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  requireAlignment(kb.getKernel());
  // A walk over tiles of batches divides by numbers of tiles: proofs know what
  // that gives where the numbers are known.
  auto type = cast<RankedTensorType>(op.getInit().getType());
  setPipeline(kb, product,
              /*isPersistent=*/shape.batchRank == 0 || type.hasStaticShape());

  Value result = kb.getDest(op.getInit());
  Value sizeM = kb.getDim(op.getInit(), shape.resultRank - 2);
  Value sizeN = kb.getDim(op.getInit(), shape.resultRank - 1);
  Value sizeK = product.getSizeK(kb);
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < shape.batchRank; ++dim)
    bounds.push_back(kb.getDim(op.getInit(), dim));
  bounds.push_back(ix.ceilDiv(sizeM, product.tileM));
  bounds.push_back(ix.ceilDiv(sizeN, product.tileN));
  Value steps = ix.ceilDiv(sizeK, product.tileK);
  Block::BlockArgListType grid =
      kb.beginTiles(bounds, op.getScheduleAttr().getGroup());
  SmallVector<Value> batch(grid.begin(), grid.begin() + shape.batchRank);
  Value m = ix.mul(grid[shape.batchRank], product.tileM);
  Value n = ix.mul(grid[shape.batchRank + 1], product.tileN);
  Value sum = product.sum(kb, batch, m, n, ix.constant(0), steps);
  SmallVector<Value> limits = product.getLimits(ix, sizeM, sizeN, m, n);
  SmallVector<Value> indices = shape.at(batch, shape.batchRank, m, n);
  AffineMap map = product.getResultMap(kb, shape.batchRank);
  Value out = kb.emitEpilogue(op, sum, {result, indices, map}, limits);
  StoreOp::create(b, out, result, indices, limits, map);
  kb.finish();
}

/// Part p of the sum, as element p of a tensor of parts.
static Value lowerParts(RewriterBase &rewriter, UnitProduct &product) {
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
static void lowerSumOfParts(RewriterBase &rewriter, UnitProduct &product,
                            Value parts) {
  constexpr int64_t kRows = 4, kColumns = 128;
  GemmOp op = product.op;
  GemmShape &shape = product.shape;
  SmallVector<Value> inputs{parts};
  llvm::append_range(inputs, op.getExtras());
  KernelBuilder kb(rewriter, op, op.getScheduleAttr(), inputs, op.getInit());
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  requireAlignment(kb.getKernel());
  kb.getKernel().setWarps(kTeamWarps);

  Value result = kb.getDest(op.getInit());
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
  auto map = [&](int64_t leading) {
    SmallVector<AffineExpr> results(leading, kb.zero());
    results.push_back(kb.dim(0));
    results.push_back(kb.dim(1));
    return kb.map(2, results);
  };
  Value sum;
  for (int64_t part = 0; part < op.getScheduleAttr().getSplit(); ++part) {
    SmallVector<Value> at{ix.constant(part)};
    llvm::append_range(at, indices);
    Value one = LoadOp::create(b, tile, kb.getMemRef(parts), at, limits,
                               Value(), map(shape.batchRank + 1));
    sum = sum ? kb.addTiles(sum, one) : one;
  }
  AffineMap resultMap = map(shape.batchRank);
  Value out = kb.emitEpilogue(op, sum, {result, indices, resultMap}, limits);
  StoreOp::create(b, out, result, indices, limits, resultMap);
  kb.finish();
}

static LogicalResult lower(RewriterBase &rewriter, GemmOp op,
                           bool isTransposed) {
  UnitProduct product(op, isTransposed);
  if (failed(product.verify()))
    return failure();
  product.shape.emitChecks(rewriter);
  product.lhs = padRows(rewriter, op, op.getLhs());
  product.rhs = op.getRhs() == op.getLhs() ? product.lhs
                                           : padRows(rewriter, op, op.getRhs());
  if (op.getScheduleAttr().getSplit() == 1)
    lowerWhole(rewriter, product);
  else
    lowerSumOfParts(rewriter, product, lowerParts(rewriter, product));
  return success();
}

LogicalResult mlir::tracea::lowerGemmWarpgroup(RewriterBase &rewriter,
                                               GemmOp op) {
  return lower(rewriter, op, /*isTransposed=*/false);
}

LogicalResult mlir::tracea::lowerGemmSkinny(RewriterBase &rewriter, GemmOp op) {
  return lower(rewriter, op, /*isTransposed=*/true);
}
