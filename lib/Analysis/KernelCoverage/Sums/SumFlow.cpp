//===- SumFlow.cpp - Which loops add up products --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SumFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {

/// What a tile becomes by adding, scaling, rounding and carrying it along.
struct Flow {
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> stores;
};

} // namespace

static bool isProduct(Operation *op) { return isa<MmaOp, MmaAsyncOp>(op); }

static Value getAccumulator(Operation *product) {
  if (auto mma = dyn_cast<MmaOp>(product))
    return mma.getAcc();
  return cast<MmaAsyncOp>(product).getAcc();
}

static Flow follow(Value start) {
  Flow flow;
  flow.values.insert(start);
  for (size_t next = 0; next < flow.values.size(); ++next) {
    Value value = flow.values[next];
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      llvm::TypeSwitch<Operation *>(user)
          .Case([&](scf::YieldOp yield) {
            unsigned number = use.getOperandNumber();
            Operation *parent = yield->getParentOp();
            if (number < parent->getNumResults())
              flow.values.insert(parent->getResult(number));
            if (auto loop = dyn_cast<scf::ForOp>(parent))
              flow.values.insert(loop.getRegionIterArg(number));
          })
          .Case([&](scf::ForOp loop) {
            if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use)) {
              flow.values.insert(argument);
              flow.values.insert(loop.getTiedLoopResult(&use));
            }
          })
          .Case<MmaOp, MmaAsyncOp>([&](auto product) {
            if (product.getAcc() == value)
              flow.values.insert(product.getResult());
          })
          .Case([&](WaitGroupOp wait) {
            if (use.getOperandNumber() < wait->getNumResults())
              flow.values.insert(wait->getResult(use.getOperandNumber()));
          })
          .Case([&](StoreOp store) {
            if (store.getValue() == value)
              flow.stores.insert(store);
          })
          .Case([&](arith::DivFOp quotient) {
            if (quotient.getLhs() == value)
              flow.values.insert(quotient.getResult());
          })
          .Case<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::TruncFOp,
                arith::ExtFOp, SliceOp, RelayoutOp>(
              [&](Operation *op) { flow.values.insert(op->getResult(0)); });
    }
  }
  return flow;
}

/// The same of what a multiply leaves, which may rest in a scratch tile until
/// it is added to others: tiles of a unit reach vectors through memory.
static Flow followProduct(Value start) {
  Flow flow = follow(start);
  SmallVector<Operation *> stores(flow.stores.getArrayRef());
  for (Operation *op : stores) {
    Value rest = cast<StoreOp>(op).getDest();
    if (!rest.getDefiningOp<ScratchOp>())
      continue;
    Flow further;
    for (Operation *user : rest.getUsers())
      if (auto load = dyn_cast<LoadOp>(user)) {
        Flow loaded = follow(load.getResult());
        further.values.insert_range(loaded.values);
        further.stores.insert_range(loaded.stores);
      }
    // What is stored to the same tile again stays there.
    if (llvm::any_of(further.stores, [&](Operation *store) {
          return cast<StoreOp>(store).getDest() == rest;
        }))
      continue;
    flow.values.insert_range(further.values);
    flow.stores.insert_range(further.stores);
  }
  return flow;
}

/// Whether `value` is computed from the counter of `loop`.
static bool dependsOn(Value value, scf::ForOp loop) {
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t next = 0; next < open.size(); ++next) {
    Value current = open[next];
    if (current == loop.getInductionVar())
      return true;
    Operation *op = current.getDefiningOp();
    if (!op) {
      // What a loop carries may be anything that changes with it.
      auto outer =
          dyn_cast<scf::ForOp>(current.getParentBlock()->getParentOp());
      if (outer == loop)
        return true;
      if (outer && current == outer.getInductionVar())
        open.insert(outer.getLowerBound());
      continue;
    }
    open.insert_range(op->getOperands());
  }
  return false;
}

