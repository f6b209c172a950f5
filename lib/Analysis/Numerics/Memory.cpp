//===- Memory.cpp - What an element of memory holds -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last write of an element before a point, found by walking backwards. A
// loop that writes each element in one iteration is entered at that iteration;
// a loop that writes it in every one is a fold.

#include "Evaluator.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tracea::numerics;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// Objects and their writers
//===----------------------------------------------------------------------===//

/// The argument, scratch tile or slot that a memref looks into; null when it is
/// none of these.
Value Evaluator::getObject(Value memory) {
  while (
      isa_and_nonnull<ViewOp, memref::CollapseShapeOp>(memory.getDefiningOp()))
    memory = memory.getDefiningOp()->getOperand(0);
  if (PeerOp peer = memory.getDefiningOp<PeerOp>())
    return getObject(peer.getMemory());
  if (auto argument = dyn_cast<BlockArgument>(memory))
    return argument.getOwner()->getParentOp() == kernel ? memory : Value();
  return isa<ScratchOp, AcquireOp, WaitOp, StageOp>(memory.getDefiningOp())
             ? memory
             : Value();
}

void Evaluator::collectWriters() {
  auto add = [&](Operation *op, Value memory) {
    if (Value object = getPeer(memory) ? Value() : getObject(memory))
      writers[object].push_back(op);
    else
      index.fail(("'" + op->getName().getStringRef() +
                  "' writes memory that is not followed")
                     .str());
  };
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](StoreOp store) { add(op, store.getDest()); })
        .Case([&](memref::StoreOp store) { add(op, store.getMemRef()); })
        .Case([&](CopyOp copy) { add(op, copy.getDest()); })
        .Case([&](CopyOutOp copy) { add(op, copy.getDest()); })
        .Case<KernelOp, TilesOp, RolesOp, RoleOp, EndOp, scf::ForOp, scf::IfOp,
              scf::YieldOp, ChannelOp, AcquireOp, CommitOp, WaitOp, ReleaseOp,
              ScratchOp, StageOp, LoadOp, memref::LoadOp, MmaOp, MmaAsyncOp,
              CommitGroupOp, WaitGroupOp, PrefetchOp, OrderBarrierOp,
              OrderWaitOp, OrderArriveOp, PeerOp, ClusterArriveOp,
              ClusterWaitOp>([](auto) {})
        .Default([&](Operation *other) {
          StringRef name = other->getName().getStringRef();
          if (!isMemoryEffectFree(other) && name != "tracea_pipe.sync")
            index.fail(("'" + name + "' is not followed").str());
        });
  });
}

bool Evaluator::isInside(Operation *op, Value object) {
  auto it = writers.find(object);
  return it != writers.end() &&
         llvm::any_of(it->second, [&](Operation *writer) {
           return op->isProperAncestor(writer);
         });
}

ArrayRef<int64_t> Evaluator::extentsOf(Operation *op) {
  std::optional<TileTransfer> transfer = getTileTransfer(op);
  return transfer ? transfer->shape : ArrayRef<int64_t>();
}

ValueRange Evaluator::limitsOf(Operation *op) {
  std::optional<TileTransfer> transfer = getTileTransfer(op);
  if (!transfer)
    return ValueRange();
  if (isa<CopyOp>(op)) {
    // What a copy left out nobody may depend on: one copy fills all.
    auto it = writers.find(getObject(transfer->tile));
    if (it != writers.end() && it->second.size() == 1)
      return ValueRange();
  }
  return transfer->limits;
}

Evaluator::Coordinates Evaluator::address(ValueRange indices, AffineMap map,
                                          const Coordinates &at, Env env) {
  Coordinates result;
  for (auto [position, expr] : llvm::zip(indices, map.getResults())) {
    LinearForm linear = getLinearForm(expr, map.getNumDims());
    Form form = index.add(indexOf(position, env), Form(linear.constant));
    for (auto [factor, coordinate] : llvm::zip(linear.coefficients, at))
      form = index.add(form, index.scale(coordinate, factor));
    result.push_back(std::move(form));
  }
  return result;
}

Evaluator::Coordinates Evaluator::inObject(Value memory, Coordinates at,
                                           Env env) {
  if (auto view = memory.getDefiningOp<ViewOp>())
    return inObject(view.getSource(),
                    address(view.getOffsets(), view.getMap(), at, env), env);
  if (auto collapse = memory.getDefiningOp<memref::CollapseShapeOp>())
    return inObject(collapse.getSrc(), inSource(collapse, at, env), env);
  if (PeerOp peer = memory.getDefiningOp<PeerOp>())
    return inObject(peer.getMemory(), std::move(at), env);
  return at;
}

