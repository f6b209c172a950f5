//===- Loops.cpp - Loops, branches and their trip counts ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extractor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

/// Loops of known counts up to this are unrolled; longer ones are proved for
/// every count.
static constexpr int64_t kMaxUnrolled = 16;

/// Iterations that stand before a loop, of those that a loop of another role
/// has.
static constexpr int64_t kMaxPeeled = 2;

std::string Extractor::keyOf(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::to_string(*constant);
  // What is defined outside of the roles is the same for all of them.
  if (!roles ||
      !roles->isProperAncestor(value.getParentRegion()->getParentOp())) {
    std::string text;
    llvm::raw_string_ostream(text) << "v" << value.getAsOpaquePointer();
    return text;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return "";
    std::string lower, upper, step;
    std::string key = tripKey(loop, lower, upper, step);
    std::string context = contextOf(loop);
    return key.empty() || context.empty()
               ? ""
               : "iteration of (" + key + " in " + context + ")";
  }
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() || !isMemoryEffectFree(def))
    return "";
  std::string key = def->getName().getStringRef().str() + "#" +
                    std::to_string(cast<OpResult>(value).getResultNumber());
  llvm::raw_string_ostream(key)
      << def->getAttrDictionary() << value.getType() << "(";
  for (Value operand : def->getOperands()) {
    std::string inner = keyOf(operand);
    if (inner.empty())
      return "";
    key += inner + ",";
  }
  return key + ")";
}

/// The loops and branches around `op` in its role, outermost last; empty where
/// roles do not see them alike.
std::string Extractor::contextOf(Operation *op) {
  std::string context = "role";
  for (Operation *parent = op->getParentOp(); !isa<RoleOp, TilesOp>(parent);
       op = parent, parent = parent->getParentOp()) {
    std::string key;
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      std::string lower, upper, step;
      key = tripKey(loop, lower, upper, step);
    } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      key = keyOf(branch.getCondition());
      if (!key.empty())
        key += op->getBlock() == branch.thenBlock() ? " then" : " else";
    }
    if (key.empty())
      return "";
    context += " in " + key;
  }
  return context;
}

/// A decision that changes with an iteration is the same for two roles only if
/// they read it equally often: in the same loops, and at one place of each.
std::string Extractor::shareKey(std::string key, Operation *op) {
  if (!roles || key.find("iteration of") == std::string::npos)
    return key;
  std::string context = contextOf(op);
  if (context.empty())
    return "";
  key += " in " + context;
  auto [it, inserted] = varying.try_emplace(key, op);
  return inserted || it->second == op ? key : "";
}

std::string Extractor::tripKey(scf::ForOp loop, std::string &lower,
                               std::string &upper, std::string &step) {
  lower = keyOf(loop.getLowerBound());
  upper = keyOf(loop.getUpperBound());
  step = keyOf(loop.getStep());
  if (lower.empty() || upper.empty() || step.empty() || loop.getUnsignedCmp())
    return "";
  if (std::optional<int64_t> count = constantTrips(loop))
    if (*count >= 0)
      return "constant " + std::to_string(*count);
  return lower + " to " + upper + " step " + step;
}

int64_t Extractor::constantTrips(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return -1;
  int64_t distance;
  if (*upper <= *lower)
    return 0;
  if (llvm::SubOverflow(*upper, *lower, distance))
    return -1;
  return llvm::divideCeil(distance, *step);
}

