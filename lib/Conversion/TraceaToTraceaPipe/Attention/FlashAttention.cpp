//===- FlashAttention.cpp - Attention on CPUs, with an online softmax -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variants "attention.flash" and "attention.dot": the scores are never in
// memory as a whole (Dao et al., "FlashAttention", 2022; the online softmax is
// due to Milakov and Gimelshein, 2018). A grid tile is BM query rows of one
// head. Block by block of BN keys, scores are made, the running maximum m and
// sum l of each row are updated, and the rows' outputs are rescaled and
// accumulated:
//
//   m' = max(m, max S);  a = exp(m - m');  P = exp(S - m')
//   l  = a l + sum P;    O = a O + P V
//
// Rows without any key keep m = -inf and l = 0; they give zeros.
//
// "attention.dot" multiplies words of neighbours along k by the target's dot
// products: P is rounded to the operands' type, its sums are not.

#include "../Contraction/Panels.h"
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

constexpr StringRef kDotVariant = "attention.dot";

/// Bits of a line of the caches.
constexpr int64_t kLineBits = 512;

/// Rows whose exponentials are computed together: of more the registers would
/// not hold what they need.
constexpr int64_t kSoftmaxRows = 8;

/// Beside which any score is nothing.
constexpr double kLarge = std::numeric_limits<float>::max();

/// The matrices of heads, which have the extent of a query or value as rows.
static MatrixOperand::Form getForm(Value tensor, bool isLeft, bool isAlongK) {
  return {isLeft, isAlongK,
          cast<RankedTensorType>(tensor.getType()).getDimSize(3),
          ShapedType::kDynamic};
}

namespace {
class FlashAttention {
public:
  FlashAttention(KernelRewriter &rewriter, AttentionOp op,
                 const WordOperands &words)
      : op(op), schedule(op.getScheduleAttr()), words(words), kb(rewriter, op),
        b(kb.builder()), ix(kb.index()),
        query(op.getQuery(), getForm(op.getQuery(), true, true)),
        key(op.getKey(), getForm(op.getKey(), false, true)),
        value(op.getValue(), getForm(op.getValue(), false, false)) {}

  void build();

private:
  Value scratch(ArrayRef<int64_t> shape, Type type) {
    return ScratchOp::create(
        b,
        MemRefType::get(shape, type, AffineMap(),
                        StagedAttr::get(b.getContext(), ArrayRef<int64_t>())));
  }
  Value fill(RankedTensorType tile, double value) {
    return kb.splat(tile, value);
  }
  Value spread(Value rowTile, RankedTensorType tile) {
    return BroadcastOp::create(b, tile, rowTile);
  }
  Value load(RankedTensorType tile, Value memory, Value row, Value column) {
    return LoadOp::create(b, tile, memory, ValueRange{row, column},
                          ValueRange(), Value(), plain);
  }
  void store(Value tile, Value memory, Value row, Value column) {
    StoreOp::create(b, tile, memory, ValueRange{row, column}, ValueRange(),
                    plain);
  }
  /// The panels of an operand, of which those of queries are on the left.
  Panels getPanels(const MatrixOperand &operand) {
    bool isLhs = &operand == &query;
    return {kb, operand, isLhs ? regM : regN, words, isLhs};
  }
  void initialize();
  void visitBlock(Value j0, Value endJ);
  void visitRows(Value i, Value j0, Value lengthJ);
  Value multiplyKeys(Value queryView, Value panel);
  Value isShown(Value i, Value key);
  Value maskScores(Value scores, Value i, Value key);
  Value scoreTiles(Value i, Value j0, Value first, Value count);
  Value readScores(Value i, Value row, Value j0, Value first, Value count);
  Value getMaxima(Value most, Value tile);
  Value weigh(Value i, Value row, Value first, Value count, Value strip);
  void addValues(Value i, Value rows, Value lengthJ, Value decay);
  Value power(Value x);
  void finishRows(Value i);

  AttentionOp op;
  ScheduleAttr schedule;
  WordOperands words;
  KernelBuilder kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;