Evaluator::Coordinates Evaluator::written(Operation *op, const Coordinates &at,
                                          Env env) {
  return llvm::TypeSwitch<Operation *, Coordinates>(op)
      .Case<StoreOp, CopyOutOp>([&](auto store) {
        return inObject(store.getDest(), place(op, at, env), env);
      })
      .Case([&](CopyOp copy) { return inObject(copy.getDest(), at, env); })
      .Case([&](memref::StoreOp store) {
        Coordinates place;
        for (Value position : store.getIndices())
          place.push_back(indexOf(position, env));
        return inObject(store.getMemRef(), place, env);
      })
      .Default([](Operation *) { return Coordinates(); });
}

TermRef Evaluator::valueOf(Operation *op, const Coordinates &at, Env env) {
  return llvm::TypeSwitch<Operation *, TermRef>(op)
      .Case([&](StoreOp store) { return termOf(store.getValue(), at, env); })
      .Case([&](memref::StoreOp store) {
        return termOf(store.getValue(), {}, env);
      })
      .Case([&](CopyOp copy) { return copied(op, at, env); })
      .Case([&](CopyOutOp copy) {
        return convert(read(copy.getSource(), at, op, env),
                       getElementTypeOrSelf(copy.getSource().getType()),
                       getElementTypeOrSelf(copy.getDest().getType()));
      })
      .Default([&](Operation *) { return terms.undefined(); });
}

//===----------------------------------------------------------------------===//
// Which write it was
//===----------------------------------------------------------------------===//

/// Solves `form == wanted` for the unknowns: numbers in mixed radix, where
/// each coefficient is beyond what the smaller ones can reach together.
Evaluator::Hit Evaluator::solve(const Coordinates &wanted,
                                const Coordinates &form,
                                ArrayRef<Unknown> unknowns, Env env,
                                IndexSpace::Replacement &solution) {
  Hit result = Hit::Yes;
  for (auto [target, given] : llvm::zip(wanted, form)) {
    Form left = index.substitute(given, solution, env->facts);
    Form rest = index.sub(target, left);
    SmallVector<std::pair<int64_t, Unknown>> parts;
    bool isLinear = true;
    for (const Unknown &unknown : unknowns) {
      int64_t factor = left.coefficient(unknown.variable);
      Form own = index.scale(index.form(unknown.variable), factor);
      isLinear &= !index.uses(index.sub(left, own), unknown.variable);
      if (factor == 0)
        continue;
      isLinear &= factor > 0;
      rest = index.add(rest, own);
      parts.push_back({factor, unknown});
    }
    if (parts.empty() && isLinear) {
      if (index.prove(index.sub(rest, Form(1)), env->facts) ||
          index.prove(index.sub(Form(-1), rest), env->facts))
        return Hit::No;
      if (rest != Form(0))
        result = Hit::Unclear;
      continue;
    }
    llvm::sort(parts,
               [](const auto &x, const auto &y) { return x.first > y.first; });
    __int128 reach = 0;
    for (auto &[factor, unknown] : llvm::reverse(parts)) {
      isLinear &= reach >= 0 && reach < factor;
      reach = unknown.count < 0 || reach < 0
                  ? -1
                  : reach + __int128(factor) * (unknown.count - 1);
    }
    if (!isLinear) {
      result = Hit::Unclear;
      continue;
    }
    for (auto [factor, unknown] : parts) {
      Form value = index.floorDiv(rest, factor, env->facts);
      rest = index.sub(rest, index.scale(value, factor));
      solution[unknown.variable] = value;
    }
    if (rest != Form(0))
      result = Hit::Unclear;
  }
  return result;
}

/// Whether `op`, at the iterations of `env`, writes the element, and as which
/// of its own.
Evaluator::Hit Evaluator::match(Operation *op, const Coordinates &wanted,
                                Env env, Coordinates &found) {
  SmallVector<Unknown> unknowns;
  Coordinates at;
  for (int64_t extent : extentsOf(op)) {
    unsigned variable = index.newVariable(0, extent - 1);
    unknowns.push_back({variable, extent});
    at.push_back(index.form(variable));
  }
  IndexSpace::Replacement solution;
  auto equal = equations(op, wanted, at, env);
  if (!equal)
    return Hit::Unclear;
  Hit hit = solve(equal->first, equal->second, unknowns, env, solution);
  if (hit != Hit::Yes)
    return hit;
  auto within = [&](const Form &coordinate, const Form &end) {
    Form room = index.sub(index.sub(end, coordinate), Form(1));
    bool reaches = index.prove(coordinate, env->facts);
    bool ends = index.prove(room, env->facts);
    if (reaches && ends)
      return Hit::Yes;
    return (!reaches &&
            index.prove(index.sub(Form(-1), coordinate), env->facts)) ||
                   (!ends && index.prove(index.sub(Form(-1), room), env->facts))
               ? Hit::No
               : Hit::Unclear;
  };
  for (const Unknown &unknown : unknowns) {
    auto it = solution.find(unknown.variable);
    if (it == solution.end() && unknown.count != 1)
      return Hit::Unclear;
    found.push_back(it == solution.end() ? Form(0) : it->second);
    Hit one = within(found.back(), Form(unknown.count));
    if (one == Hit::No)
      return one;
    hit = one == Hit::Yes ? hit : one;
  }
  for (auto [limit, coordinate] : llvm::zip(limitsOf(op), found)) {
    Hit one = within(coordinate, indexOf(limit, env));
    if (one == Hit::No)
      return one;
    hit = one == Hit::Yes ? hit : one;
  }
  return hit;
}

