//===- FlashTile.cpp - What attention and its gradients share -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FlashTile.h"
#include "../Contraction/Contraction.h"
#include "../LaneTile.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Columns of outputs that are multiplied at a time: fragments of the other
/// operand take registers for no more.
static constexpr int64_t kMostColumns = 128;

FlashTile::FlashTile(KernelBuilder &kb, AttentionOpInterface attention,
                     AttentionUnit &unit, ArrayRef<int64_t> tile)
    : unit(unit), kb(kb), b(kb.builder()), ix(kb.index()) {
  element = getElementTypeOrSelf(attention.getQuery().getType());
  sumType = attention.getAccumulatorType();
  blockM = tile[0];
  blockN = tile[1];
  auto extentOf = [](Value operand) {
    return cast<RankedTensorType>(operand.getType()).getDimSize(3);
  };
  headD = extentOf(attention.getQuery());
  headE = extentOf(attention.getValue());
  paddedD = unit.roundUp(headD);
  paddedE = unit.roundUp(headE);
  scoreTile = unit.getAccumulator(blockN, sumType);
  partTile = unit.getAccumulator(unit.getPartWidth(), sumType);
  rowTile = RankedTensorType::get({blockM, 1}, sumType,
                                  getLanes(partTile).getReduced(1));
  factor = attention.getStaticScale().value_or(1.0) * llvm::numbers::log2e;
  scale = factor > 0 ? factor : 1;
}

void FlashTile::begin(int64_t residents) {
  KernelOp kernel = kb.getKernel();
  kernel.setWarps(unit.getNumWarps());
  kernel->setAttr(kLaneCopiesAttrName, b.getUnitAttr());
  auto target = kernel->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
  if (!hasAsyncCopies(target))
    kernel->setAttr(kHeldCopiesAttrName, b.getUnitAttr());
  if (residents > 1)
    kernel->setAttr(kResidentsAttrName, b.getI64IntegerAttr(residents));
}

SmallVector<Value> FlashTile::makeOutputs(int64_t columns) {
  SmallVector<Value> outputs;
  for (int64_t column = 0; column < columns; column += kMostColumns)
    outputs.push_back(fill(
        unit.getAccumulator(std::min(columns - column, kMostColumns), sumType),
        0));
  return outputs;
}

FlashTile::RowOperand FlashTile::readRows(const OrderedTensor &tensor,
                                          const RowPlace &place,
                                          int64_t extent) {
  int64_t padded = unit.roundUp(extent);
  SmallVector<Value> at(place.at);
  at.push_back(ix.constant(0));
  RowOperand operand;
  operand.depth = unit.getDepth(padded);
  if (!unit.keepsQueries()) {
    operand.pieces.push_back(stageBlock(AttentionUnit::Block::Queries, tensor,
                                        blockM, padded, at, place.rowDim,
                                        /*operandSlots=*/1));
    return operand;
  }
  for (int64_t column = 0; column < padded; column += operand.depth) {
    at.back() = ix.constant(column);
    operand.pieces.push_back(
        LoadOp::create(b, unit.getLeft(operand.depth),
                       kb.getMemRef(tensor.tensor), tensor.arrange<Value>(at),
                       ValueRange{place.limit, ix.constant(extent - column)},
                       Value(), getMap(tensor, place.rowDim)));
  }
  return operand;
}

AttentionUnit::Left FlashTile::getLeft(const RowOperand &operand) {
  return [this, operand](int64_t at) -> Value {
    return unit.keepsQueries() ? operand.pieces[at / operand.depth]
                               : loadFragment(kb, unit.getLeft(operand.depth),
                                              operand.pieces.front(),
                                              /*isExchanged=*/false, 0, at);
  };
}

Value FlashTile::stageBlock(AttentionUnit::Block block,
                            const OrderedTensor &operand, int64_t rows,
                            int64_t width, ArrayRef<Value> at, int64_t rowDim,
                            int64_t operandSlots) {
  return StageOp::create(
      b, unit.getBlock(block, rows, width), kb.getMemRef(operand.tensor),
      operand.arrange<Value>(at), ValueRange(), getMap(operand, rowDim),
      ArrayRef<int64_t>{operand.order[rowDim], 3}, operandSlots);
}

