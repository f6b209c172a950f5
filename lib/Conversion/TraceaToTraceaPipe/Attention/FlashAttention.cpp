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

#include "../Maxima.h"
#include "../Variants.h"
#include "HeadOrder.h"
#include "VisibleKeys.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Beside which any score is nothing.
constexpr double kLarge = std::numeric_limits<float>::max();

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
  void visitBlock(Value j0, Value endJ);
  void scoreRows(Value i, Value j0, Value lengthJ);
  Value scoreAt(Value queryView, Value i, Value j0, Value panel);
  Value power(Value x);
  void finishRows(Value i);

  AttentionOp op;
  ScheduleAttr schedule;
  KernelBuilder kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;

  Type accType;
  int64_t blockM, blockN, regM, regN, headD, headE;
  /// `partTile` has one vector of each row: what rows reduce to in lanes.
  RankedTensorType scoreTile, partTile, outTile, rowTile;
  AffineMap plain, rowMap;
  double lowest = -std::numeric_limits<double>::infinity();

  /// The factor of scores in powers of two; and the one that is left of it
  /// where scores have been multiplied because it would turn their order
  /// around.
  double factor, scale;

  std::optional<VisibleKeys> visible;
  Value sizeI, sizeJ;
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

/// The scores of `regM` queries of the tile from `i` on and of a panel of
/// `regN` keys of the block; minus infinity where a query does not see a key.
/// They lie in one block of the mask.
Value FlashAttention::scoreAt(Value queryView, Value i, Value j0, Value panel) {
  Value query = ix.add(i0, i), key = ix.add(j0, ix.mul(panel, regN)),
        zero = ix.constant(0);
  auto multiply = [&]() -> Value {
    Value keyView =
        ViewOp::create(b, kb.getStagedType({headD, regN}, accType), keys,
                       ValueRange{panel, zero, zero},
                       kb.map(2, {kb.zero(), kb.dim(0), kb.dim(1)}));
    Value product = MmaOp::create(b, queryView, keyView, fill(scoreTile, 0),
                                  Value(), ValueRange());
    if (factor <= 0)
      product = arith::MulFOp::create(b, product, fill(scoreTile, factor));
    return visible->maskEdges(product, query, regM, key, b.getI32Type());
  };
  if (!op.getBlockMask())
    return multiply();
  return kb.select(visible->isShown(batch, head, query, key), multiply,
                   [&] { return fill(scoreTile, lowest); });
}

/// 2^(x scale) of a difference that is not above zero.
Value FlashAttention::power(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  auto power =
      math::Exp2Op::create(b, arith::MulFOp::create(b, x, fill(type, scale)));
  // Beside the greatest weight they are nothing.
  power->setAttr(kFlushesAttrName, b.getUnitAttr());
  return power;
}

void FlashAttention::scoreRows(Value i, Value j0, Value lengthJ) {
  Value zero = ix.constant(0);
  // The tiles of the block that these rows see.
  Value tiles = ix.ceilDiv(lengthJ, regN);
  Value first, last;
  std::tie(first, last) =
      visible->getTiles(ix.add(i0, i), regM, j0, regN, tiles);
  Value count = ix.sub(last, first);
  Value queryView =
      ViewOp::create(b, kb.getStagedType({regM, headD}, accType), queries,
                     ValueRange{ix.floorDiv(i, regM), zero, zero},
                     kb.map(2, {kb.zero(), kb.dim(1), kb.dim(0)}));
  // Scores of the block, and the maximum of each row's strip.
  int64_t width = partTile.getDimSize(1);
  Value strip = kb.loop(
      count, 1, fill(partTile, lowest), [&](Value number, Value most) -> Value {
        Value panel = ix.add(first, number), j = ix.mul(panel, regN);
        Value tile = scoreAt(queryView, i, j0, panel);
        StoreOp::create(b, tile, scores, ValueRange{zero, j}, ValueRange(),
                        plain);
        for (int64_t column = 0; column < regN; column += width)
          most = emitGreater(
              b,
              SliceOp::create(b, partTile, tile, ArrayRef<int64_t>{0, column}),
              most);
        return most;
      });
  Value rowMax = ReduceOp::create(b, rowTile, ReduceKind::Max, strip, 1);
  Value before = LoadOp::create(b, rowTile, maxima, ValueRange{i}, ValueRange(),
                                Value(), rowMap);
  Value after = arith::MaximumFOp::create(b, before, rowMax);
  StoreOp::create(b, after, maxima, ValueRange{i}, ValueRange(), rowMap);
  // What exponents count from: a number also while a row has seen no key.
  Value origin = arith::MaximumFOp::create(b, after, fill(rowTile, -kLarge));
  Value decay = power(arith::SubFOp::create(b, before, origin));

  // One vector of each row at a time: the registers hold what exponentials of
  // that many need.
  Value originTile = spread(origin, partTile);
  Value sumBefore = LoadOp::create(b, partTile, sums, ValueRange{i, zero},
                                   ValueRange(), Value(), plain);
  auto weigh = [&](Value j, Value sum) -> Value {
    Value score = LoadOp::create(b, partTile, scores, ValueRange{zero, j},
                                 ValueRange(), Value(), plain);
    Value weight = power(arith::SubFOp::create(b, score, originTile));
    StoreOp::create(b, weight, scores, ValueRange{zero, j}, ValueRange(),
                    plain);
    return arith::AddFOp::create(b, sum, weight);
  };
  Value total = kb.loop(
      count, 1, arith::MulFOp::create(b, sumBefore, spread(decay, partTile)),
      [&](Value number, Value sum) {
        Value j = ix.mul(ix.add(first, number), regN);
        return kb.loop(
            ix.constant(regN), width, sum,
            [&](Value at, Value inner) { return weigh(ix.add(j, at), inner); });
      });
  StoreOp::create(b, total, sums, ValueRange{i, zero}, ValueRange(), plain);
  // What they do not see has no weight.
  auto clear = [&](Value from, Value to) {
    kb.loop(ix.sub(to, from), 1, [&](Value number) {
      StoreOp::create(b, fill(scoreTile, 0), scores,
                      ValueRange{zero, ix.mul(ix.add(from, number), regN)},
                      ValueRange(), plain);
    });
  };
  if (VisibleKeys::hasBand(op)) {
    clear(zero, ix.min(first, tiles));
    clear(b.createOrFold<arith::MaxSIOp>(first, last), tiles);
  }
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

void FlashAttention::visitBlock(Value j0, Value endJ) {
  Value lengthJ = ix.min(ix.sub(endJ, j0), blockN);
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
    StoreOp::create(b, fill(partTile, 0), sums, ValueRange{i, ix.constant(0)},
                    ValueRange(), plain);
    kb.loop(ix.constant(headE), regN, [&](Value e) {
      StoreOp::create(b, fill(outTile, 0), outputs, ValueRange{i, e},
                      ValueRange(), plain);
    });
  });
}

