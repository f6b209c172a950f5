//===- FlashAttention2.cpp - Attention in registers -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form of FlashAttention-2 (Dao, 2023). A grid tile is BM queries of one
// head, and each warp has rows of its own, whose outputs stay in its registers.
// All lanes copy blocks of BN keys and values ahead. What multiplies, and how
// weights become an operand of the second product, an `AttentionUnit` says.
//
//   m' = max(m, max S);  a = 2^(c m - c m');  P = 2^(c S - c m')
//   l  = a l + sum P;    O = a O + P V;       c = scale log2 e
//
// The maximum m stays as it is while no score is more than 8 / c above it: then
// a is one, and weights are at most 2^8.
//
// P is rounded to the type of the values. Rows without any key keep m = -inf
// and l = 0; they give zeros.
//
// Of a block mask a tile visits the blocks that its row of the mask shows: two
// small kernels list them first (BlockLists.cpp).
//
// Where there are few queries, the rows of a tile are the query heads that
// share a key head (`pack`), and the keys are split: each part leaves its own
// outputs and log-sum-exp, which MergeParts.cpp puts together.
//
//===----------------------------------------------------------------------===//

#include "../KernelMemory.h"
#include "BlockLists.h"
#include "FlashTile.h"
#include "MergeParts.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/IR/NeededTerms.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// By how many powers of two a weight may be above one.
static constexpr double kMostRise = 8;
/// A score that is a finite number, whatever is added to it.
static constexpr double kLargestMaximum = 1e38;

namespace {
class FlashAttention2 : FlashTile {
public:
  FlashAttention2(KernelBuilder &kb, AttentionOp op, AttentionUnit &unit,
                  const AttentionMemory &memory,
                  const std::optional<BlockLists> &lists);

  void build();

private:
  /// What goes from one block of keys to the next: outputs, and of each row
  /// the greatest score and, still in parts, the sum of its weights.
  struct Rows {
    SmallVector<Value> outputs;
    Value maxima, sums;

    SmallVector<Value> list() const {
      SmallVector<Value> all(outputs);
      all.append({maxima, sums});
      return all;
    }
    static Rows of(ValueRange all) {
      return {SmallVector<Value>(all.drop_back(2)), all[all.size() - 2],
              all.back()};
    }
  };

  Value fold(Value tile, function_ref<Value(Value, Value)> combine,
             Value first);
  Rows raise(Value most, const Rows &rows);
  Rows visitBlock(Value j0, Rows rows);
  void store(Rows rows);
  void storeLogSumExp(Rows rows, Value sums);
  /// Opens the grid; the part of the keys is its first index.
  void beginTiles();
  /// What the tile walks through, from where on and up to where: the keys, or
  /// those of the blocks that are listed, one block after the other.
  std::pair<Value, Value> getWalk();
  /// The key at a place of the walk that is a multiple of the tile's keys.
  Value getKey(Value place);
  /// Finds the tile's row of the lists, and says in the kernel what it is.
  void beginList();
  /// Says in the kernel which keys a query needs.
  void defineKeys();
  /// Where the tile begins.
  RowPlace getPlace() { return {{batch, head, i0}, getRowDim(), limit}; }
  /// Where the first result of the kernel lies: parts have each their own.
  OrderedTensor getOutput() const {
    return part ? OrderedTensor() : memory.output;
  }
  int64_t getRowDim() const { return packs ? 1 : 2; }

  AttentionOp op;
  const AttentionMemory &memory;
  const std::optional<BlockLists> &lists;

  int64_t slots, rings;
  /// Whether the rows of a tile are heads.
  bool packs;
  /// Parts of the keys.
  int64_t split;
  /// By how many powers of two weights are larger than they are said to be, so
  /// that small ones keep their digits.
  double lift;

  std::optional<VisibleKeys> visible;
  Value sizeI, sizeJ;
  /// The part of the keys; null where it is all of them.
  Value part;
  /// The tile's row of the lists, and how many blocks a row may have.
  SmallVector<Value> listRow;
  Value numBlocks;
  /// The first head and query of the tile, and how many rows there are from it
  /// on.
  Value batch, head, keyHead, i0, limit;
  RowOperand queries;
};
} // namespace

FlashAttention2::FlashAttention2(KernelBuilder &kb, AttentionOp op,
                                 AttentionUnit &unit,
                                 const AttentionMemory &memory,
                                 const std::optional<BlockLists> &lists)
    : FlashTile(kb, op, unit, op.getScheduleAttr().getTile()), op(op),
      memory(memory), lists(lists) {
  const auto &fields =
      op.getScheduleAttr().getFields<schedule::AttentionRing>();
  slots = fields.slots;
  rings = fields.rings;
  packs = fields.pack;
  split = fields.split;
  // The greatest number of f16 is just below 2^16.
  constexpr double kMostOfF16 = 15;
  lift = element.isF16() ? kMostOfF16 - kMostRise : 0;
}