/// Whether each iteration of `loop` adds to the tile that the one before has
/// left in memory.
static bool addsInMemory(scf::ForOp loop, const Flow &flow) {
  for (Operation *op : flow.stores) {
    auto store = cast<StoreOp>(op);
    if (!loop->isProperAncestor(store))
      continue;
    if (dependsOn(store.getDest(), loop) ||
        llvm::any_of(llvm::concat<Value>(SmallVector<Value>(store.getIndices()),
                                         SmallVector<Value>(store.getWalks())),
                     [&](Value place) { return dependsOn(place, loop); }))
      continue;
    bool isReloaded = false;
    for (Operation *user : store.getDest().getUsers())
      if (auto load = dyn_cast<LoadOp>(user);
          load && loop->isProperAncestor(load) &&
          haveSamePlaces(*getTileTransfer(load), *getTileTransfer(store)))
        isReloaded |= follow(load.getResult()).stores.contains(store);
    if (isReloaded)
      return true;
  }
  return false;
}

llvm::SetVector<Operation *> mlir::tracea::getOrigins(Value tile) {
  llvm::SetVector<Operation *> origins;
  llvm::SetVector<Value> open;
  open.insert(tile);
  for (size_t next = 0; next < open.size(); ++next) {
    Value value = open[next];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument != loop.getInductionVar()) {
        open.insert(loop.getTiedLoopInit(argument)->get());
        open.insert(loop.getTiedLoopYieldedValue(argument)->get());
      }
      continue;
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (isProduct(op)) {
      origins.insert(op);
    } else if (auto wait = dyn_cast<WaitGroupOp>(op)) {
      if (number < wait.getInFlight().size())
        open.insert(wait.getInFlight()[number]);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      open.insert(loop.getInits()[number]);
      open.insert(loop.getYieldedValues()[number]);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      open.insert(branch.thenYield().getOperand(number));
      open.insert(branch.elseYield().getOperand(number));
    } else if (op->hasTrait<OpTrait::Elementwise>()) {
      for (Value operand : op->getOperands())
        if (operand.getType() == value.getType() ||
            isa<ShapedType>(operand.getType()))
          open.insert(operand);
    }
  }
  return origins;
}

SmallVector<Operation *> mlir::tracea::getLoopsAround(Operation *op) {
  SmallVector<Operation *> loops;
  for (Operation *next = op->getParentOp(); next && !isa<KernelOp>(next);
       next = next->getParentOp())
    if (isa<scf::ForOp, scf::ForallOp>(next))
      loops.push_back(next);
  std::reverse(loops.begin(), loops.end());
  return loops;
}

std::vector<Sum> mlir::tracea::getSums(KernelOp kernel) {
  SmallVector<Operation *> products;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isProduct(op))
      products.push_back(op);
  });
  llvm::EquivalenceClasses<Operation *> classes;
  llvm::DenseMap<Operation *, Flow> flows;
  for (Operation *product : products) {
    classes.insert(product);
    flows[product] = followProduct(product->getResult(0));
  }
  for (Operation *product : products)
    for (Operation *other : products)
      if (Value acc = getAccumulator(other);
          acc && flows[product].values.contains(acc))
        classes.unionSets(product, other);

  std::vector<Sum> sums;
  llvm::DenseMap<Operation *, size_t> numbers;
  for (Operation *product : products) {
    Operation *leader = classes.getLeaderValue(product);
    auto [it, inserted] = numbers.try_emplace(leader, sums.size());
    if (inserted)
      sums.emplace_back();
    Sum &sum = sums[it->second];
    sum.products.push_back(product);
    const Flow &flow = flows[product];
    sum.stores.insert_range(flow.stores);
    for (Operation *outer : getLoopsAround(product)) {
      auto loop = dyn_cast<scf::ForOp>(outer);
      if (!loop)
        continue;
      bool adds = addsInMemory(loop, flow);
      for (auto [argument, yielded] :
           llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues()))
        adds |= flow.values.contains(yielded) &&
                follow(argument).values.contains(yielded);
      if (adds)
        sum.loops.insert(loop);
    }
  }
  return sums;
}