Evaluator::Hit Evaluator::iterationOf(scf::ForOp loop, Operation *writer,
                                      const Coordinates &at, Env env,
                                      std::optional<Form> &iteration) {
  SmallVector<scf::ForOp> path;
  for (Operation *op = writer->getParentOp(); op != loop->getParentOp();
       op = op->getParentOp())
    if (auto inner = dyn_cast<scf::ForOp>(op))
      path.push_back(inner);
  SmallVector<Unknown> unknowns;
  Env inner = env;
  unsigned own = 0;
  for (scf::ForOp step : llvm::reverse(path)) {
    std::optional<int64_t> most = index.interval(tripCount(step, inner)).high;
    int64_t count = most ? std::max<int64_t>(*most, 1) : -1;
    unsigned variable = index.newVariable(
        0, most ? std::optional<int64_t>(count - 1) : std::nullopt);
    if (step == loop)
      own = variable;
    unknowns.push_back({variable, count});
    inner = bind(inner, step, index.form(variable));
  }
  Coordinates tile;
  for (int64_t extent : extentsOf(writer)) {
    unsigned variable = index.newVariable(0, extent - 1);
    unknowns.push_back({variable, extent});
    tile.push_back(index.form(variable));
  }
  auto equal = equations(writer, at, tile, inner);
  if (!equal)
    return Hit::Unclear;
  const Coordinates &form = equal->second;
  bool depends = llvm::any_of(
      form, [&](const Form &some) { return index.uses(some, own); });
  IndexSpace::Replacement solution;
  Hit hit = solve(equal->first, form, unknowns, env, solution);
  if (hit == Hit::No || !depends)
    return hit == Hit::No ? hit : Hit::Yes;
  // Other coordinates may stay open here; they are decided at the write.
  auto it = solution.find(own);
  if (it == solution.end())
    return Hit::Unclear;
  for (const Unknown &unknown : unknowns)
    if (index.uses(it->second, unknown.variable))
      return Hit::Unclear;
  iteration = it->second;
  return Hit::Yes;
}

//===----------------------------------------------------------------------===//
// Walking backwards
//===----------------------------------------------------------------------===//

TermRef Evaluator::lastWrite(Value object, const Coordinates &at, Block *block,
                             Block::iterator before, Env env) {
  while (before != block->begin() && index.failure.empty()) {
    Operation *op = &*--before;
    if (object.getDefiningOp() == op)
      return terms.undefined();
    if (op->getNumRegions()) {
      if (!isInside(op, object))
        continue;
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (TermRef value = afterLoop(loop, object, at, env))
          return value;
        continue;
      }
      auto branch = dyn_cast<scf::IfOp>(op);
      if (!branch) {
        index.fail(("'" + op->getName().getStringRef() +
                    "' writes memory that is read after it")
                       .str());
        return terms.undefined();
      }
      auto after = [&](Block *side, Env e) {
        if (side && !side->empty())
          return lastWrite(object, at, side,
                           side->getTerminator()->getIterator(), e);
        return lastWrite(object, at, block, op->getIterator(), e);
      };
      return choose(
          termOf(branch.getCondition(), {}, env), env,
          [&](Env e) { return after(branch.thenBlock(), e); },
          [&](Env e) { return after(branch.elseBlock(), e); });
    }
    auto it = writers.find(object);
    if (it == writers.end() || !llvm::is_contained(it->second, op))
      continue;
    Coordinates found;
    switch (match(op, at, env, found)) {
    case Hit::Yes:
      return valueOf(op, found, env);
    case Hit::No:
      continue;
    case Hit::Unclear:
      index.fail(("whether '" + op->getName().getStringRef() +
                  "' writes an element that is read later is not decided")
                     .str());
      return terms.undefined();
    }
  }
  return beforeBlock(object, at, block, env);
}

