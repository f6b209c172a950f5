//===- FlashGradients.cpp - Gradients of attention in registers -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward pass of FlashAttention-2 (Dao, 2023), as two kernels, each of
// which has results in its registers that no other workgroup adds to: sums have
// one order. Scores are made again in both, and weights from the log-sum-exp of
// their row:
//
//   P = 2^(c Q K^T - L);  dS = P * (dO V^T - D);  c = scale log2 e
//
// "attention_qgrad.warp" has rows of queries and walks along the keys:
//
//   dQ += dS K
//
// "attention_kvgrad.warp" has rows of keys and walks along the queries of one
// head. Its products are the transposed ones, P^T from K Q^T, so that what a
// warp's products are is the left operand of its next ones:
//
//   dV += P^T dO;  dK += dS^T Q
//
// Of several heads that share those of keys each leaves its own sums in single
// precision, which are added up in their order.
//
// P and dS are rounded to the type of the operands, and the scale is multiplied
// at the end.
//
//===----------------------------------------------------------------------===//

#include "../KernelMemory.h"
#include "../Variants.h"
#include "FlashTile.h"
#include "SharedHeads.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
/// Where operands and results lie.
struct GradientMemory : AttentionOperands {
  OrderedTensor gradient;
  SmallVector<OrderedTensor, 2> results;
};

/// What both kernels are made of.
class FlashGradient : protected FlashTile {
protected:
  template <typename OpTy>
  FlashGradient(KernelBuilder &kb, OpTy op, AttentionUnit &unit,
                const GradientMemory &memory)
      : FlashTile(kb, op, unit, op.getScheduleAttr().getTile()), memory(memory),
        attention(op), lse(op.getLse()), delta(op.getDelta()) {
    const auto &fields =
        op.getScheduleAttr().template getFields<schedule::WarpAttentionGrad>();
    slots = fields.slots;
    begin(fields.residents);
    sizeI = kb.getDim(memory.query.tensor, memory.query.order[2]);
    sizeJ = kb.getDim(memory.key.tensor, memory.key.order[2]);
    batches = kb.getDim(memory.query.tensor, memory.query.order[0]);
    heads = kb.getDim(memory.query.tensor, memory.query.order[1]);
    keyHeads = kb.getDim(memory.key.tensor, memory.key.order[1]);
    shared = b.createOrFold<arith::DivUIOp>(heads, keyHeads);
  }

  static int64_t getNumber(Value argument) {
    return cast<BlockArgument>(argument).getArgNumber();
  }
  /// Says in the kernel which rows of the tensors that it walks along a result
  /// needs. One tensor may be several of them, and is then one argument.
  void defineTerms(ArrayRef<OrderedTensor> walked) {
    SmallVector<int64_t> operands, dims;
    for (const OrderedTensor &tensor : walked) {
      operands.push_back(getNumber(kb.getMemRef(tensor.tensor)));
      dims.push_back(tensor.order[2]);
    }
    const std::array<int64_t, 4> &order = memory.results[0].order;
    visible->define(getNumber(kb.getDest(0)), order[2], order[0], operands,
                    dims);
  }
  /// A block of what the tile walks along, from row `at` of a head on.
  Value stage(const OrderedTensor &tensor, Value head, Value at,
              int64_t width) {
    return stageBlock(AttentionUnit::Block::Keys, tensor, blockN, width,
                      {batch, head, at, ix.constant(0)}, /*rowDim=*/2, slots);
  }
  /// One number a query, as rows of `tile` or, where queries are its columns,
  /// along these.
  Value loadNumbers(Value numbers, RankedTensorType tile, Value head, Value i,
                    unsigned queryDim) {
    SmallVector<Value> limits{ix.constant(tile.getDimSize(0)),
                              ix.constant(tile.getDimSize(1))};
    limits[queryDim] = ix.sub(sizeI, i);
    return LoadOp::create(b, tile, kb.getMemRef(numbers),
                          ValueRange{batch, head, i}, limits, Value(),
                          kb.map(2, {kb.zero(), kb.zero(), kb.dim(queryDim)}));
  }
  /// Of weights, and of what they are multiplied by for each value.
  Value getByScores(Value weights, Value byWeights, Value deltas) {
    Value above = arith::SubFOp::create(b, byWeights, deltas);
    return arith::MulFOp::create(b, weights, above);
  }
  void scaleOutputs(MutableArrayRef<Value> outputs) {
    double by = factor * llvm::numbers::ln2;
    for (Value &sums : outputs)
      sums = arith::MulFOp::create(
          b, sums, fill(cast<RankedTensorType>(sums.getType()), by));
  }