/// The number of an argument of the kernel.
static int64_t getNumber(Value argument) {
  return cast<BlockArgument>(argument).getArgNumber();
}

/// A tile's greatest or added columns, a part's width of them.
Value FlashAttention2::fold(Value tile,
                            function_ref<Value(Value, Value)> combine,
                            Value first) {
  for (int64_t j = 0; j < blockN; j += unit.getPartWidth()) {
    Value part = SliceOp::create(b, partTile, tile, ArrayRef<int64_t>{0, j});
    first = first ? combine(first, part) : part;
  }
  return first;
}

/// The rows with maxima that hold `most`, the greatest scores in parts: what
/// there is so far decays by as much as they have risen.
FlashAttention2::Rows FlashAttention2::raise(Value most, const Rows &rows) {
  Rows raised;
  Value rowMax = ReduceOp::create(b, rowTile, ReduceKind::Max, most, 1);
  raised.maxima = arith::MaximumFOp::create(b, rows.maxima, rowMax);
  Value decay = power(rows.maxima, getOrigin(raised.maxima, scale));
  raised.sums = arith::MulFOp::create(b, rows.sums, spread(decay, partTile));
  for (Value outputs : rows.outputs)
    raised.outputs.push_back(arith::MulFOp::create(
        b, outputs, spread(decay, cast<RankedTensorType>(outputs.getType()))));
  return raised;
}

FlashAttention2::Rows FlashAttention2::visitBlock(Value j0, Rows rows) {
  SmallVector<Value> at{batch, keyHead, j0, ix.constant(0)};
  auto stage = [&](AttentionUnit::Block block, const OrderedTensor &operand,
                   int64_t width) {
    return stageBlock(block, operand, blockN, width, at, /*rowDim=*/2, slots);
  };
  auto stageValues = [&] {
    return stage(AttentionUnit::Block::Values, memory.value, paddedE);
  };
  Value keys = stage(AttentionUnit::Block::Keys, memory.key, paddedD);
  // What is staged beside them shares their ring.
  Value values = rings == 1 ? stageValues() : Value();
  Value scores = score(queries, keys);
  scores =
      visible->maskEdges(scores, i0, packs ? 1 : blockM, j0, b.getI32Type());
  // Weights may be a little more than one: maxima rise, and what there is
  // decays, only where some score of the warp is far above its row's.
  Value most = fold(
      scores,
      [&](Value x, Value y) -> Value {
        return arith::MaximumFOp::create(b, x, y);
      },
      Value());
  Value bound = arith::AddFOp::create(
      b, rows.maxima,
      fill(rowTile, std::min(kMostRise / scale, kLargestMaximum)));
  Value rises = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, most,
                                      spread(bound, partTile));
  Value isRare = AnyOp::create(b, rises);
  SmallVector<Value> before = rows.list();
  auto raised =
      scf::IfOp::create(b, ValueRange(before).getTypes(), isRare, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(raised.thenBlock());
    scf::YieldOp::create(b, raise(most, rows).list());
    b.setInsertionPointToStart(raised.elseBlock());
    scf::YieldOp::create(b, before);
  }
  rows = Rows::of(raised.getResults());

  Value origin = getOrigin(rows.maxima, scale);
  if (lift)
    origin = arith::AddFOp::create(b, origin, fill(rowTile, lift));
  Value weights = power(scores, spread(origin, scoreTile));
  // The sum of a row stays in parts, of which lanes have some each.
  rows.sums = fold(
      weights,
      [&](Value x, Value y) -> Value { return arith::AddFOp::create(b, x, y); },
      rows.sums);
  AttentionUnit::Left left = unit.takeWeights(kb, weights);
  if (!values)
    values = stageValues();
  multiplyOutputs(left, values, blockN, rows.outputs);
  return rows;
}

void FlashAttention2::storeLogSumExp(Rows rows, Value sums) {
  // Of weights in powers of two, in powers of e.
  Value logarithm = math::Log2Op::create(b, sums);
  if (lift)
    logarithm = arith::SubFOp::create(b, logarithm, fill(rowTile, lift));
  Value lse = arith::MulFOp::create(
      b,
      arith::AddFOp::create(
          b, arith::MulFOp::create(b, rows.maxima, fill(rowTile, scale)),
          logarithm),
      fill(rowTile, llvm::numbers::ln2));
  Value to = kb.getDest(1);
  SmallVector<Value> place = getPlace().at;
  SmallVector<AffineExpr> exprs(place.size(), kb.zero());
  exprs[getRowDim()] = kb.dim(0);
  if (part) {
    place.insert(place.begin(), part);
    exprs.insert(exprs.begin(), kb.zero());
  }
  StoreOp::create(b, convertTile(b, lse, getElementTypeOrSelf(to.getType())),
                  to, place, ValueRange{limit, ix.constant(1)},
                  kb.map(2, exprs));
}

