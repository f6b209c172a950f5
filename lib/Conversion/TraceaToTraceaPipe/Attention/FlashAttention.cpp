//===- Attention.cpp - Attention with an online softmax -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variant "attention.flash": the scores are never in memory as a whole (Dao et
// al., "FlashAttention", 2022; the online softmax is due to Milakov and
// Gimelshein, 2018). A grid tile is BM query rows of one head. Block by block
// of BN keys, scores are made, the running maximum m and sum l of each row are
// updated, and the rows' outputs are rescaled and accumulated:
//
//   m' = max(m, max S);  a = exp(m - m');  P = exp(S - m')
//   l  = a l + sum P;    O = a O + P V
//
// Rows without any key keep m = -inf and l = 0; they give zeros.

#include "../Variants.h"
#include "HeadOrder.h"
#include "VisibleKeys.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
class FlashAttention {
public:
  FlashAttention(KernelRewriter &rewriter, AttentionOp op)
      : op(op), schedule(op.getScheduleAttr()), kb(rewriter, op),
        b(kb.builder()), ix(kb.index()) {}

  void build();

private:
  Value scratch(ArrayRef<int64_t> shape) {
    return ScratchOp::create(
        b,
        MemRefType::get(shape, accType, AffineMap(),
                        StagedAttr::get(b.getContext(), ArrayRef<int64_t>())));
  }
  Value splat(RankedTensorType tile, Value scalar) {
    return tensor::SplatOp::create(b, scalar, tile);
  }
  Value fill(RankedTensorType tile, double value) {
    return kb.splat(tile, value);
  }
  Value spread(Value rowTile, RankedTensorType tile) {
    return BroadcastOp::create(b, tile, rowTile);
  }
  Value stagePanels(Value operand, int64_t wideDim, int64_t width,
                    int64_t panels, int64_t depth, SmallVector<Value> at,
                    Value wide, Value deep);
  void initialize();
  void visitBlock(Value j0);
  void scoreRows(Value i, Value j0, Value lengthJ);
  Value mask(Value scores, Value i, Value j);
  void finishRows(Value i);

  AttentionOp op;
  ScheduleAttr schedule;
  KernelBuilder kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;

  Type accType;
  int64_t blockM, blockN, regM, regN, headD, headE;
  RankedTensorType scoreTile, outTile, rowTile;
  AffineMap plain, rowMap;
  double lowest = -std::numeric_limits<double>::infinity();

  std::optional<VisibleKeys> visible;
  Value sizeI, sizeJ, scale;
  Value batch, head, keyHead, i0, lengthI;
  Value queries, keys, values;
  Value scores, outputs, maxima, sums;
};
} // namespace

/// Stages [panel, k, w] = operand[at.., wide + panel * width + w, deep + k] (or
/// with the last two exchanged when the wide dimension is the last).
Value FlashAttention::stagePanels(Value operand, int64_t wideDim, int64_t width,
                                  int64_t panels, int64_t depth,
                                  SmallVector<Value> at, Value wide,
                                  Value deep) {
  SmallVector<AffineExpr> map(2, kb.zero());
  AffineExpr wideExpr = kb.dim(0) * width + kb.dim(2), deepExpr = kb.dim(1);
  map.push_back(wideDim == 2 ? wideExpr : deepExpr);
  map.push_back(wideDim == 2 ? deepExpr : wideExpr);
  return StageOp::create(b, kb.getStagedType({panels, depth, width}, accType),
                         kb.getMemRef(operand), at,
                         ValueRange{wide, deep, ix.constant(width)},
                         kb.map(3, map), ArrayRef<int64_t>{wideDim},
                         schedule.getFields<schedule::CPUAttention>().slots);
}

/// Blanks the scores of keys that a row may not see; the register tile lies in
/// one block of the mask.
Value FlashAttention::mask(Value tile, Value i, Value j) {
  tile = visible->mask(tile, i, j, b.getIndexType());
  if (!op.getBlockMask())
    return tile;
  return visible->maskBlock(tile, batch, head, i, j);
}

