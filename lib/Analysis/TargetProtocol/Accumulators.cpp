//===- Accumulators.cpp - Values that matrix units write asynchronously ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/TargetProtocol/Accumulators.h"
#include "tracea/Analysis/TargetProtocol/TargetEvents.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tracea;

/// Fields that are told apart; a struct of more is one.
static constexpr int64_t kMaxFields = 1024;

static int64_t fieldsOf(Type type) {
  auto fields = dyn_cast<LLVM::LLVMStructType>(type);
  if (!fields)
    return 1;
  return fields.isOpaque()
             ? 0
             : std::min<int64_t>(fields.getBody().size(), kMaxFields);
}

bool Accumulators::isMultiply(Operation *op) const {
  return target.read(op).kind == TargetEvent::Multiply;
}

bool Accumulators::isTransparent(Operation *op) const {
  if (isa<LLVM::ExtractValueOp, LLVM::InsertValueOp, LLVM::UndefOp,
          LLVM::PoisonOp, scf::YieldOp, scf::ForOp, scf::IfOp, scf::WhileOp,
          scf::ConditionOp>(op))
    return true;
  TargetEvent::Kind kind = target.read(op).kind;
  if (kind == TargetEvent::Multiply)
    return true;
  // Assembly that does nothing itself: fences, waits, ties.
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  return assembly &&
         (assembly.getAsmString().trim().empty() ||
          kind == TargetEvent::FenceRegisters ||
          kind == TargetEvent::CloseGroup || kind == TargetEvent::WaitGroup);
}

unsigned Accumulators::idOf(Value value, int64_t field) {
  auto [it, inserted] = ids.try_emplace({value, field}, parents.size());
  if (inserted)
    parents.push_back(it->second);
  return it->second;
}

unsigned Accumulators::leader(unsigned id) const {
  while (parents[id] != id)
    id = parents[id] = parents[parents[id]];
  return id;
}

void Accumulators::join(Value a, int64_t fieldOfA, Value b, int64_t fieldOfB) {
  // Constants are put into registers anew.
  for (Value value : {a, b})
    if (Operation *def = value.getDefiningOp())
      if (def->hasTrait<OpTrait::ConstantLike>() ||
          isa<LLVM::UndefOp, LLVM::PoisonOp>(def))
        return;
  parents[leader(idOf(a, fieldOfA))] = leader(idOf(b, fieldOfB));
}

void Accumulators::joinValues(Value a, Value b) {
  if (a.getType() != b.getType() ||
      !isa<FloatType, IntegerType, LLVM::LLVMStructType>(a.getType()))
    return;
  for (int64_t field = 0; field < fieldsOf(a.getType()); ++field)
    join(a, field, b, field);
}

void Accumulators::visit(Operation *op) {
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
    if (extract.getPosition().size() == 1)
      join(extract.getContainer(), extract.getPosition()[0], extract.getRes(),
           0);
  } else if (auto insert = dyn_cast<LLVM::InsertValueOp>(op)) {
    if (insert.getPosition().size() != 1)
      return;
    for (int64_t field = 0; field < fieldsOf(insert.getType()); ++field)
      if (field != insert.getPosition()[0])
        join(insert.getRes(), field, insert.getContainer(), field);
    join(insert.getRes(), insert.getPosition()[0], insert.getValue(), 0);
  } else if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op)) {
    if (!isTransparent(op) || op->getNumResults() != 1)
      return;
    // Outputs come first; an input of a number is tied to that output.
    SmallVector<StringRef> constraints;
    assembly.getConstraints().split(constraints, ',');
    int64_t input = 0;
    for (StringRef constraint : constraints) {
      if (constraint.starts_with("=") || constraint.starts_with("~"))
        continue;
      int64_t output = 0;
      if (!constraint.getAsInteger(10, output) && output >= 0 &&
          output < fieldsOf(op->getResult(0).getType()) &&
          input < static_cast<int64_t>(op->getNumOperands()))
        join(op->getResult(0), output, op->getOperand(input), 0);
      ++input;
    }
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yield, result] :
         llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults())) {
      joinValues(argument, init);
      joinValues(argument, yield);
      joinValues(result, argument);
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yield] :
         llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                         loop.getYieldOp().getOperands())) {
      joinValues(argument, init);
      joinValues(argument, yield);
    }
    for (auto [forwarded, argument, result] :
         llvm::zip_equal(loop.getConditionOp().getArgs(),
                         loop.getAfterArguments(), loop.getResults())) {
      joinValues(argument, forwarded);
      joinValues(result, argument);
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      if (!region->empty())
        for (auto [yield, result] :
             llvm::zip_equal(region->front().getTerminator()->getOperands(),
                             branch.getResults()))
          joinValues(result, yield);
  }
  // The registers of a sum are one set, those that it begins with as well.
  if (op->getNumResults() != 1 || !isMultiply(op))
    return;
  Value sum = op->getResult(0);
  if (Value begin = target.getAccumulator(op))
    joinValues(begin, sum);
  for (int64_t field = 1; field < fieldsOf(sum.getType()); ++field)
    join(sum, 0, sum, field);
}

void Accumulators::build(Operation *kernel) {
  kernel->walk([&](Operation *op) { visit(op); });
  auto add = [&](Value value, DenseMap<unsigned, int> &table, unsigned &next) {
    if (table.try_emplace(leader(idOf(value, 0)), next).second)
      ++next;
  };
  kernel->walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isMultiply(op))
      return;
    add(op->getResult(0), numbers, count);
    add(op->getResult(0), registers, registerCount);
    for (Value fragment : target.getFragments(op))
      add(fragment, registers, registerCount);
  });
}

int Accumulators::find(Value value,
                       const DenseMap<unsigned, int> &table) const {
  int64_t fields = std::max<int64_t>(1, fieldsOf(value.getType()));
  for (int64_t field = 0; field < fields; ++field) {
    auto it = ids.find({value, field});
    if (it == ids.end())
      continue;
    auto number = table.find(leader(it->second));
    if (number != table.end())
      return number->second;
  }
  return -1;
}

int Accumulators::get(Value value) const { return find(value, numbers); }

int Accumulators::getRegisters(Value value) const {
  return find(value, registers);
}
