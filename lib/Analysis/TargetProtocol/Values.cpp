//===- Values.cpp - What the integers of target IR are for one role -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "tracea/Analysis/TargetProtocol/TargetEvents.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::analysis::Operator;

std::optional<Operator> mlir::tracea::getOperator(Operation *op) {
  return llvm::StringSwitch<std::optional<Operator>>(
             op->getName().getStringRef())
      .Cases({"arith.addi", "llvm.add"}, Operator::Add)
      .Cases({"arith.subi", "llvm.sub"}, Operator::Sub)
      .Cases({"arith.muli", "llvm.mul"}, Operator::Mul)
      .Cases({"arith.divui", "llvm.udiv"}, Operator::Div)
      .Cases({"arith.remui", "llvm.urem"}, Operator::Rem)
      .Cases({"arith.andi", "llvm.and"}, Operator::And)
      .Cases({"arith.ori", "llvm.or"}, Operator::Or)
      .Cases({"arith.xori", "llvm.xor"}, Operator::Xor)
      .Cases({"arith.shli", "llvm.shl"}, Operator::ShiftLeft)
      .Cases({"arith.shrui", "llvm.lshr"}, Operator::ShiftRight)
      .Cases({"arith.select", "llvm.select"}, Operator::Select)
      .Default(std::nullopt);
}

/// The operator that one of signed numbers is where none of them is negative.
static std::optional<Operator> getNaturalOperator(Operation *op) {
  return llvm::StringSwitch<std::optional<Operator>>(
             op->getName().getStringRef())
      .Cases({"arith.divsi", "arith.floordivsi", "llvm.sdiv"}, Operator::Div)
      .Cases({"arith.remsi", "llvm.srem"}, Operator::Rem)
      .Cases({"arith.shrsi", "llvm.ashr"}, Operator::ShiftRight)
      .Default(std::nullopt);
}

unsigned mlir::tracea::getSymbolBits(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 64 ? integer.getWidth() : 0;
  if (isa<IndexType, LLVM::LLVMPointerType>(type))
    return 64;
  return 0;
}

static bool isWide(Type type) {
  return type.isInteger() && type.getIntOrFloatBitWidth() > 64;
}

bool mlir::tracea::hasSymbol(Type type) {
  return getSymbolBits(type) || isWide(type);
}

const Symbol *ValueSymbols::get(Value value) {
  auto it = symbols.find(value);
  if (it != symbols.end())
    return it->second;
  // An argument of the kernel, or one of a region that nobody has bound.
  auto argument = dyn_cast<BlockArgument>(value);
  unsigned bits = std::max(1u, getSymbolBits(value.getType()));
  if (argument && isa<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp()))
    return table.opaque("argument " + std::to_string(argument.getArgNumber()),
                        bits, /*isPrivate=*/false);
  return unknown(value, /*uniform=*/false);
}

const std::vector<uint64_t> *ValueSymbols::getPerThread(const Symbol *symbol) {
  auto it = perThread.find(symbol);
  if (it != perThread.end())
    return it->second.empty() ? nullptr : &it->second;
  std::vector<uint64_t> result;
  if (symbol->isConstant()) {
    result.assign(threads.size(), symbol->value);
  } else if (symbol->kind == Symbol::Thread) {
    for (unsigned thread = threads.first; thread <= threads.last; ++thread)
      result.push_back(thread);
  } else if (symbol->kind == Symbol::Apply) {
    uint64_t operands[3] = {}, value = 0;
    bool known = true;
    for (unsigned i = 0; i < symbol->numOperands; ++i)
      known = known && getPerThread(symbol->operands[i]);
    // All of them are kept now, and stay where they are.
    const std::vector<uint64_t> *each[3] = {};
    for (unsigned i = 0; known && i < symbol->numOperands; ++i)
      each[i] = getPerThread(symbol->operands[i]);
    if (known)
      result.reserve(threads.size());
    for (unsigned thread = 0; known && thread < threads.size(); ++thread) {
      for (unsigned i = 0; i < symbol->numOperands; ++i)
        operands[i] = (*each[i])[thread];
      known = ::tracea::analysis::applyOperator(symbol->op, symbol->bits,
                                                operands, value);
      result.push_back(value);
    }
    if (!known)
      result.clear();
  }
  std::vector<uint64_t> &kept = perThread[symbol] = std::move(result);
  return kept.empty() ? nullptr : &kept;
}