void FlashAttention::scoreRows(Value i, Value j0, Value lengthJ) {
  Value zero = ix.constant(0);
  Value queryView =
      ViewOp::create(b, kb.getStagedType({regM, headD}, accType), queries,
                     ValueRange{ix.floorDiv(i, regM), zero, zero},
                     kb.map(2, {kb.zero(), kb.dim(1), kb.dim(0)}));
  // Scores of the block, and the maximum of each row's strip.
  Value strip = kb.loop(
      lengthJ, regN, fill(scoreTile, lowest),
      [&](Value j, Value most) -> Value {
        Value keyView =
            ViewOp::create(b, kb.getStagedType({headD, regN}, accType), keys,
                           ValueRange{ix.floorDiv(j, regN), zero, zero},
                           kb.map(2, {kb.zero(), kb.dim(0), kb.dim(1)}));
        Value product = MmaOp::create(b, queryView, keyView, fill(scoreTile, 0),
                                      Value(), ValueRange());
        Value scaled =
            arith::MulFOp::create(b, product, splat(scoreTile, scale));
        Value masked = mask(scaled, ix.add(i0, i), ix.add(j0, j));
        StoreOp::create(b, masked, scores, ValueRange{zero, j}, ValueRange(),
                        plain);
        return arith::MaximumFOp::create(b, most, masked);
      });
  Value rowMax = ReduceOp::create(b, rowTile, ReduceKind::Max, strip, 1);
  Value before = LoadOp::create(b, rowTile, maxima, ValueRange{i}, ValueRange(),
                                Value(), rowMap);
  Value after = arith::MaximumFOp::create(b, before, rowMax);
  StoreOp::create(b, after, maxima, ValueRange{i}, ValueRange(), rowMap);
  // While a row has seen no key, exponents are taken from 0, not from -inf.
  Value unseen = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, after,
                                       fill(rowTile, lowest));
  Value origin = arith::SelectOp::create(b, unseen, fill(rowTile, 0), after);
  Value decay =
      math::ExpOp::create(b, arith::SubFOp::create(b, before, origin));

  Value originTile = spread(origin, scoreTile);
  Value total = kb.loop(
      lengthJ, regN, fill(scoreTile, 0), [&](Value j, Value sum) -> Value {
        Value score = LoadOp::create(b, scoreTile, scores, ValueRange{zero, j},
                                     ValueRange(), Value(), plain);
        Value weight =
            math::ExpOp::create(b, arith::SubFOp::create(b, score, originTile));
        StoreOp::create(b, weight, scores, ValueRange{zero, j}, ValueRange(),
                        plain);
        return arith::AddFOp::create(b, sum, weight);
      });
  Value rowSum = ReduceOp::create(b, rowTile, ReduceKind::Add, total, 1);
  Value sumBefore = LoadOp::create(b, rowTile, sums, ValueRange{i},
                                   ValueRange(), Value(), rowMap);
  Value sumAfter = arith::AddFOp::create(
      b, arith::MulFOp::create(b, sumBefore, decay), rowSum);
  StoreOp::create(b, sumAfter, sums, ValueRange{i}, ValueRange(), rowMap);

  Value weights = ViewOp::create(
      b,
      MemRefType::get({regM, blockN}, accType,
                      StridedLayoutAttr::get(b.getContext(),
                                             ShapedType::kDynamic, {blockN, 1}),
                      cast<MemRefType>(scores.getType()).getMemorySpace()),
      scores, ValueRange{zero, zero}, plain);
  Value decayTile = spread(decay, outTile);
  kb.loop(ix.constant(headE), regN, [&](Value e) {
    Value valueView =
        ViewOp::create(b, kb.getStagedType({blockN, regN}, accType), values,
                       ValueRange{ix.floorDiv(e, regN), zero, zero},
                       kb.map(2, {kb.zero(), kb.dim(0), kb.dim(1)}));
    Value out = LoadOp::create(b, outTile, outputs, ValueRange{i, e},
                               ValueRange(), Value(), plain);
    Value kept = arith::MulFOp::create(b, out, decayTile);
    Value sum =
        MmaOp::create(b, weights, valueView, kept, lengthJ, ValueRange());
    StoreOp::create(b, sum, outputs, ValueRange{i, e}, ValueRange(), plain);
  });
}