  Type accType;
  int64_t blockM, blockN, regM, regN, headD, headE;
  /// Rows whose softmax is computed together: those of a register tile, where
  /// vectors hold it.
  int64_t softM;
  /// Products as their unit holds them, and in vectors; `softTile` are those
  /// of `softM` rows, of which `partTile` has one vector of each row: what rows
  /// reduce to in lanes.
  RankedTensorType sumsTile, scoreTile, softTile, partTile, rowTile;
  AffineMap plain, rowMap;
  double lowest = -std::numeric_limits<double>::infinity();

  /// The factor of scores in powers of two; and the one that is left of it
  /// where scores have been multiplied because it would turn their order
  /// around.
  double factor, scale;

  std::optional<VisibleKeys> visible;
  Value sizeI, sizeJ;
  Value batch, head, keyHead, i0, lengthI;
  MatrixOperand query, key, value;
  Value queries, keys, values;
  Value scores, outputs, maxima, sums;
  /// The scores' powers as they are multiplied, which are in place of scores
  /// where both have one type.
  Value weights;
  /// What rows decay by, and products with values, of tiles on a unit.
  Value decays, products;
};
} // namespace

/// The products of queries and of a panel of `regN` keys of the block.
Value FlashAttention::multiplyKeys(Value queryView, Value panel) {
  return MmaOp::create(b, queryView, getPanels(key).viewPanel(keys, panel),
                       kb.splat(sumsTile, 0), Value(), ValueRange());
}

/// Whether the block mask shows the block that a tile of scores lies in, i1;
/// null without a mask.
Value FlashAttention::isShown(Value i, Value key) {
  return op.getBlockMask() ? visible->isShown(batch, head, ix.add(i0, i), key)
                           : Value();
}

/// The products of queries from `i` of the tile on with keys from `key` on as
/// powers are made of them; minus infinity where a query does not see a key.
Value FlashAttention::maskScores(Value tile, Value i, Value key) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (factor <= 0)
    tile = arith::MulFOp::create(b, tile, fill(type, factor));
  return visible->maskEdges(tile, ix.add(i0, i), type.getDimSize(0), key,
                            b.getI32Type());
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

/// The greater one of `most` and each vector of a row of `tile`.
Value FlashAttention::getMaxima(Value most, Value tile) {
  int64_t width = partTile.getDimSize(1);
  for (int64_t column = 0; column < regN; column += width)
    most = emitGreater(
        b, SliceOp::create(b, partTile, tile, ArrayRef<int64_t>{0, column}),
        most);
  return most;
}

/// Stores the scores of `regM` queries from `i` of the tile on and of `count`
/// panels of keys from `first` on. The maximum of each row's strip, where
/// vectors hold them; tiles of a unit go to memory as they are.
Value FlashAttention::scoreTiles(Value i, Value j0, Value first, Value count) {
  Value zero = ix.constant(0);
  Value queryView = getPanels(query).view(queries, i);
  auto multiply = [&](Value panel) -> Value {
    Value product = multiplyKeys(queryView, panel);
    return words.hasTiles() ? RelayoutOp::create(b, scoreTile, product)
                            : product;
  };
  if (words.hasUnit()) {
    kb.loop(count, 1, [&](Value number) {
      Value panel = ix.add(first, number), j = ix.mul(panel, regN);
      auto storeProducts = [&] { store(multiply(panel), scores, zero, j); };
      Value shown = isShown(i, ix.add(j0, j));
      if (!shown)
        return storeProducts();
      kb.branch(shown, storeProducts,
                [&] { store(fill(scoreTile, lowest), scores, zero, j); });
    });
    return Value();
  }
  return kb.loop(
      count, 1, fill(partTile, lowest), [&](Value number, Value most) -> Value {
        Value panel = ix.add(first, number), j = ix.mul(panel, regN);
        auto score = [&] {
          return maskScores(multiply(panel), i, ix.add(j0, j));
        };
        Value shown = isShown(i, ix.add(j0, j));
        Value tile = shown ? kb.select(shown, score,
                                       [&] { return fill(scoreTile, lowest); })
                           : score();
        store(tile, scores, zero, j);
        return getMaxima(most, tile);
      });
}