void FlashAttention2::store(Rows rows) {
  Value sums = ReduceOp::create(b, rowTile, ReduceKind::Add, rows.sums, 1);
  // A row that saw no key divides by one instead of by zero.
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sums,
                                        fill(rowTile, 0));
  sums = arith::SelectOp::create(b, isEmpty, fill(rowTile, 1), sums);
  Value inverse = arith::DivFOp::create(b, fill(rowTile, 1), sums);
  for (Value &outputs : rows.outputs)
    outputs = arith::MulFOp::create(
        b, outputs, spread(inverse, cast<RankedTensorType>(outputs.getType())));
  storeOutputs(rows.outputs, 0, getOutput(), getPlace(), headE, part);
  if (op.getLse() || split > 1)
    storeLogSumExp(rows, sums);
}

void FlashAttention2::beginTiles() {
  Value batches = kb.getDim(memory.query.tensor, memory.query.order[0]);
  Value heads = kb.getDim(memory.query.tensor, memory.query.order[1]);
  Value keyHeads = kb.getDim(memory.key.tensor, memory.key.order[1]);
  // heads / keyHeads
  Value shared = b.createOrFold<arith::DivUIOp>(heads, keyHeads);
  Value blocks = ix.ceilDiv(packs ? shared : sizeI, blockM);
  SmallVector<Value> bounds;
  if (split > 1)
    bounds.push_back(ix.constant(split));
  llvm::append_range(
      bounds, packs ? SmallVector<Value>{batches, keyHeads, sizeI, blocks}
                    : SmallVector<Value>{batches, heads, blocks});
  SmallVector<Value> grid(kb.beginTiles(bounds));
  if (split > 1) {
    part = grid.front();
    grid.erase(grid.begin());
  }
  batch = grid[0];
  if (packs) {
    keyHead = grid[1];
    i0 = grid[2];
    Value first = ix.mul(grid[3], blockM);
    head = ix.add(ix.mul(keyHead, shared), first);
    limit = ix.sub(shared, first);
    return;
  }
  head = grid[1];
  keyHead = b.createOrFold<arith::DivUIOp>(head, shared);
  // Under a causal mask the last queries see the most keys: they come first.
  Value block = op.getCausal() ? ix.sub(ix.sub(blocks, 1), grid[2]) : grid[2];
  i0 = ix.mul(block, blockM);
  limit = ix.sub(sizeI, i0);
}

void FlashAttention2::beginList() {
  Value counts = kb.getMemRef(lists->ranks);
  ArrayRef<int64_t> block = *op.getBlockSize();
  // An extent of one serves all batches, or all heads.
  auto clamp = [&](Value place, int64_t dim) {
    return ix.min(place, ix.sub(kb.getExtent(counts, dim), 1));
  };
  listRow = {clamp(batch, 0), clamp(head, 1)};
  listRow.push_back(ix.floorDiv(i0, block[0]));
  numBlocks = ix.sub(kb.getExtent(counts, 3), 1);
  ListedTerms terms;
  terms.result = getNumber(kb.getDest(0));
  terms.resultDims.assign(memory.output.order.begin(),
                          memory.output.order.begin() + 3);
  terms.operands = {1, 2};
  terms.dims = {memory.key.order[2], memory.value.order[2]};
  terms.counts = getNumber(counts);
  terms.blocks = getNumber(kb.getMemRef(lists->blocks));
  terms.rows = block[0];
  terms.columns = block[1];
  terms.set(kb.getKernel());
}

void FlashAttention2::defineKeys() {
  std::array<int64_t, 4> order = getOutput().order;
  int64_t leading = part ? 1 : 0;
  visible->define(getNumber(kb.getDest(0)), leading + order[2],
                  leading + order[0], /*operands=*/{1, 2},
                  {memory.key.order[2], memory.value.order[2]});
}

std::pair<Value, Value> FlashAttention2::getWalk() {
  if (lists) {
    SmallVector<Value> at(listRow);
    at.push_back(numBlocks);
    Value count = ReadOp::create(b, kb.getMemRef(lists->ranks), at);
    return {ix.constant(0),
            ix.mul(ix.min(count, numBlocks), (*op.getBlockSize())[1])};
  }
  auto [begin, end] = visible->getRange(i0, packs ? 1 : blockM, blockN);
  // Parts take blocks in turn.
  return {part ? ix.add(begin, ix.mul(part, blockN)) : begin, end};
}

Value FlashAttention2::getKey(Value place) {
  if (!lists)
    return place;
  int64_t width = (*op.getBlockSize())[1];
  SmallVector<Value> at(listRow);
  // Behind the last block there is a number, too: that of no block.
  at.push_back(ix.min(ix.floorDiv(place, width), numBlocks));
  Value block = ReadOp::create(b, kb.getMemRef(lists->blocks), at);
  Value first = ix.mul(block, width);
  return width == blockN ? first : ix.add(first, ix.rem(place, width));
}

