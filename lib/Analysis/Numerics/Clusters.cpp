//===- Clusters.cpp - Memory that the workgroups of a cluster share -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one workgroup has written, all of them read after they have met. A write
// is evaluated once, as any team of any workgroup makes it; who it was for the
// element at hand takes the place of the symbols. That they have met in between
// is what the protocol proves.

#include "Evaluator.h"

using namespace mlir;
using namespace mlir::tracea::numerics;
using namespace mlir::tracea_pipe;

PeerOp Evaluator::getPeer(Value memory) {
  while (auto view = memory.getDefiningOp<ViewOp>())
    memory = view.getSource();
  return memory.getDefiningOp<PeerOp>();
}

bool Evaluator::isOfCluster(Value object, Operation *point) {
  auto role = point->getParentOfType<RoleOp>();
  return tiles.getCluster() > 1 && object.getDefiningOp<ScratchOp>() &&
         !(role && role->isProperAncestor(object.getDefiningOp()));
}

/// The one store that fills the memory, in the block where it is read.
StoreOp Evaluator::getOnlyStore(Value object, Operation *point) {
  auto it = writers.find(object);
  if (it == writers.end() || it->second.size() != 1)
    return nullptr;
  auto store = dyn_cast<StoreOp>(it->second.front());
  bool isBefore = store && store->getBlock() == point->getBlock() &&
                  store->isBeforeInBlock(point);
  return isBefore && store.getLimits().empty() ? store : nullptr;
}

/// What a write leaves, as a team and a workgroup of its own symbols make it.
Evaluator::SharedWrite &Evaluator::evaluateShared(StoreOp store, Env env) {
  auto [it, inserted] = sharedWrites.try_emplace(store);
  SharedWrite &shared = it->second;
  if (!inserted)
    return shared;
  auto makeSymbol = [&](Value value, int64_t count) {
    Form form = newIndex(Form(count));
    index.forEachVariable(
        form, [&](unsigned id) { shared.symbols.push_back({id, count}); });
    shared.places.push_back({value, form});
  };
  shared.workgroup = index.newVariable(0, tiles.getCluster() - 1);
  shared.places.push_back(
      {tiles.getIndices().front(), index.form(shared.workgroup)});
  if (auto role = store->getParentOfType<RoleOp>())
    for (BlockArgument team : role.getBody().getArguments())
      makeSymbol(team, role.getCopies());
  // What is known of the grid's place at hand is not known of this one.
  llvm::DenseMap<Value, Form> placesBefore = grid;
  auto doneBefore = std::move(done);
  done.clear();
  for (auto &[value, form] : shared.places)
    grid[value] = form;
  Coordinates at;
  for (int64_t extent : extentsOf(store)) {
    at.push_back(newIndex(Form(extent)));
    index.forEachVariable(at.back(), [&](unsigned id) {
      shared.symbols.push_back({id, extent});
    });
  }
  shared.place = written(store, at, env);
  shared.term = valueOf(store, at, env);
  grid = std::move(placesBefore);
  done = std::move(doneBefore);
  return shared;
}

TermRef Evaluator::readShared(Value object, const Coordinates &at,
                              const Form &workgroup, Operation *point,
                              Env env) {
  StoreOp store = getOnlyStore(object, point);
  if (!store) {
    index.fail("memory of a cluster has several writers, or one elsewhere");
    return terms.undefined();
  }
  SharedWrite &shared = evaluateShared(store, env);
  if (!index.failure.empty())
    return terms.undefined();
  IndexSpace::Replacement solution;
  Coordinates form = shared.place;
  bool isFound = solve(at, form, shared.symbols, env, solution) == Hit::Yes;
  for (const Unknown &symbol : shared.symbols) {
    auto it = solution.find(symbol.variable);
    isFound =
        isFound && it != solution.end() &&
        index.prove(it->second, env->facts) &&
        index.prove(index.sub(Form(symbol.count - 1), it->second), env->facts);
  }
  if (!isFound) {
    index.fail("who of a cluster has written an element is not decided");
    return terms.undefined();
  }
  solution[shared.workgroup] = workgroup;
  return terms.substitute(shared.term, solution,
                          llvm::DenseMap<unsigned, TermRef>(), TermSpace::Map(),
                          nullptr);
}

/// Whether terms are the same but for the order of the two sides of additions,
/// which makes no difference to a sum.
static bool areEqualSums(TermRef a, TermRef b) {
  if (a == b)
    return true;
  if (a->kind != b->kind || a->symbol != b->symbol || a->forms != b->forms ||
      a->bound != b->bound || a->operands.size() != b->operands.size())
    return false;
  auto areEqual = [&](size_t i, size_t j) {
    return areEqualSums(a->operands[i], b->operands[j]);
  };
  StringRef symbol = a->symbol;
  bool isSum =
      a->kind == TermKind::Operation && a->operands.size() == 2 &&
      (symbol.starts_with("arith.addf") || symbol.starts_with("arith.addi"));
  if (isSum && areEqual(0, 1) && areEqual(1, 0))
    return true;
  for (size_t i = 0; i < a->operands.size(); ++i)
    if (!areEqual(i, i))
      return false;
  return true;
}

TermRef Evaluator::withoutWorkgroup(TermRef term, unsigned workgroup) {
  TermRef first = nullptr;
  for (int64_t number = 0; number < int64_t(tiles.getCluster()); ++number) {
    IndexSpace::Replacement one;
    one[workgroup] = Form(number);
    TermRef here =
        terms.substitute(term, one, llvm::DenseMap<unsigned, TermRef>(),
                         TermSpace::Map(), nullptr);
    if (!first)
      first = here;
    else if (!areEqualSums(first, here))
      return term;
  }
  return first;
}