/// The maximum of each row's strip of scores that a unit has stored: of `softM`
/// rows from `row` on of the tile of queries from `i` on.
Value FlashAttention::readScores(Value i, Value row, Value j0, Value first,
                                 Value count) {
  return kb.loop(
      count, 1, fill(partTile, lowest), [&](Value number, Value most) -> Value {
        Value j = ix.mul(ix.add(first, number), regN);
        Value at = ix.add(i, row), key = ix.add(j0, j);
        Value products = load(softTile, scores, row, j);
        auto score = [&] { return maskScores(products, at, key); };
        // Hidden scores are there as minus infinity, which is no product.
        Value shown = factor <= 0 ? isShown(at, key) : Value();
        Value tile = shown ? kb.select(shown, score,
                                       [&] { return fill(softTile, lowest); })
                           : score();
        if (tile != products)
          store(tile, scores, row, j);
        return getMaxima(most, tile);
      });
}

/// Makes weights of the scores of `softM` rows from `row` on of the tile of
/// queries from `i` on, whose maxima are in `strip`, and adds them up. What the
/// rows' sums decay by.
Value FlashAttention::weigh(Value i, Value row, Value first, Value count,
                            Value strip) {
  Value zero = ix.constant(0), at = ix.add(i, row);
  Value rowMax = ReduceOp::create(b, rowTile, ReduceKind::Max, strip, 1);
  Value before = LoadOp::create(b, rowTile, maxima, ValueRange{at},
                                ValueRange(), Value(), rowMap);
  Value after = arith::MaximumFOp::create(b, before, rowMax);
  StoreOp::create(b, after, maxima, ValueRange{at}, ValueRange(), rowMap);
  // What exponents count from: a number also while a row has seen no key.
  Value origin = arith::MaximumFOp::create(b, after, fill(rowTile, -kLarge));
  Value decay = power(arith::SubFOp::create(b, before, origin));

  // One vector of each row at a time: the registers hold what exponentials of
  // that many need.
  Value originTile = spread(origin, partTile);
  Value sumBefore = load(partTile, sums, at, zero);
  auto weighAt = [&](Value j, Value sum) -> Value {
    Value score = load(partTile, scores, row, j);
    Value weight = power(arith::SubFOp::create(b, score, originTile));
    store(convertTile(b, weight, words.lhs), weights, row, j);
    return arith::AddFOp::create(b, sum, weight);
  };
  Value total = kb.loop(
      count, 1, arith::MulFOp::create(b, sumBefore, spread(decay, partTile)),
      [&](Value number, Value sum) {
        Value j = ix.mul(ix.add(first, number), regN);
        return kb.loop(ix.constant(regN), partTile.getDimSize(1), sum,
                       [&](Value column, Value inner) {
                         return weighAt(ix.add(j, column), inner);
                       });
      });
  store(total, sums, at, zero);
  return decay;
}