void FlashAttention::visitBlock(Value j0) {
  Value lengthJ = ix.min(ix.sub(sizeJ, j0), blockN);
  Value zero = ix.constant(0);
  keys = stagePanels(op.getKey(), /*wideDim=*/2, regN,
                     llvm::divideCeil(blockN, regN), headD,
                     {batch, keyHead, j0, zero}, ix.ceilDiv(lengthJ, regN),
                     ix.constant(headD));
  values = stagePanels(op.getValue(), /*wideDim=*/3, regN,
                       llvm::divideCeil(headE, regN), blockN,
                       {batch, keyHead, j0, zero},
                       ix.constant(llvm::divideCeil(headE, regN)), lengthJ);
  kb.loop(lengthI, regM, [&](Value i) { scoreRows(i, j0, lengthJ); });
}

void FlashAttention::initialize() {
  kb.loop(lengthI, regM, [&](Value i) {
    StoreOp::create(b, fill(rowTile, lowest), maxima, ValueRange{i},
                    ValueRange(), rowMap);
    StoreOp::create(b, fill(rowTile, 0), sums, ValueRange{i}, ValueRange(),
                    rowMap);
    kb.loop(ix.constant(headE), regN, [&](Value e) {
      StoreOp::create(b, fill(outTile, 0), outputs, ValueRange{i, e},
                      ValueRange(), plain);
    });
  });
}

void FlashAttention::finishRows(Value i) {
  Value sum = LoadOp::create(b, rowTile, sums, ValueRange{i}, ValueRange(),
                             Value(), rowMap);
  // A row that saw no key divides by one instead of by zero.
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                                      fill(rowTile, 0));
  Value divisor = arith::SelectOp::create(b, empty, fill(rowTile, 1), sum);
  Value divisorTile = spread(divisor, outTile);
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  Value rows = ix.sub(lengthI, i);
  AffineMap resultMap = kb.map(2, {kb.zero(), kb.zero(), kb.dim(0), kb.dim(1)});
  kb.loop(ix.constant(headE), regN, [&](Value e) {
    Value out = LoadOp::create(b, outTile, outputs, ValueRange{i, e},
                               ValueRange(), Value(), plain);
    Value scaled = arith::DivFOp::create(b, out, divisorTile);
    Value result = convertTile(b, scaled, resultType.getElementType());
    StoreOp::create(b, result, kb.getDest(op.getInit()),
                    ValueRange{batch, head, ix.add(i0, i), e},
                    ValueRange{rows, ix.sub(ix.constant(headE), e)}, resultMap);
  });
  if (!op.getLse())
    return;
  Value most = LoadOp::create(b, rowTile, maxima, ValueRange{i}, ValueRange(),
                              Value(), rowMap);
  Value lse = arith::AddFOp::create(b, most, math::LogOp::create(b, divisor));
  Value result = convertTile(
      b, lse, cast<RankedTensorType>(op.getLse().getType()).getElementType());
  StoreOp::create(b, result, kb.getDest(op.getLseInit()),
                  ValueRange{batch, head, ix.add(i0, i)},
                  ValueRange{rows, ix.constant(1)},
                  kb.map(2, {kb.zero(), kb.zero(), kb.dim(0)}));
}