/// Short loops are, and so are loops of which a short one of another role has
/// all but the first iterations: what one of the two counts, both do.
bool Extractor::isUnrolled(int64_t count) {
  if (count <= kMaxUnrolled || !roles)
    return count >= 0 && count <= kMaxUnrolled;
  WalkResult search = roles->walk([&](scf::ForOp loop) {
    int64_t other = constantTrips(loop);
    return other >= count - kMaxPeeled && other <= kMaxUnrolled &&
                   hasRingOps(loop)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return search.wasInterrupted();
}

/// A loop whose first iteration stands before it has one count less than the
/// loop of another role that it belongs to. What two constant counts share is
/// the smaller one; the iterations beyond it are unrolled.
int64_t Extractor::commonTrips(int64_t count) {
  if (!roles)
    return count;
  int64_t common = count;
  roles->walk([&](scf::ForOp loop) {
    int64_t other = constantTrips(loop);
    if (other > kMaxUnrolled && other >= count - kMaxUnrolled &&
        hasRingOps(loop))
      common = std::min(common, other);
  });
  return common;
}

int Extractor::tripOf(const std::string &key, Operation *op) {
  std::string full = key;
  if (!roles) // Nobody to share it with.
    full = "op " + std::to_string(siteOf(op));
  auto [it, inserted] = trips.try_emplace(full, protocol.trips.size());
  if (inserted)
    protocol.trips.push_back("loop " + std::to_string(it->second));
  return it->second;
}

/// Moves what a block yields, in parallel, to where it goes.
void Extractor::emitYield(Block &block, ValueRange into) {
  Operation *yield = block.getTerminator();
  SmallVector<std::pair<int, int>> moves;
  for (auto [from, to] : llvm::zip_equal(yield->getOperands(), into))
    if (isPhase(to))
      moves.push_back({phaseOf(to), phaseOf(from)});
  SmallVector<int> buffered;
  if (moves.size() > 1)
    for (auto &[to, from] : moves) {
      int temporary = builder->newPosition(builder->role.positions[from].slots);
      move(yield, temporary, from);
      from = temporary;
    }
  for (auto [to, from] : moves)
    move(yield, to, from);
}

void Extractor::emitFor(scf::ForOp loop) {
  Block &body = *loop.getBody();
  for (auto [init, argument, result] : llvm::zip_equal(
           loop.getInits(), loop.getRegionIterArgs(), loop.getResults())) {
    if (!isPhase(init))
      continue;
    move(loop, phaseOf(argument), phaseOf(init));
  }
  // Whose iteration it is.
  SmallVector<int> turns;
  for (BlockArgument argument : loop.getRegionIterArgs())
    if (int variable = turnVariableOf(argument); variable >= 0) {
      turns.push_back(variable);
      setTurn(loop, variable,
              addExpression(ta::Operator::Constant, {},
                            OwnTurn::isFirst(team->copy)));
    }
  auto emitBody = [&] {
    for (Operation &op : body.without_terminator())
      emitOp(&op);
    emitYield(body, loop.getRegionIterArgs());
    for (int variable : turns)
      setTurn(
          body.getTerminator(), variable,
          addExpression(ta::Operator::Xor,
                        {addExpression(ta::Operator::Variable, {}, variable),
                         addExpression(ta::Operator::Constant, {}, 1)}));
  };
  auto it = continued.find(loop);
  int64_t count = constantTrips(loop);
  if (it == continued.end() && isUnrolled(count)) {
    for (int64_t i = 0; i < count && builder->role.code.size() < 20000; ++i)
      emitBody();
  } else {
    std::string lower, upper, step;
    std::string key = it != continued.end()
                          ? it->second
                          : shareKey(tripKey(loop, lower, upper, step), loop);
    if (it == continued.end() && count > kMaxUnrolled) {
      int64_t common = commonTrips(count);
      key = "constant " + std::to_string(common);
      for (int64_t i = common; i < count; ++i)
        emitBody();
    }
    if (key.empty() && roles)
      return undecided(loop,
                       "the trip count of this loop depends on what other "
                       "roles do not see");
    int trip = it != continued.end() ? trips.lookup(key) : tripOf(key, loop);
    size_t head = builder->role.code.size();
    add(ta::Step::Next, loop).trip = trip;
    emitBody();
    add(ta::Step::Jump, loop).target = head;
    builder->role.code[head].target = builder->role.code.size();
  }
  for (auto [argument, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
    if (isPhase(result))
      move(loop, phaseOf(result), phaseOf(argument));
}

/// `if lower < upper` around a loop that starts one step later is the first
/// decision of the loop's trip count; any other condition is one of its own.
void Extractor::emitIf(scf::IfOp branch) {
  if (int condition = conditionOf(branch.getCondition()); condition >= 0)
    return emitBranch(branch, ta::Step::Test, /*trip=*/-1, condition);
  std::string key;
  if (auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>()) {
    Value lower, upper;
    arith::CmpIPredicate predicate = compare.getPredicate();
    if (predicate == arith::CmpIPredicate::slt)
      lower = compare.getLhs(), upper = compare.getRhs();
    if (predicate == arith::CmpIPredicate::sgt)
      lower = compare.getRhs(), upper = compare.getLhs();
    std::optional<int64_t> begin =
        lower ? getConstantIntValue(lower) : std::nullopt;
    if (begin) {
      for (auto loop : branch.thenBlock()->getOps<scf::ForOp>()) {
        std::optional<int64_t> next = getConstantIntValue(loop.getLowerBound());
        std::optional<int64_t> step = getConstantIntValue(loop.getStep());
        if (loop.getUpperBound() != upper || !next || !step ||
            *next != *begin + *step || !hasRingOps(loop))
          continue;
        std::string bound = keyOf(upper);
        if (bound.empty())
          continue;
        key = shareKey(std::to_string(*begin) + " to " + bound + " step " +
                           std::to_string(*step),
                       branch);
        if (key.empty())
          continue;
        if (!roles)
          key = "op " + std::to_string(siteOf(branch));
        continued[loop] = key;
        break;
      }
    }
  }
  if (key.empty()) {
    std::string condition = shareKey(keyOf(branch.getCondition()), branch);
    if (condition.empty())
      return undecided(branch, "a branch around channel operations depends on "
                               "data");
    // Two branches of one condition would have to agree.
    auto [it, inserted] = branchesSeen.try_emplace(condition, branch);
    if (!inserted && it->second != branch)
      return undecided(branch, "two branches around channel operations have "
                               "one condition");
    key = "if " + condition;
  }
  emitBranch(branch, ta::Step::Next, tripOf(key, branch), /*condition=*/-1);
}

void Extractor::emitBranch(scf::IfOp branch, ta::Step step, int trip,
                           int condition) {
  size_t head = builder->role.code.size();
  ta::Instruction &decision = add(step, branch);
  decision.trip = trip;
  decision.expression = condition;
  for (Operation &op : branch.thenBlock()->without_terminator())
    emitOp(&op);
  emitYield(*branch.thenBlock(), branch.getResults());
  size_t skip = builder->role.code.size();
  add(ta::Step::Jump, branch);
  builder->role.code[head].target = builder->role.code.size();
  if (Block *block = branch.elseBlock()) {
    for (Operation &op : block->without_terminator())
      emitOp(&op);
    emitYield(*block, branch.getResults());
  }
  builder->role.code[skip].target = builder->role.code.size();
}