/// Adds to the outputs of `rows` queries from `i` on, which decay, the products
/// of their weights with the block's values.
void FlashAttention::addValues(Value i, Value rows, Value lengthJ,
                               Value decay) {
  Value zero = ix.constant(0);
  int64_t pitch = cast<MemRefType>(weights.getType()).getDimSize(1);
  SmallVector<AffineExpr> place = {kb.dim(0), kb.dim(1) * words.length};
  SmallVector<int64_t> strides = {pitch, words.length};
  if (words.length > 1) {
    place[1] = place[1] + kb.dim(2);
    strides.push_back(1);
  }
  Value view = ViewOp::create(
      b,
      MemRefType::get(
          words.getShape({regM, blockN / words.length}), words.lhs,
          StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides),
          cast<MemRefType>(weights.getType()).getMemorySpace()),
      weights, ValueRange{zero, zero}, kb.map(strides.size(), place));
  Value depth = words.getSteps(kb, lengthJ);
  auto multiply = [&](Value e, Value others) {
    return MmaOp::create(b, view, getPanels(value).view(values, e), others,
                         depth, ValueRange());
  };
  if (!words.hasUnit()) {
    Value decayTile = spread(decay, scoreTile);
    return kb.loop(ix.constant(headE), regN, [&](Value e) {
      Value kept =
          arith::MulFOp::create(b, load(scoreTile, outputs, i, e), decayTile);
      if (!words.hasTiles())
        return store(multiply(e, kept), outputs, i, e);
      Value product = multiply(e, kb.splat(sumsTile, 0));
      store(kb.addTiles(kept, RelayoutOp::create(b, scoreTile, product)),
            outputs, i, e);
    });
  }
  kb.loop(ix.constant(headE), regN, [&](Value e) {
    Value product = multiply(e, kb.splat(sumsTile, 0));
    store(RelayoutOp::create(b, scoreTile, product), products, zero, e);
  });
  kb.loop(rows, softM, [&](Value row) {
    Value decayTile = spread(LoadOp::create(b, rowTile, decays, ValueRange{row},
                                            ValueRange(), Value(), rowMap),
                             softTile);
    kb.loop(ix.constant(headE), regN, [&](Value e) {
      Value at = ix.add(i, row);
      Value kept =
          arith::MulFOp::create(b, load(softTile, outputs, at, e), decayTile);
      store(kb.addTiles(kept, load(softTile, products, row, e)), outputs, at,
            e);
    });
  });
}

void FlashAttention::visitRows(Value i, Value j0, Value lengthJ) {
  // The tiles of the block that these rows see.
  Value tiles = ix.ceilDiv(lengthJ, regN);
  Value first, last;
  std::tie(first, last) =
      visible->getTiles(ix.add(i0, i), regM, j0, regN, tiles);
  Value count = ix.sub(last, first);
  // Of a unit's tile those rows that there are.
  Value rows = ix.constant(regM);
  if (words.hasUnit())
    rows = ix.min(ix.sub(lengthI, i), regM);
  Value strip = scoreTiles(i, j0, first, count);
  Value decay;
  if (words.hasUnit())
    kb.loop(rows, softM, [&](Value row) {
      Value most = readScores(i, row, j0, first, count);
      StoreOp::create(b, weigh(i, row, first, count, most), decays,
                      ValueRange{row}, ValueRange(), rowMap);
    });
  else
    decay = weigh(i, ix.constant(0), first, count, strip);
  // What they do not see has no weight.
  auto clear = [&](Value from, Value to) {
    kb.loop(ix.sub(to, from), 1, [&](Value number) {
      Value j = ix.mul(ix.add(from, number), regN);
      kb.loop(rows, softM, [&](Value row) {
        store(fill(softTile.clone(words.lhs), 0), weights, row, j);
      });
    });
  };
  if (VisibleKeys::hasBand(op)) {
    clear(ix.constant(0), ix.min(first, tiles));
    clear(b.createOrFold<arith::MaxSIOp>(first, last), tiles);
  }
  addValues(i, rows, lengthJ, decay);
}

void FlashAttention::visitBlock(Value j0, Value endJ) {
  Value lengthJ = ix.min(ix.sub(endJ, j0), blockN);
  Value zero = ix.constant(0);
  int64_t slots = schedule.getFields<schedule::CPUAttention>().slots;
  SmallVector<Value> at = {batch, keyHead, j0, zero};
  Panels keyPanels = getPanels(key), valuePanels = getPanels(value);
  keys = keyPanels.stage(keyPanels.getType(llvm::divideCeil(blockN, regN),
                                           words.getWhole(headD), words.rhs),
                         at, lengthJ, ix.constant(headD), slots);
  values = valuePanels.stage(
      valuePanels.getType(llvm::divideCeil(headE, regN), blockN, words.rhs), at,
      ix.constant(headE), lengthJ, slots);
  kb.loop(lengthI, regM, [&](Value i) { visitRows(i, j0, lengthJ); });
}

