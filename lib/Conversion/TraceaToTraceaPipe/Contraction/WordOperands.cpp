//===- WordOperands.cpp - Operands of a CPU's dot products ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WordOperands.h"
#include "tracea/Analysis/DotProducts.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace hardware = ::tracea::target;

SmallVector<int64_t> WordOperands::getShape(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> result(shape);
  if (length > 1)
    result.push_back(length);
  return result;
}

Value WordOperands::getSteps(KernelBuilder &kb, Value elements) const {
  IndexMath &ix = kb.index();
  int64_t words = dot ? dot->tile.words : 1;
  return ix.mul(ix.ceilDiv(elements, length * words), words);
}

int64_t WordOperands::getWhole(int64_t elements) const {
  return llvm::alignTo(elements, length * (dot ? dot->tile.words : 1));
}

RankedTensorType WordOperands::getSumsType(KernelBuilder &kb,
                                           ArrayRef<int64_t> shape,
                                           Type accumulator) const {
  if (!hasTiles())
    return kb.getTileType(shape, accumulator);
  return RankedTensorType::get(
      shape, accumulator, getUnitLanes(accumulator.getContext(), *dot, shape));
}

void WordOperands::addAndStore(KernelBuilder &kb, Value first, Value last,
                               bool isApart, Value block,
                               function_ref<Value(RankedTensorType)> load,
                               function_ref<void(Value)> finish,
                               function_ref<void(Value)> keep) const {
  auto type = cast<RankedTensorType>(block.getType());
  RankedTensorType vectors =
      kb.getTileType(type.getShape(), type.getElementType());
  auto store = [&](function_ref<Value()> sum) {
    kb.branch(last, [&] { finish(sum()); }, [&] { keep(sum()); });
  };
  if (!hasUnit()) {
    if (hasTiles())
      block = RelayoutOp::create(kb.builder(), vectors, block);
    Value sum = kb.select(
        first, [&] { return block; },
        [&] { return kb.addTiles(load(vectors), block); });
    return store([&] { return sum; });
  }
  // More vectors than there are registers: each comes out of its tile where it
  // is stored, and passes no branch.
  auto toVectors = [&]() -> Value {
    return RelayoutOp::create(kb.builder(), vectors, block);
  };
  auto add = [&] {
    Value others = load(vectors);
    return kb.addTiles(others, toVectors());
  };
  if (isApart) {
    // One store of the result, however many blocks there are: of two, one might
    // never run.
    kb.branch(first, [&] { keep(toVectors()); }, [&] { keep(add()); });
    kb.branch(last, [&] { finish(load(vectors)); }, [] {});
    return;
  }
  kb.branch(first, [&] { store(toVectors); }, [&] { store(add); });
}

void WordOperands::markRoundings(KernelBuilder &kb) const {
  if (!dot || !dot->flushes())
    return;
  kb.getKernel().walk([](arith::TruncFOp op) {
    if (getElementTypeOrSelf(op.getIn().getType()).isF32() &&
        getElementTypeOrSelf(op.getType()).isBF16())
      op->setAttr(kFlushesAttrName, UnitAttr::get(op.getContext()));
  });
}

/// The table's name for the unit of a schedule.
static hardware::UnitKind getUnitKind(ScheduleAttr schedule) {
  StringRef name = stringifyMatrixUnit(schedule.getUnit());
  return hardware::parseUnitKind(std::string_view(name.data(), name.size()))
      .value_or(hardware::UnitKind::Vector);
}

FailureOr<WordOperands>
mlir::tracea::getWordOperands(ScheduledOpInterface op, StringRef variant,
                              Value lhs, Value rhs, Type accumulator,
                              int64_t block, ArrayRef<int64_t> registers) {
  WordOperands words;
  words.lhs = words.rhs = words.packed = accumulator;
  if (op.getScheduleAttr().getVariant() != variant)
    return words;
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
  Type operand = getElementTypeOrSelf(lhs.getType());
  ScheduleAttr schedule = op.getScheduleAttr();
  const hardware::DotProduct *dot =
      operand == getElementTypeOrSelf(rhs.getType())
          ? getDotProduct(target, getUnitKind(schedule), operand, accumulator)
          : nullptr;
  if (!dot)
    return op->emitOpError()
           << "expects dot products of " << operand << " into " << accumulator
           << " for the variant '" << variant << "', which the unit '"
           << stringifyMatrixUnit(schedule.getUnit()) << "' of the target '"
           << target.getName() << "' does not have";
  if (int64_t step = dot->folded * dot->tile.words; block % step)
    return op->emitOpError()
           << "expects blocks of k in multiples of " << step
           << " for the variant '" << variant << "', found " << block;
  if (registers[0] % dot->tile.rows != 0 || registers[1] % dot->columns() != 0)
    return op->emitOpError()
           << "expects a register tile of whole tiles of " << dot->tile.rows
           << " x " << dot->columns() << " on the unit '"
           << stringifyMatrixUnit(schedule.getUnit()) << "', found "
           << schedule;
  words.dot = dot;
  words.length = dot->folded;
  words.packed = operand;
  words.rhs = getWordElement(op->getContext(), *dot);
  words.lhs = dot->isFirstUnsigned
                  ? IntegerType::get(op->getContext(), 8, IntegerType::Unsigned)
                  : words.rhs;
  return words;
}