  const GradientMemory &memory;
  AttentionOpInterface attention;
  Value lse, delta;
  int64_t slots;
  std::optional<VisibleKeys> visible;
  Value sizeI, sizeJ, batches, heads, keyHeads;
  /// Query heads that share a key head.
  Value shared;
  Value batch;
};

class QGradient : FlashGradient {
public:
  QGradient(KernelBuilder &kb, AttentionQGradOp op, AttentionUnit &unit,
            const GradientMemory &memory)
      : FlashGradient(kb, op, unit, memory) {}

  void build();

private:
  void visitBlock(Value j0, SmallVectorImpl<Value> &outputs);

  Value head, keyHead, i0;
  RowOperand queries, gradients;
  /// Of each row what exponents are counted from, negated, and delta.
  Value origins, deltas;
};

class KVGradient : FlashGradient {
public:
  KVGradient(KernelBuilder &kb, AttentionKVGradOp op, AttentionUnit &unit,
             const GradientMemory &memory)
      : FlashGradient(kb, op, unit, memory) {}

  void build();

private:
  /// What goes from one block of queries to the next.
  struct Sums {
    SmallVector<Value> keys, values;

    SmallVector<Value> list() const {
      SmallVector<Value> all(keys);
      llvm::append_range(all, values);
      return all;
    }
  };
  Sums split(ValueRange all, const Sums &like) const {
    return {SmallVector<Value>(all.take_front(like.keys.size())),
            SmallVector<Value>(all.drop_front(like.keys.size()))};
  }
  Sums visitBlock(Value i0, Sums sums);

  Value head, j0;
  RowOperand keys, values;
};
} // namespace

void QGradient::visitBlock(Value j0, SmallVectorImpl<Value> &outputs) {
  Value block = stage(memory.key, keyHead, j0, paddedD);
  Value valueBlock = stage(memory.value, keyHead, j0, paddedE);
  Value scores =
      visible->maskEdges(score(queries, block), i0, blockM, j0, b.getI32Type());
  Value weights = power(scores, spread(origins, scoreTile));
  Value byWeights = multiply(getLeft(gradients), valueBlock, /*isAlongK=*/true,
                             paddedE, /*column=*/0, fill(scoreTile, 0));
  Value byScores = getByScores(weights, byWeights, spread(deltas, scoreTile));
  multiplyOutputs(unit.takeWeights(kb, byScores), block, blockN, outputs);
}

void QGradient::build() {
  Value blocks = ix.ceilDiv(sizeI, blockM);
  Block::BlockArgListType grid = kb.beginTiles({batches, heads, blocks});
  batch = grid[0];
  head = grid[1];
  keyHead = b.createOrFold<arith::DivUIOp>(head, shared);
  // Under a causal mask the last queries see the most keys: they come first.
  Value number =
      attention.getCausal() ? ix.sub(ix.sub(blocks, 1), grid[2]) : grid[2];
  i0 = ix.mul(number, blockM);
  visible.emplace(kb, attention, sizeI, sizeJ);
  defineTerms({memory.key, memory.value});
  RowPlace place{{batch, head, i0}, /*rowDim=*/2, ix.sub(sizeI, i0)};
  queries = readRows(memory.query, place, headD);
  gradients = readRows(memory.gradient, place, headE);
  origins =
      getOrigin(loadNumbers(lse, rowTile, head, i0, 0), llvm::numbers::log2e);
  deltas = loadNumbers(delta, rowTile, head, i0, 0);

  auto [begin, end] = visible->getRange(i0, blockM, blockN);
  auto loop = scf::ForOp::create(b, begin, end, ix.constant(blockN),
                                 makeOutputs(paddedD));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> outputs(loop.getRegionIterArgs());
    visitBlock(loop.getInductionVar(), outputs);
    scf::YieldOp::create(b, outputs);
  }
  SmallVector<Value> outputs(loop.getResults());
  scaleOutputs(outputs);
  storeOutputs(outputs, 0, memory.results[0], place, headD);
}