TermRef Evaluator::initially(Value object, const Coordinates &at) {
  auto argument = dyn_cast<BlockArgument>(object);
  if (!argument)
    return terms.undefined();
  std::string type;
  llvm::raw_string_ostream(type) << getElementTypeOrSelf(object.getType());
  return terms.input(argument.getArgNumber(), at, type);
}

bool Evaluator::findRounds(scf::ForOp loop, Value object, const Coordinates &at,
                           Env env, bool &everyRound,
                           std::optional<Form> &round) {
  for (Operation *writer : writers[object]) {
    if (!loop->isProperAncestor(writer))
      continue;
    std::optional<Form> iteration;
    Hit hit = iterationOf(loop, writer, at, env, iteration);
    if (hit == Hit::No)
      continue;
    if (hit == Hit::Unclear || (round && iteration && *round != *iteration) ||
        (iteration ? everyRound : round.has_value()))
      return false;
    everyRound |= !iteration;
    if (iteration)
      round = iteration;
  }
  return true;
}

TermRef Evaluator::beforeBlock(Value object, const Coordinates &at,
                               Block *block, Env env) {
  Operation *parent = block->getParentOp();
  if (!index.failure.empty())
    return terms.undefined();
  auto loop = dyn_cast<scf::ForOp>(parent);
  // Iterations that hand out tiles are like tiles of the grid.
  if (isa<TilesOp, KernelOp>(parent) || (loop && isGridLoop(loop)))
    return initially(object, at);
  if (isa<scf::IfOp>(parent))
    return lastWrite(object, at, parent->getBlock(), parent->getIterator(),
                     env);
  if (auto role = dyn_cast<RoleOp>(parent)) {
    for (Operation *writer : writers[object])
      if (!role->isProperAncestor(writer) &&
          writer->getParentOfType<RoleOp>()) {
        index.fail("memory passes between roles without a channel");
        return terms.undefined();
      }
    Operation *roles = role->getParentOp();
    return lastWrite(object, at, roles->getBlock(), roles->getIterator(), env);
  }
  Env binding = loop ? find(env, loop) : nullptr;
  if (!binding) {
    index.fail(("memory is read in '" + parent->getName().getStringRef() +
                "', which is not followed")
                   .str());
    return terms.undefined();
  }
  auto beforeLoop = [&]() {
    return lastWrite(object, at, loop->getBlock(), loop->getIterator(),
                     around(env, loop));
  };
  bool everyRound = false;
  std::optional<Form> round;
  if (!findRounds(loop, object, at, around(env, loop), everyRound, round)) {
    index.fail("in which iteration memory was written is not decided");
    return terms.undefined();
  }
  if (everyRound) {
    StateKey key{object, at};
    if (binding->fold)
      return stateOf(*binding->fold, std::move(key));
    return foldOf(loop, binding->iteration, std::move(key), around(env, loop));
  }
  if (!round)
    return beforeLoop();
  Form gap = index.sub(binding->iteration, *round);
  // Written in this iteration, but later than it is read; or in a later one.
  if (gap == Form(0) || index.prove(index.scale(gap, -1), env->facts))
    return beforeLoop();
  if (!index.prove(index.sub(gap, Form(1)), env->facts) ||
      !index.prove(*round, env->facts)) {
    index.fail("in which iteration memory was written is not decided");
    return terms.undefined();
  }
  Env earlier = bind(around(env, loop), loop, *round);
  Block *body = loop.getBody();
  return lastWrite(object, at, body, body->getTerminator()->getIterator(),
                   earlier);
}

/// What an element holds after a loop; null when the loop does not write it.
TermRef Evaluator::afterLoop(scf::ForOp loop, Value object,
                             const Coordinates &at, Env env) {
  bool everyRound = false;
  std::optional<Form> round;
  if (!findRounds(loop, object, at, env, everyRound, round)) {
    index.fail("which iteration of a loop writes an element is not decided");
    return terms.undefined();
  }
  if (everyRound)
    return foldOf(loop, tripCount(loop, env), {object, at}, env);
  if (!round)
    return nullptr;
  Form trips = tripCount(loop, env);
  Form room = index.sub(index.sub(trips, *round), Form(1));
  if (index.prove(index.sub(Form(-1), *round), env->facts) ||
      index.prove(index.sub(Form(-1), room), env->facts))
    return nullptr;
  if (!index.prove(*round, env->facts) || !index.prove(room, env->facts)) {
    index.fail("whether a loop reaches an element is not decided");
    return terms.undefined();
  }
  Env inside = inLoop(loop, *round, env, bind(env, loop, *round));
  Block *body = loop.getBody();
  return lastWrite(object, at, body, body->getTerminator()->getIterator(),
                   inside);
}
