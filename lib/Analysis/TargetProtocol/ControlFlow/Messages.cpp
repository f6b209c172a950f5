//===- Messages.cpp - Loops that go on as long as another role says -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A role that hands out tiles stores each tile's number in shared memory, and
// after its loop a number that is none. Who reads them runs as often.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Analysis/TargetProtocol/Program.h"
#include "tracea/Analysis/TargetProtocol/SharedAccess.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea;

namespace {
struct Cell {
  SmallVector<LLVM::StoreOp> stores;
  SmallVector<LLVM::LoadOp> loads;
};
} // namespace

/// Loads and stores of single places in shared memory.
static std::map<int64_t, Cell> findCells(KernelContext &context) {
  std::map<int64_t, Cell> cells;
  ValueSymbols values(context.symbols, context.target, {0, context.threads - 1},
                      context.demanded);
  auto place = [&](Value address) -> std::optional<int64_t> {
    Linear linear = context.symbols.linearize(values.get(address));
    if (!isShared(linear) || linear.terms.size() != 1)
      return std::nullopt;
    return linear.constant;
  };
  context.kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!op->getNumRegions())
      values.visit(op);
    if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
      if (auto at = place(store.getAddr()))
        cells[*at].stores.push_back(store);
    } else if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      if (auto at = place(load.getAddr()))
        cells[*at].loads.push_back(load);
    }
  });
  return cells;
}

/// The load that a loop's condition compares with a constant, if that is all.
static LLVM::LoadOp getTestedLoad(scf::WhileOp loop, const APInt &sentinel,
                                  const TargetEvents &target) {
  auto compare =
      loop.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>();
  APInt bound;
  if (!compare || !matchPattern(compare.getRhs(), m_ConstantInt(&bound)) ||
      bound.getBitWidth() != sentinel.getBitWidth() ||
      arith::applyCmpPredicate(compare.getPredicate(), sentinel, bound))
    return {};
  Value tested = compare.getLhs();
  if (Operation *op = tested.getDefiningOp())
    if (TargetEvent event = target.read(op);
        event.kind == TargetEvent::Broadcast)
      tested = event.value;
  auto load = tested.getDefiningOp<LLVM::LoadOp>();
  return load && load->getBlock() == loop.getBeforeBody() ? load
                                                          : LLVM::LoadOp();
}

void mlir::tracea::findMessages(KernelContext &context) {
  std::map<int64_t, Cell> cells = findCells(context);
  for (auto &entry : cells) {
    Cell &cell = entry.second;
    if (cell.stores.size() != 2)
      continue;
    // One in a loop, of a number that the loop's condition has let pass, and
    // one after it.
    for (unsigned first : {0, 1}) {
      LLVM::StoreOp store = cell.stores[first], last = cell.stores[1 - first];
      auto source = dyn_cast<scf::WhileOp>(store->getParentOp());
      APInt sentinel;
      if (!source || store->getBlock() != source.getAfterBody() ||
          last->getBlock() != source->getBlock() ||
          last->isBeforeInBlock(source) ||
          !matchPattern(last.getValue(), m_ConstantInt(&sentinel)))
        continue;
      auto sent = dyn_cast<BlockArgument>(store.getValue());
      if (!sent || sent.getOwner() != source.getAfterBody())
        continue;
      auto counter = dyn_cast<BlockArgument>(
          source.getConditionOp().getArgs()[sent.getArgNumber()]);
      if (!counter || counter.getOwner() != source.getBeforeBody())
        continue;
      std::string key = "message at " + std::to_string(entry.first);
      context.kernel.walk([&](scf::WhileOp sink) {
        LLVM::LoadOp load = getTestedLoad(sink, sentinel, context.target);
        if (!load || !llvm::is_contained(cell.loads, load))
          return;
        context.messages.loops[sink] = key;
        context.messages.values[load.getResult()] = key;
        context.messages.fresh.insert(load);
        context.messages.loops[source] = key;
        context.messages.values[counter] = key;
      });
    }
  }
}