Value FlashTile::multiply(function_ref<Value(int64_t)> left, Value staged,
                          bool isAlongK, int64_t depth, int64_t column,
                          Value others) {
  int64_t columns = cast<RankedTensorType>(others.getType()).getDimSize(1);
  int64_t step = unit.getDepth(depth);
  RankedTensorType tile = unit.getRight(step, columns, isAlongK);
  auto read = [&](int64_t at) {
    return loadFragment(kb, tile, staged, isAlongK, at, column);
  };
  Value next = read(0);
  for (int64_t at = 0; at < depth; at += step) {
    Value now = next;
    bool isLast = at + step >= depth;
    if (!isLast && unit.readsAhead())
      next = read(at + step);
    others = unit.multiply(kb, left(at), now, others);
    if (!isLast && !unit.readsAhead())
      next = read(at + step);
  }
  return others;
}

void FlashTile::multiplyOutputs(AttentionUnit::Left left, Value staged,
                                int64_t depth,
                                SmallVectorImpl<Value> &outputs) {
  for (auto [number, sums] : llvm::enumerate(outputs))
    sums = multiply(left, staged, /*isAlongK=*/false, depth,
                    static_cast<int64_t>(number) * kMostColumns, sums);
}

Value FlashTile::score(const RowOperand &rows, Value block) {
  Value scores = multiply(getLeft(rows), block, /*isAlongK=*/true, paddedD,
                          /*column=*/0, fill(scoreTile, 0));
  if (factor > 0)
    return scores;
  return arith::MulFOp::create(b, scores, fill(scoreTile, factor));
}

Value FlashTile::power(Value x, Value origin) {
  auto type = cast<RankedTensorType>(x.getType());
  auto power = math::Exp2Op::create(
      b, math::FmaOp::create(b, x, fill(type, scale), origin));
  // Beside the greatest weight they are nothing.
  power->setAttr(kFlushesAttrName, b.getUnitAttr());
  return power;
}

Value FlashTile::getOrigin(Value exponents, double by) {
  auto type = cast<RankedTensorType>(exponents.getType());
  Value scaled = arith::MulFOp::create(b, exponents, fill(type, -by));
  return arith::MinimumFOp::create(
      b, scaled, fill(type, std::numeric_limits<float>::max()));
}

AffineMap FlashTile::getMap(const OrderedTensor &tensor, int64_t rowDim) {
  SmallVector<AffineExpr> exprs(tensor.order.size(), kb.zero());
  exprs[tensor.order[rowDim]] = kb.dim(0);
  exprs[tensor.order.back()] = kb.dim(1);
  return kb.map(2, exprs);
}

void FlashTile::storeOutputs(ArrayRef<Value> outputs, unsigned result,
                             const OrderedTensor &memory, const RowPlace &place,
                             int64_t extent, Value part) {
  Value to = kb.getDest(result);
  Type type = getElementTypeOrSelf(to.getType());
  for (auto [number, sums] : llvm::enumerate(outputs)) {
    int64_t column = static_cast<int64_t>(number) * kMostColumns;
    Value rounded = unit.toRows(kb, convertTile(b, sums, type));
    SmallVector<Value> all(place.at);
    all.push_back(ix.constant(column));
    SmallVector<Value> at = memory.arrange<Value>(all);
    AffineMap map = getMap(memory, place.rowDim);
    if (part) {
      at.insert(at.begin(), part);
      map = map.insertResult(kb.zero(), 0);
    }
    StoreOp::create(b, rounded, to, at,
                    ValueRange{place.limit, ix.constant(extent - column)}, map);
  }
}

LogicalResult mlir::tracea::verifyFlash(AttentionOpInterface op,
                                        ScheduleAttr schedule, bool takesF32) {
  auto fail = [&](const Twine &what) {
    return op->emitOpError() << "expects " << what << " for the variant '"
                             << schedule.getVariant() << "', found ";
  };
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  auto valueType = cast<RankedTensorType>(op.getValue().getType());
  if (queryType.isDynamicDim(3) || valueType.isDynamicDim(3))
    return fail("static head dimensions") << queryType << " and " << valueType;
  Type element = queryType.getElementType();
  for (Value operand : {op.getKey(), op.getValue()})
    if (getElementTypeOrSelf(operand.getType()) != element)
      return fail("queries, keys and values of one type")
             << element << " and " << operand.getType();
  if (!element.isF16() && !element.isBF16() && !(takesF32 && element.isF32()))
    return fail(takesF32 ? "operands of f16, bf16 or f32"
                         : "operands of f16 or bf16")
           << element;
  if (!op.getAccumulatorType().isF32())
    return fail("an accumulator of f32") << op.getAccumulatorType();
  return success();
}