KVGradient::Sums KVGradient::visitBlock(Value i0, Sums sums) {
  Value block = stage(memory.query, head, i0, paddedD);
  Value gradientBlock = stage(memory.gradient, head, i0, paddedE);
  // They are on their way while scores are multiplied.
  Value logarithms = loadNumbers(lse, scoreTile, head, i0, 1);
  Value scores =
      visible->maskEdges(score(keys, block), j0, blockM, i0, b.getI32Type());
  Value weights = power(scores, getOrigin(logarithms, llvm::numbers::log2e));
  Value deltas = loadNumbers(delta, scoreTile, head, i0, 1);
  multiplyOutputs(unit.takeWeights(kb, weights), gradientBlock, blockN,
                  sums.values);
  Value byWeights =
      multiply(getLeft(values), gradientBlock, /*isAlongK=*/true, paddedE,
               /*column=*/0, fill(scoreTile, 0));
  Value byScores = getByScores(weights, byWeights, deltas);
  multiplyOutputs(unit.takeWeights(kb, byScores), block, blockN, sums.keys);
  return sums;
}

void KVGradient::build() {
  Block::BlockArgListType grid =
      kb.beginTiles({batches, heads, ix.ceilDiv(sizeJ, blockM)});
  batch = grid[0];
  head = grid[1];
  Value keyHead = b.createOrFold<arith::DivUIOp>(head, shared);
  j0 = ix.mul(grid[2], blockM);
  visible.emplace(kb, attention, sizeI, sizeJ, VisibleKeys::Rows::Keys);
  defineTerms({memory.query, memory.gradient});
  Value limit = ix.sub(sizeJ, j0);
  RowPlace place{{batch, keyHead, j0}, /*rowDim=*/2, limit};
  keys = readRows(memory.key, place, headD);
  values = readRows(memory.value, place, headE);

  Sums sums{makeOutputs(paddedD), makeOutputs(paddedE)};
  auto [begin, end] = visible->getRange(j0, blockM, blockN);
  auto loop =
      scf::ForOp::create(b, begin, end, ix.constant(blockN), sums.list());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Sums before = split(loop.getRegionIterArgs(), sums);
    scf::YieldOp::create(b, visitBlock(loop.getInductionVar(), before).list());
  }
  sums = split(loop.getResults(), sums);
  scaleOutputs(sums.keys);
  RowPlace to{{batch, head, j0}, /*rowDim=*/2, limit};
  storeOutputs(sums.keys, 0, memory.results[0], to, headD);
  storeOutputs(sums.values, 1, memory.results[1], to, headE);
}

/// What the schedule must say, and what kernels do not do.
template <typename OpTy>
static LogicalResult verify(OpTy op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  auto attention = cast<AttentionOpInterface>(op.getOperation());
  if (op.getLengths())
    return op.emitOpError() << "expects no lengths for the variant '"
                            << schedule.getVariant() << "'";
  if (op.getBlockMask())
    return op.emitOpError() << "expects no block mask for the variant '"
                            << schedule.getVariant() << "'";
  if (failed(verifyFlash(attention, schedule, /*takesF32=*/false)))
    return failure();
  if (op->getNumResults() > 1 &&
      getSharedHeads(attention) == ShapedType::kDynamic)
    return op.emitOpError()
           << "expects heads that are known for the variant '"
           << schedule.getVariant() << "', found " << op.getQuery().getType()
           << " and " << op.getKey().getType();
  return verifyWarpUnit(op, schedule);
}