void FlashAttention::build() {
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  auto valueType = cast<RankedTensorType>(op.getValue().getType());
  accType = op.getAccumulatorType();
  blockM = schedule.getTile()[0];
  blockN = schedule.getTile()[1];
  schedule::Extents registers =
      schedule.getFields<schedule::CPUAttention>().registers;
  regM = registers[0];
  regN = registers[1];
  headD = queryType.getDimSize(3);
  headE = valueType.getDimSize(3);
  int64_t paddedE = llvm::alignTo(headE, regN);
  scoreTile = kb.getTileType({regM, regN}, accType);
  outTile = scoreTile;
  rowTile = RankedTensorType::get({regM, 1}, accType,
                                  getLanes(scoreTile).getReduced(1));
  plain = kb.map(2, {kb.dim(0), kb.dim(1)});
  rowMap = kb.map(2, {kb.dim(0)});

  sizeI = kb.getDim(op.getQuery(), 2);
  sizeJ = kb.getDim(op.getKey(), 2);
  Value heads = kb.getDim(op.getQuery(), 1);
  Value keyHeads = kb.getDim(op.getKey(), 1);
  Block::BlockArgListType grid = kb.beginTiles(
      {kb.getDim(op.getQuery(), 0), heads, ix.ceilDiv(sizeI, blockM)});
  batch = grid[0];
  head = grid[1];
  i0 = ix.mul(grid[2], blockM);
  lengthI = ix.min(ix.sub(sizeI, i0), blockM);
  // head / (heads / keyHeads)
  keyHead = b.createOrFold<arith::DivUIOp>(
      head, b.createOrFold<arith::DivUIOp>(heads, keyHeads));
  visible.emplace(kb, op, sizeI, sizeJ);
  double scaleValue = op.getStaticScale().value_or(1.0);
  scale = arith::ConstantOp::create(
      b, b.getFloatAttr(cast<FloatType>(accType), scaleValue));

  scores = scratch({regM, blockN});
  outputs = scratch({blockM, paddedE});
  maxima = scratch({blockM});
  sums = scratch({blockM});
  initialize();
  queries = stagePanels(op.getQuery(), /*wideDim=*/2, regM,
                        llvm::divideCeil(blockM, regM), headD,
                        {batch, head, i0, ix.constant(0)},
                        ix.ceilDiv(lengthI, regM), ix.constant(headD));
  // All keys, whatever the mask shows: which of them a row meets does then not
  // depend on the block that it lies in.
  kb.loop(sizeJ, blockN, [&](Value j0) { visitBlock(j0); });
  kb.loop(lengthI, regM, [&](Value i) { finishRows(i); });
  kb.finish();
}

LogicalResult mlir::tracea::lowerAttentionFlash(KernelRewriter &rewriter,
                                                AttentionOp op) {
  if (op.getLengths())
    return op.emitOpError() << "expects no lengths for the variant "
                               "'attention.flash'";
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  auto valueType = cast<RankedTensorType>(op.getValue().getType());
  if (queryType.isDynamicDim(3) || valueType.isDynamicDim(3))
    return op.emitOpError() << "expects static head dimensions for the variant "
                               "'attention.flash', found "
                            << queryType << " and " << valueType;
  ArrayRef<int64_t> tile = op.getScheduleAttr().getTile();
  ArrayRef<int64_t> registers =
      op.getScheduleAttr().getFields<schedule::CPUAttention>().registers;
  if (tile[0] % registers[0] || tile[1] % registers[1])
    return op.emitOpError() << "expects a schedule whose tile is a multiple of "
                               "its register tile, found "
                            << op.getScheduleAttr();
  // The kernel looks a register tile up in one block of the mask.
  if (std::optional<ArrayRef<int64_t>> block = op.getBlockSize();
      block && ((*block)[0] % registers[0] || (*block)[1] % registers[1]))
    return op.emitOpError()
           << "expects a schedule whose register tile divides the mask's block "
              "of "
           << (*block)[0] << "x" << (*block)[1] << ", found "
           << op.getScheduleAttr();
  emitAttentionChecks(rewriter, op, AttentionMemory::get(op));
  FlashAttention(rewriter, op).build();
  return success();
}