void FlashAttention::finishRows(Value i) {
  Value parts = LoadOp::create(b, partTile, sums, ValueRange{i, ix.constant(0)},
                               ValueRange(), Value(), plain);
  Value sum = ReduceOp::create(b, rowTile, ReduceKind::Add, parts, 1);
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
  // Scores count in powers of two.
  Value lse = arith::AddFOp::create(
      b,
      arith::MulFOp::create(b, most, fill(rowTile, scale * llvm::numbers::ln2)),
      math::LogOp::create(b, divisor));
  Value result = convertTile(
      b, lse, cast<RankedTensorType>(op.getLse().getType()).getElementType());
  StoreOp::create(b, result, kb.getDest(op.getLseInit()),
                  ValueRange{batch, head, ix.add(i0, i)},
                  ValueRange{rows, ix.constant(1)},
                  kb.map(2, {kb.zero(), kb.zero(), kb.dim(0)}));
}

/// The tile that has of each row of `tile` the first vector.
static RankedTensorType getFirstVectors(RankedTensorType tile) {
  LanesAttr lanes = getLanes(tile);
  ::tracea::algebra::LaneBases bases;
  for (DenseI64ArrayAttr vector : lanes.getReg())
    if (vector[1] == 0)
      bases.reg.emplace_back(vector.asArrayRef());
  for (DenseI64ArrayAttr vector : lanes.getLane())
    bases.lane.emplace_back(vector.asArrayRef());
  return RankedTensorType::get(
      {tile.getDimSize(0), lanes.getNumLanes()}, tile.getElementType(),
      getLanesAttr(tile.getContext(), bases, {lanes.getOuter()[0], 1}));
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
  partTile = getFirstVectors(scoreTile);
  rowTile = RankedTensorType::get({regM, 1}, accType,
                                  getLanes(partTile).getReduced(1));
  plain = kb.map(2, {kb.dim(0), kb.dim(1)});
  rowMap = kb.map(2, {kb.dim(0)});

  sizeI = kb.getDim(op.getQuery(), 2);
  // Keys are as many as values, of which the type may tell more.
  sizeJ = kb.getDim(valueType.isDynamicDim(2) ? op.getKey() : op.getValue(), 2);
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
  Value endJ = sizeJ;
  if (op.getLengths())
    endJ = ix.min(
        ReadOp::create(b, kb.getMemRef(op.getLengths()), ValueRange{batch}),
        sizeJ);
  visible.emplace(kb, op, sizeI, sizeJ, VisibleKeys::Rows::Queries, endJ);
  visible->define(cast<BlockArgument>(kb.getDest(op.getInit())).getArgNumber(),
                  /*queryDim=*/2, /*batchDim=*/0, /*operands=*/{1, 2},
                  /*dims=*/{2, 2});
  factor = op.getStaticScale().value_or(1.0) * llvm::numbers::log2e;
  scale = factor > 0 ? factor : 1;

  scores = scratch({regM, blockN});
  outputs = scratch({blockM, paddedE});
  maxima = scratch({blockM});
  sums = scratch({blockM, partTile.getDimSize(1)});
  initialize();
  queries = stagePanels(op.getQuery(), /*wideDim=*/2, regM,
                        llvm::divideCeil(blockM, regM), headD,
                        {batch, head, i0, ix.constant(0)},
                        ix.ceilDiv(lengthI, regM), ix.constant(headD));
  if (std::optional<int64_t> all = getStatic(endJ); all && *all <= blockN) {
    // One block has all keys.
    visitBlock(ix.constant(0), endJ);
  } else {
    auto [begin, end] = visible->getRange(i0, blockM, regN);
    auto loop = scf::ForOp::create(b, begin, end, ix.constant(blockN));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    visitBlock(loop.getInductionVar(), end);
  }
  kb.loop(lengthI, regM, [&](Value i) { finishRows(i); });
  kb.finish();
}

LogicalResult mlir::tracea::lowerAttentionFlash(KernelRewriter &rewriter,
                                                AttentionOp op) {
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