/// Lowers `op` to the kernel that `Builder` makes.
template <typename Builder, typename OpTy>
static LogicalResult lower(KernelRewriter &rewriter, OpTy op) {
  if (failed(verify(op)))
    return failure();
  auto attention = cast<AttentionOpInterface>(op.getOperation());
  auto scheduled = cast<ScheduledOpInterface>(op.getOperation());
  GradientMemory memory{AttentionOperands::getOrdered(rewriter, attention),
                        getBefore(rewriter, op.getGradient()),
                        {}};
  bool isInParts = op->getNumResults() > 1 && getSharedHeads(attention) > 1;
  ValueRange destinations = op.getDpsInits();
  for (auto [number, init] : llvm::enumerate(destinations))
    memory.results.push_back(
        isInParts ? OrderedTensor{createHeadParts(rewriter, attention, init)}
                  : getBehind(rewriter, scheduled, number));
  emitOperandChecks(rewriter, attention, memory);
  emitRowChecks(rewriter, op, memory.query, memory.gradient,
                "query and gradient to agree in batch, heads and length");
  emitExtentCheck(rewriter, op, memory.value.tensor, memory.value.order[3],
                  memory.gradient.tensor, memory.gradient.order[3],
                  "depth of value and gradient to be equal");
  emitRowChecks(rewriter, op, memory.query, {op.getLse()},
                "query and log-sum-exp to agree in batch, heads and length");
  emitRowChecks(rewriter, op, memory.query, {op.getDelta()},
                "query and delta to agree in batch, heads and length");
  SmallVector<OrderedTensor> by{memory.query};
  if (op->getNumResults() > 1)
    by = {memory.key, memory.value};
  for (auto [init, operand] : llvm::zip(destinations, by))
    for (int64_t dim : {0, 1, 2, 3})
      emitExtentCheck(rewriter, op, operand.tensor, operand.order[dim], init,
                      dim, "a gradient to have the extents of its operand");

  const auto &fields =
      op.getScheduleAttr().template getFields<schedule::WarpAttentionGrad>();
  SmallVector<Value> inputs{memory.query.tensor, memory.key.tensor,
                            memory.value.tensor, memory.gradient.tensor,
                            op.getLse(),         op.getDelta()};
  SmallVector<Value> inits;
  for (const OrderedTensor &result : memory.results)
    inits.push_back(result.tensor);
  // Numbers of rows are read an element at a time.
  constexpr unsigned kOperands = 4;
  auto firstResult = static_cast<unsigned>(inputs.size());
  ValueRange results = launchForMemory(
      rewriter, op, inputs, inits, kOperands,
      [&](KernelBuilder &kb, bool) {
        std::unique_ptr<AttentionUnit> unit =
            makeWarpUnit(getElementTypeOrSelf(op.getQuery().getType()),
                         op.getScheduleAttr().getTile()[0], fields.registers[0],
                         fields.reread);
        Builder(kb, op, *unit, memory).build();
      },
      [&](unsigned number) {
        return number < kOperands || number >= firstResult;
      });
  if (!isInParts) {
    replaceOrdered(rewriter, scheduled, memory.results, results);
    return success();
  }
  SmallVector<Value> sums;
  for (auto [parts, init] : llvm::zip(results, destinations))
    sums.push_back(addHeadParts(rewriter, op.getLoc(), parts, init));
  replaceOrdered(rewriter, scheduled, {}, sums);
  return success();
}

LogicalResult mlir::tracea::lowerAttentionQGradWarp(KernelRewriter &rewriter,
                                                    AttentionQGradOp op) {
  return lower<QGradient>(rewriter, op);
}

LogicalResult mlir::tracea::lowerAttentionKVGradWarp(KernelRewriter &rewriter,
                                                     AttentionKVGradOp op) {
  return lower<KVGradient>(rewriter, op);
}