const Symbol *ValueSymbols::unknown(Value value, bool uniform) {
  bool onThread = !uniform && !singleLane;
  std::string key;
  llvm::raw_string_ostream(key)
      << (onThread ? "lanes' " : "value ") << value.getAsOpaquePointer();
  return table.opaque(key, std::max(1u, getSymbolBits(value.getType())),
                      /*isPrivate=*/true, /*varies=*/true, 0, ~uint64_t(0),
                      onThread);
}

void ValueSymbols::visit(Operation *op) {
  if (!demanded.contains(op))
    return;
  for (Value result : op->getResults())
    if (hasSymbol(result.getType()))
      symbols[result] = compute(op, result);
}

/// Comparisons; signed ones where both sides are not negative.
const Symbol *ValueSymbols::compare(Operation *op) {
  bool isSigned = false, swap = false;
  Operator kind = Operator::Equal;
  auto set = [&](StringRef predicate) {
    kind = predicate == "eq"                          ? Operator::Equal
           : predicate == "ne"                        ? Operator::NotEqual
           : predicate.ends_with("lt")                ? Operator::Less
           : predicate.ends_with("le")                ? Operator::LessEqual
           : (swap = true, predicate.ends_with("gt")) ? Operator::Less
                                                      : Operator::LessEqual;
    isSigned = predicate.starts_with("s");
  };
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    set(arith::stringifyCmpIPredicate(compare.getPredicate()));
  else if (auto compare = dyn_cast<LLVM::ICmpOp>(op))
    set(LLVM::stringifyICmpPredicate(compare.getPredicate()));
  const Symbol *a = get(op->getOperand(0)), *b = get(op->getOperand(1));
  if (swap)
    std::swap(a, b);
  unsigned bits = std::max(1u, getSymbolBits(op->getOperand(0).getType()));
  uint64_t half = uint64_t(1) << (bits - 1);
  if (isSigned && (a->high >= half || b->high >= half)) {
    // A constant that is negative is below what is not.
    if (b->isConstant() && b->value >= half && a->high < half)
      return table.constant(0, 1);
    if (a->isConstant() && a->value >= half && b->high < half)
      return table.constant(1, 1);
    const Symbol *flip = table.constant(half, bits);
    a = table.apply(Operator::Xor, bits, {a, flip});
    b = table.apply(Operator::Xor, bits, {b, flip});
  }
  return table.apply(kind, bits, {a, b});
}

const Symbol *ValueSymbols::address(Operation *op) {
  if (auto global = dyn_cast<LLVM::AddressOfOp>(op)) {
    auto type = cast<LLVM::LLVMPointerType>(global.getType());
    if (type.getAddressSpace() != 3)
      return unknown(global, /*uniform=*/true);
    // Each variable of shared memory has a window of its own.
    uint64_t number =
        globals.try_emplace(global.getGlobalName(), globals.size())
            .first->second;
    return table.apply(Operator::Add, 64,
                       {table.base(), table.constant(number << 32, 64)});
  }
  auto gep = cast<LLVM::GEPOp>(op);
  DataLayout layout = DataLayout::closest(op);
  Linear offset;
  Type type = gep.getElemType();
  bool first = true;
  for (auto index : gep.getIndices()) {
    if (!first) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(type);
      if (!array)
        return unknown(gep, /*uniform=*/false);
      type = array.getElementType();
    }
    first = false;
    int64_t size = layout.getTypeSize(type).getFixedValue();
    if (auto constant = dyn_cast<IntegerAttr>(index))
      offset.constant += size * constant.getInt();
    else
      offset.add(table.linearize(get(cast<Value>(index))), size);
  }
  return table.apply(Operator::Add, 64,
                     {get(gep.getBase()), table.sum(offset, 64)});
}

/// From one lane to all: the same if it was the same for all of a warp.
const Symbol *ValueSymbols::broadcast(Value value, Value result) {
  const Symbol *source = get(value);
  if (!source->onThread)
    return source;
  const std::vector<uint64_t> *each = getPerThread(source);
  bool uniform = each != nullptr;
  for (unsigned thread = threads.first; uniform && thread <= threads.last;
       ++thread) {
    unsigned first = std::max(thread & ~31u, threads.first);
    uniform = (*each)[thread - threads.first] == (*each)[first - threads.first];
  }
  return uniform ? source : unknown(result, false);
}