void FlashAttention::initialize() {
  kb.loop(ix.roundUp(lengthI, regM), softM, [&](Value i) {
    StoreOp::create(b, fill(rowTile, lowest), maxima, ValueRange{i},
                    ValueRange(), rowMap);
    store(fill(partTile, 0), sums, i, ix.constant(0));
    kb.loop(ix.constant(headE), regN,
            [&](Value e) { store(fill(softTile, 0), outputs, i, e); });
  });
}

void FlashAttention::finishRows(Value i) {
  Value parts = load(partTile, sums, i, ix.constant(0));
  Value sum = ReduceOp::create(b, rowTile, ReduceKind::Add, parts, 1);
  // A row that saw no key divides by one instead of by zero.
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                                      fill(rowTile, 0));
  Value divisor = arith::SelectOp::create(b, empty, fill(rowTile, 1), sum);
  Value divisorTile = spread(divisor, softTile);
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  Value rows = ix.sub(lengthI, i);
  AffineMap resultMap = kb.map(2, {kb.zero(), kb.zero(), kb.dim(0), kb.dim(1)});
  kb.loop(ix.constant(headE), regN, [&](Value e) {
    Value scaled =
        arith::DivFOp::create(b, load(softTile, outputs, i, e), divisorTile);
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
  softM = words.hasUnit() ? kSoftmaxRows : regM;
  sumsTile = words.getSumsType(kb, {regM, regN}, accType);
  scoreTile = kb.getTileType({regM, regN}, accType);
  softTile = kb.getTileType({softM, regN}, accType);
  partTile = getFirstVectors(softTile);
  rowTile = RankedTensorType::get({softM, 1}, accType,
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

  // Rows of a unit's tiles are an odd number of lines apart: at a power of two
  // they would share few sets of the cache.
  auto getPitch = [&](Type type) {
    int64_t line =
        words.hasUnit() ? kLineBits / type.getIntOrFloatBitWidth() : 0;
    return blockN + line;
  };
  scores = scratch({regM, getPitch(accType)}, accType);
  weights = words.lhs == accType
                ? scores
                : scratch({regM, getPitch(words.lhs)}, words.lhs);
  outputs = scratch({blockM, paddedE}, accType);
  maxima = scratch({blockM}, accType);
  sums = scratch({blockM, partTile.getDimSize(1)}, accType);
  if (words.hasUnit()) {
    decays = scratch({regM}, accType);
    products = scratch({regM, paddedE}, accType);
  }
  initialize();
  Panels queryPanels = getPanels(query);
  queries = queryPanels.stage(
      queryPanels.getType(llvm::divideCeil(blockM, regM), words.getWhole(headD),
                          words.lhs),
      {batch, head, i0, ix.constant(0)}, lengthI, ix.constant(headD),
      schedule.getFields<schedule::CPUAttention>().slots);
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
  kb.loop(lengthI, softM, [&](Value i) { finishRows(i); });
  words.markRoundings(kb);
  kb.finish();
}

LogicalResult mlir::tracea::lowerAttentionFlash(KernelRewriter &rewriter,
                                                AttentionOp op) {
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  auto valueType = cast<RankedTensorType>(op.getValue().getType());
  if (queryType.isDynamicDim(3) || valueType.isDynamicDim(3))
    return op.emitOpError()
           << "expects static head dimensions for the variant '"
           << op.getScheduleAttr().getVariant() << "', found " << queryType
           << " and " << valueType;
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
  FailureOr<WordOperands> words =
      getWordOperands(op, kDotVariant, op.getKey(), op.getValue(),
                      op.getAccumulatorType(), tile[1], registers);
  if (failed(words))
    return failure();
  // What a word has behind the last key is in the last tile of scores, and has
  // no weight.
  if (int64_t step = words->getWhole(1); registers[1] % step != 0)
    return op.emitOpError()
           << "expects a register tile whose columns are a multiple of " << step
           << " for the variant '" << kDotVariant << "', found "
           << op.getScheduleAttr();
  emitAttentionChecks(rewriter, op, AttentionMemory::get(op));
  FlashAttention(rewriter, op, *words).build();
  return success();
}