void FlashAttention2::build() {
  begin(op.getScheduleAttr().getFields<schedule::AttentionRing>().residents);
  sizeI = kb.getDim(memory.query.tensor, memory.query.order[2]);
  sizeJ = kb.getDim(memory.key.tensor, memory.key.order[2]);
  beginTiles();
  Value endJ = sizeJ;
  if (op.getLengths())
    endJ = ix.min(
        ReadOp::create(b, kb.getMemRef(op.getLengths()), ValueRange{batch}),
        sizeJ);
  visible.emplace(kb, op, sizeI, sizeJ,
                  packs ? VisibleKeys::Rows::Heads : VisibleKeys::Rows::Queries,
                  endJ);
  if (lists)
    beginList();
  else
    defineKeys();
  queries = readRows(memory.query, getPlace(), headD);

  Rows first;
  first.outputs = makeOutputs(paddedE);
  first.maxima = fill(rowTile, -std::numeric_limits<double>::infinity());
  first.sums = fill(partTile, 0);
  auto [begin, end] = getWalk();
  auto loop = scf::ForOp::create(b, begin, end, ix.constant(split * blockN),
                                 first.list());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value j0 = getKey(loop.getInductionVar());
    Rows before = Rows::of(loop.getRegionIterArgs());
    scf::YieldOp::create(b, visitBlock(j0, before).list());
  }
  store(Rows::of(loop.getResults()));
}

/// What any unit needs of the schedule.
static LogicalResult verify(AttentionOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  const auto &fields = schedule.getFields<schedule::AttentionRing>();
  auto fail = [&](const Twine &what) {
    return op.emitOpError() << "expects " << what << " for the variant '"
                            << schedule.getVariant() << "', found ";
  };
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  auto keyType = cast<RankedTensorType>(op.getKey().getType());
  if (failed(verifyFlash(op, schedule, /*takesF32=*/true)))
    return failure();
  ArrayRef<int64_t> tile = schedule.getTile();
  if (std::optional<ArrayRef<int64_t>> block = op.getBlockSize();
      block && ((*block)[0] % tile[0] || (*block)[1] % tile[1]))
    return fail("a tile that divides the mask's block of " +
                Twine((*block)[0]) + "x" + Twine((*block)[1]))
           << schedule;
  if (fields.pack && op.getBlockMask())
    return fail("rows that are queries where a mask is shown to blocks")
           << schedule;
  if (fields.split > 1 && op.getBlockMask())
    return fail("keys that are not split where a mask is shown to blocks")
           << schedule;
  if (fields.pack && (queryType.isDynamicDim(1) || keyType.isDynamicDim(1)))
    return fail("heads that are known where they are the rows of a tile")
           << queryType << " and " << keyType;
  return success();
}

LogicalResult mlir::tracea::lowerFlashAttention2(
    KernelRewriter &rewriter, AttentionOp op,
    function_ref<std::unique_ptr<AttentionUnit>()> makeUnit) {
  if (failed(verify(op)))
    return failure();
  AttentionMemory memory = AttentionMemory::getOrdered(rewriter, op);
  emitAttentionChecks(rewriter, op, memory);
  const auto &fields =
      op.getScheduleAttr().getFields<schedule::AttentionRing>();
  std::optional<AttentionParts> parts;
  std::optional<BlockLists> lists;
  SmallVector<Value> inputs{memory.query.tensor, memory.key.tensor,
                            memory.value.tensor};
  SmallVector<Value> inits{memory.output.tensor};
  if (op.getLse())
    inits.push_back(op.getLseInit());
  if (op.getBlockMask()) {
    lists = BlockLists::create(rewriter, op, memory);
    inputs.append({lists->ranks, lists->blocks});
  }
  if (op.getLengths())
    inputs.push_back(op.getLengths());
  if (fields.split > 1) {
    parts = AttentionParts::create(rewriter, op, fields.split);
    inits = {parts->outputs, parts->lse};
  }
  // Lists and sums of rows are read and written an element at a time.
  constexpr unsigned kOperands = 3;
  unsigned result = inputs.size();
  ValueRange results = launchForMemory(
      rewriter, op, inputs, inits, kOperands,
      [&](KernelBuilder &kb, bool) {
        FlashAttention2(kb, op, *makeUnit(), memory, lists).build();
      },
      [&](unsigned number) { return number < kOperands || number == result; });
  if (parts)
    results = mergeParts(rewriter, op, {results[0], results[1]}, memory.output,
                         fields.pack ? 1 : 2);
  replaceOrdered(rewriter, op, memory.output, results);
  return success();
}