/// What an operation without effects makes of its operands, whatever that is.
const Symbol *ValueSymbols::computeOpaque(Operation *op, Value result) {
  // Attributes and types are unique: their addresses name them.
  std::string key;
  llvm::raw_string_ostream stream(key);
  stream << op->getName().getStringRef() << " "
         << cast<OpResult>(result).getResultNumber() << " "
         << op->getAttrDictionary().getAsOpaquePointer() << " "
         << result.getType().getAsOpaquePointer();
  bool isPrivate = false, varies = false, onThread = false;
  for (Value operand : op->getOperands()) {
    const Symbol *symbol = get(operand);
    if (!hasSymbol(operand.getType()))
      isPrivate = true;
    isPrivate |= symbol->isPrivate || symbol->onWalk;
    varies |= symbol->varies || symbol->onWalk;
    onThread |= symbol->onThread;
    stream << " " << static_cast<const void *>(symbol);
  }
  unsigned bits =
      isWide(result.getType()) ? 64 : getSymbolBits(result.getType());
  if (!onThread && !isPrivate)
    return table.opaque(key, bits, false, varies);
  return unknown(result, !onThread);
}

const Symbol *ValueSymbols::compute(Operation *op, Value result) {
  if (isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
      (isWide(result.getType()) || llvm::any_of(op->getOperandTypes(), isWide)))
    return computeOpaque(op, result);
  unsigned bits = getSymbolBits(result.getType());
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant)))
    return table.constant(constant.getZExtValue(), bits);
  if (std::optional<Operator> kind = getOperator(op)) {
    SmallVector<const Symbol *, 3> operands;
    for (Value operand : op->getOperands()) {
      if (!getSymbolBits(operand.getType()))
        return unknown(result, false);
      operands.push_back(get(operand));
    }
    return table.apply(*kind, bits, operands);
  }
  if (std::optional<Operator> kind = getNaturalOperator(op); kind && bits) {
    const Symbol *a = get(op->getOperand(0)), *b = get(op->getOperand(1));
    if (a->high >> (bits - 1) == 0 && b->high >> (bits - 1) == 0)
      return table.apply(*kind, bits, {a, b});
  }
  if (isa<arith::CmpIOp, LLVM::ICmpOp>(op) &&
      getSymbolBits(op->getOperand(0).getType()))
    return compare(op);
  if (isa<LLVM::AddressOfOp, LLVM::GEPOp>(op))
    return address(op);
  // Of one value, read with another type.
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp, LLVM::ZExtOp,
          LLVM::AddrSpaceCastOp, LLVM::PtrToIntOp, LLVM::IntToPtrOp>(op) &&
      getSymbolBits(op->getOperand(0).getType()))
    return get(op->getOperand(0));
  if (isa<arith::IndexCastOp, arith::ExtSIOp, LLVM::SExtOp>(op)) {
    const Symbol *source = get(op->getOperand(0));
    unsigned from = getSymbolBits(op->getOperand(0).getType());
    if (from && (source->high >> (from - 1) == 0 || from == bits))
      return source;
    if (from && source->isConstant())
      return table.constant(
          APInt(from, source->value).sext(std::max(from, bits)).getZExtValue(),
          bits);
  }
  if (isa<arith::TruncIOp, LLVM::TruncOp>(op)) {
    const Symbol *source = get(op->getOperand(0));
    if (source->onBase && bits >= 32)
      return source;
    uint64_t mask = (uint64_t(1) << std::min(bits, 63u)) - 1;
    return table.apply(Operator::And, 64, {source, table.constant(mask, 64)});
  }
  switch (TargetEvent event = target.read(op); event.kind) {
  case TargetEvent::ThreadId:
    return table.thread(threads.first, threads.last);
  case TargetEvent::LaneId:
    return table.apply(
        Operator::And, 32,
        {table.thread(threads.first, threads.last), table.constant(31)});
  case TargetEvent::BlockSize:
    return table.opaque("ntid", 32, false);
  case TargetEvent::Elected:
    return table.elected();
  case TargetEvent::Broadcast:
    return broadcast(event.value, result);
  case TargetEvent::Shuffle:
    return unknown(result, false);
  // The same place in another block's memory.
  case TargetEvent::PeerAddress:
    return get(event.value);
  default:
    break;
  }
  // Equal operands give equal results, whatever they are.
  if (isMemoryEffectFree(op) && op->getNumRegions() == 0)
    return computeOpaque(op, result);
  if (isa<LLVM::LoadOp>(op)) {
    const Symbol *place = get(op->getOperand(0));
    bool isKnown = !place->onThread && !place->isPrivate && !place->onWalk;
    if (isKnown && op->hasAttr(tracea_pipe::kUnchangedAttrName)) {
      std::string key = "unchanged ";
      llvm::raw_string_ostream(key)
          << result.getType() << " " << static_cast<const void *>(place);
      return table.opaque(key, bits, /*isPrivate=*/false, place->varies);
    }
    return unknown(result, !place->onThread);
  }
  return unknown(result, false);
}
