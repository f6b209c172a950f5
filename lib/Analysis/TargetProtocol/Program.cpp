//===- Program.cpp - What one role of a target kernel does ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the kernel as one role runs it: branches that its threads decide are
// followed, short loops of known counts unrolled, others read a trip count.

#include "ProgramBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::analysis::Operator;

/// Loops of known counts up to this are unrolled.
static constexpr uint64_t kMaxUnrolled = 16;
/// Events of one role.
static constexpr size_t kMaxEvents = 20000;

RoleProgram mlir::tracea::extractProgram(KernelContext &context,
                                         ThreadRange threads) {
  // An assumption that turns out wrong while the program is written is dropped,
  // and the program written again.
  DenseSet<Value> dropped;
  for (;;) {
    ProgramBuilder builder(context, threads, dropped);
    RoleProgram program = builder.run();
    if (!builder.assumedWrongly())
      return program;
  }
}

RoleProgram ProgramBuilder::run() {
  for (unsigned i = 0; i < context.accumulators.size(); ++i)
    program.values.push_back("accumulator " + std::to_string(i));
  findWalks();
  emitBlock(context.kernel.getBody().front());
  add(Event::Exit, context.kernel.getBody().front().getTerminator());
  if (program.events.size() > kMaxEvents)
    context.undecided(context.kernel, "the program of a role is too long");
  return std::move(program);
}

Event &ProgramBuilder::add(Event::Kind kind, Operation *op) {
  Event event;
  event.kind = kind;
  event.op = op;
  event.lanes = lanes;
  event.lane = lane;
  program.events.push_back(event);
  return program.events.back();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Integers that travel through loops and are computed from constants and such
/// integers alone: assumed, then disproved.
void ProgramBuilder::findWalks() {
  context.kernel.walk([&](Operation *op) {
    auto consider = [&](ValueRange range) {
      for (Value value : range)
        if (isa<IntegerType, IndexType>(value.getType()))
          walks.insert(value);
    };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      consider(loop.getRegionIterArgs());
      consider(loop.getResults());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      consider(loop.getBeforeArguments());
      consider(loop.getAfterArguments());
      consider(loop.getResults());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      consider(branch.getResults());
    }
  });
  for (Value value : dropped)
    walks.erase(value);
  for (bool changed = true; changed;) {
    changed = false;
    auto drop = [&](Value value, bool keep) {
      if (!keep && walks.erase(value))
        changed = true;
    };
    context.kernel.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (auto [init, argument, yield, result] :
             llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(),
                             loop.getYieldedValues(), loop.getResults())) {
          drop(argument, isWalk(init) && isWalk(yield));
          drop(result, isWalk(argument));
        }
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        for (auto [init, argument, yield] :
             llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                             loop.getYieldOp().getOperands()))
          drop(argument, isWalk(init) && isWalk(yield));
        for (auto [forwarded, argument, result] :
             llvm::zip_equal(loop.getConditionOp().getArgs(),
                             loop.getAfterArguments(), loop.getResults())) {
          drop(argument, isWalk(forwarded));
          drop(result, isWalk(forwarded));
        }
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (Region *region :
             {&branch.getThenRegion(), &branch.getElseRegion()})
          if (!region->empty())
            for (auto [yield, result] :
                 llvm::zip_equal(region->front().getTerminator()->getOperands(),
                                 branch.getResults()))
              drop(result, isWalk(yield));
      }
    });
  }
}

bool ProgramBuilder::isWalk(Value value) {
  if (walks.contains(value))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions())
    return false;
  if (matchPattern(def, m_Constant()))
    return true;
  // What threads make of their number is a constant for a role, or not.
  if (isa<NVVM::ThreadIdXOp, NVVM::ShflOp>(def))
    return true;
  bool computes =
      getOperator(def) ||
      isa<arith::CmpIOp, LLVM::ICmpOp, arith::ExtUIOp, arith::ExtSIOp,
          arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp,
          LLVM::ZExtOp, LLVM::SExtOp, LLVM::TruncOp>(def);
  return computes &&
         llvm::all_of(def->getOperands(), [&](Value v) { return isWalk(v); });
}

int ProgramBuilder::variableOf(Value value) {
  auto [it, inserted] =
      variables.try_emplace(value, static_cast<int>(program.variables.size()));
  if (inserted)
    program.variables.push_back({"variable " + std::to_string(it->second), 0});
  return it->second;
}

/// `to` := `from`, all at once; what is no walk becomes unknown.
void ProgramBuilder::assign(Operation *op, ValueRange to,
                            ArrayRef<const Symbol *> from) {
  SmallVector<std::pair<int, const Symbol *>> moves;
  for (auto [target, symbol] : llvm::zip_equal(to, from)) {
    unsigned bits = getSymbolBits(target.getType());
    if (!bits)
      continue;
    bool known = walks.contains(target) && !symbol->onThread &&
                 !symbol->onOpaque && !symbol->onBase;
    if (!known) {
      if (walks.erase(target)) {
        dropped.insert(target);
        restart = true;
      }
      values.bind(target, values.unknown(target, !symbol->onThread));
      continue;
    }
    int variable = variableOf(target);
    const Symbol *walk = context.symbols.walk(variable, bits);
    if (symbol != walk)
      moves.push_back({variable, symbol});
    values.bind(target, walk);
  }
  // Through temporaries where one move reads what another has written.
  bool buffered = moves.size() > 1;
  for (auto &[variable, symbol] : moves) {
    if (!buffered || symbol->isConstant())
      continue;
    auto [it, inserted] = temporaries.try_emplace(
        variable, static_cast<int>(program.variables.size()));
    if (inserted)
      program.variables.push_back({"copy " + std::to_string(variable), 0});
    Event &set = add(Event::Set, op);
    set.number = it->second;
    set.expression = symbol;
    symbol = context.symbols.walk(it->second, symbol->bits);
  }
  for (auto [variable, symbol] : moves) {
    Event &set = add(Event::Set, op);
    set.number = variable;
    set.expression = symbol;
  }
}

/// Values go on under another name within one iteration.
void ProgramBuilder::forward(Operation *op, ValueRange to,
                             ArrayRef<const Symbol *> from) {
  assign(op, to, from);
  for (auto [target, symbol] : llvm::zip_equal(to, from))
    if (getSymbolBits(target.getType()) && !walks.contains(target))
      values.bind(target, symbol);
}

/// A number that is handed over is the same for who sends and who receives it.
void ProgramBuilder::bindMessage(Value value) {
  auto it = context.messages.values.find(value);
  if (it != context.messages.values.end())
    values.bind(value, context.symbols.opaque(
                           it->second, getSymbolBits(value.getType()),
                           /*isPrivate=*/false, /*varies=*/true));
}

SmallVector<const Symbol *> ProgramBuilder::symbolsOf(ValueRange range) {
  SmallVector<const Symbol *> symbols;
  for (Value value : range)
    symbols.push_back(getSymbolBits(value.getType())
                          ? values.get(value)
                          : context.symbols.constant(0));
  return symbols;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void ProgramBuilder::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (program.events.size() > kMaxEvents)
      return;
    if (auto branch = dyn_cast<scf::IfOp>(op))
      emitIf(branch);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      emitFor(loop);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      emitWhile(loop);
    else if (op.getNumRegions() && isRelevant(&op))
      context.undecided(&op, "'" + op.getName().getStringRef() +
                                 "' holds operations that synchronise");
    else
      emitOp(&op);
  }
}

int ProgramBuilder::tripOf(const std::string &key) {
  TripTable &trips = context.trips;
  auto [it, inserted] =
      trips.numbers.try_emplace(key, static_cast<int>(trips.names.size()));
  if (inserted)
    trips.names.push_back("loop " + std::to_string(it->second));
  return it->second;
}

size_t ProgramBuilder::emitNext(Operation *op, int trip) {
  add(Event::Next, op).number = trip;
  return program.events.size() - 1;
}

/// The name of a choice that other roles make alike, or one that only this
/// place of this role makes.
std::string ProgramBuilder::shareKey(std::string key, bool isPrivate,
                                     bool varies, Operation *op) {
  if (!isPrivate && varies) {
    // Roles must come by equally often: in the same loops, at one place.
    if (contextKnown)
      key += " in " + contextKey;
    auto [it, inserted] = places.try_emplace(key, op);
    isPrivate = !contextKnown || (!inserted && it->second != op);
  }
  if (!isPrivate)
    return key;
  context.guess(op, "it depends on data that other roles do not see");
  return "private " + std::to_string(threads.first) + " " +
         std::to_string(reinterpret_cast<uintptr_t>(op));
}

void ProgramBuilder::emitIf(scf::IfOp branch) {
  const Symbol *condition = values.get(branch.getCondition());
  SmallVector<Block *> blocks = {branch.thenBlock()};
  if (branch.elseBlock())
    blocks.push_back(branch.elseBlock());
  auto yields = [](Block *block) {
    return block->getTerminator()->getOperands();
  };
  auto emitTaken = [&](bool taken) {
    Block *block = taken ? branch.thenBlock() : branch.elseBlock();
    if (!block)
      return;
    emitBlock(*block);
    for (auto [yield, result] :
         llvm::zip_equal(yields(block), branch.getResults()))
      if (getSymbolBits(result.getType()))
        values.bind(result, values.get(yield));
  };
  if (condition->isConstant())
    return emitTaken(condition->value != 0);

  // Which lanes?
  bool split = condition->onThread && lanes != LaneSet::One;
  LaneSet taking = lanes;
  const Symbol *which = lane;
  bool electsThen = false;
  if (split && !condition->onOpaque && !condition->onWalk) {
    unsigned total = 0, most = 0, warpsTaking = 0;
    for (unsigned warp = threads.first; warp <= threads.last; warp += 32) {
      unsigned taken = 0;
      for (unsigned thread = warp; thread < warp + 32; ++thread)
        taken +=
            evaluateForThread(condition, thread, thread == warp).value_or(0) !=
            0;
      total += taken;
      most = std::max(most, taken);
      warpsTaking += taken != 0;
    }
    if (total == threads.size())
      return emitTaken(true);
    if (total == 0)
      return emitTaken(false);
    electsThen = most == 1 && (total == 1 || warpsTaking == threads.warps());
    if (electsThen) {
      taking = total == 1 ? LaneSet::One : LaneSet::OnePerWarp;
      which = condition;
    }
  }
  if (split) {
    bool electing = electsThen && lanes == LaneSet::All;
    for (Block *block : blocks) {
      bool then = block == branch.thenBlock();
      if (then && electing) {
        LaneSet before = lanes;
        const Symbol *laneBefore = lane;
        lanes = taking;
        lane = which;
        values.setSingleLane(lanes == LaneSet::One);
        emitBlock(*block);
        lanes = before;
        lane = laneBefore;
        values.setSingleLane(lanes == LaneSet::One);
        continue;
      }
      // Some lanes touch memory: as if all did. They may not synchronise.
      if (Operation *first = findSynchronization(block))
        context.undecided(first, "lanes of one warp do not agree on a branch "
                                 "around it");
      emitBlock(*block);
    }
    for (Value result : branch.getResults())
      if (getSymbolBits(result.getType()))
        values.bind(result, values.unknown(result, false));
    return;
  }

  // Results that walk are chosen without a branch if nothing else is inside.
  if (!isRelevant(branch)) {
    for (Block *block : blocks)
      for (Operation &op : block->without_terminator())
        if (!op.getNumRegions())
          values.visit(&op);
    for (OpResult result : branch.getResults()) {
      unsigned bits = getSymbolBits(result.getType());
      if (!bits)
        continue;
      unsigned number = result.getResultNumber();
      values.bind(
          result,
          context.symbols.apply(
              Operator::Select, bits,
              {condition, values.get(yields(branch.thenBlock())[number]),
               values.get(yields(branch.elseBlock())[number])}));
    }
    return;
  }

  size_t head;
  bool knownBefore = contextKnown;
  std::string keyBefore = contextKey;
  if (!condition->onOpaque && !condition->onThread && !condition->onBase) {
    add(Event::Test, branch).expression = condition;
    head = program.events.size() - 1;
    contextKnown = false;
  } else {
    std::string key = continueLoop(branch);
    if (key.empty())
      key = shareKey(
          "if " + std::to_string(reinterpret_cast<uintptr_t>(condition)),
          condition->isPrivate || condition->onWalk || condition->onThread,
          condition->varies, branch);
    head = emitNext(branch, tripOf(key));
    contextKey += "/" + key;
  }
  emitBlock(*branch.thenBlock());
  assign(branch, branch.getResults(), symbolsOf(yields(branch.thenBlock())));
  size_t skip = program.events.size();
  add(Event::Jump, branch);
  program.events[head].target = program.events.size();
  if (Block *block = branch.elseBlock()) {
    emitBlock(*block);
    assign(branch, branch.getResults(), symbolsOf(yields(block)));
  }
  program.events[skip].target = program.events.size();
  contextKnown = knownBefore;
  contextKey = keyBefore;
}

/// Whether a value is compared with a constant in the loop, which its first
/// iteration may decide.
static bool comparesIteration(scf::ForOp loop) {
  return llvm::any_of(loop.getInductionVar().getUsers(), [](Operation *user) {
    return isa<arith::CmpIOp, LLVM::ICmpOp>(user);
  });
}

std::string ProgramBuilder::tripKey(const Symbol *lower, const Symbol *upper,
                                    const Symbol *step, StringRef predicate) {
  auto text = [](const Symbol *symbol) {
    return symbol->isConstant()
               ? std::to_string(symbol->value)
               : "s" + std::to_string(reinterpret_cast<uintptr_t>(symbol));
  };
  return text(lower) + " to " + text(upper) + " step " + text(step) + " " +
         predicate.str();
}

/// `if lower < upper` around a loop that starts one step later is the first
/// decision of the loop's trip count.
std::string ProgramBuilder::continueLoop(scf::IfOp branch) {
  Operation *compare = branch.getCondition().getDefiningOp();
  if (!isa_and_nonnull<arith::CmpIOp, LLVM::ICmpOp>(compare))
    return "";
  const Symbol *sides[2] = {values.get(compare->getOperand(0)),
                            values.get(compare->getOperand(1))};
  for (auto loop : branch.thenBlock()->getOps<scf::ForOp>()) {
    // Bounds are computed before the branch.
    auto defined = [&](Value value) {
      return value.getParentBlock() != branch.thenBlock() ||
             (value.getDefiningOp() &&
              matchPattern(value.getDefiningOp(), m_Constant()));
    };
    if (!defined(loop.getLowerBound()) || !defined(loop.getUpperBound()) ||
        !defined(loop.getStep()) || !isRelevant(loop))
      continue;
    APInt first, step;
    if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&first)) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)))
      continue;
    const Symbol *upper = values.get(loop.getUpperBound());
    const Symbol *lower = context.symbols.constant(
        (first - step).getZExtValue(), first.getBitWidth());
    bool matches = (sides[0] == lower && sides[1] == upper) ||
                   (sides[1] == lower && sides[0] == upper);
    if (!matches || upper->onThread || upper->onWalk)
      continue;
    std::string key = tripKey(
        lower, upper, context.symbols.constant(step.getZExtValue()), "signed");
    key = shareKey(key, upper->isPrivate, upper->varies, branch);
    continued[loop] = key;
    return key;
  }
  return "";
}

bool ProgramBuilder::isNonempty(const Symbol *lower, const Symbol *upper) {
  if (!lower->isConstant())
    return false;
  if (upper->low > lower->value && upper->high >> (upper->bits - 1) == 0)
    return true;
  auto it = context.minimum.find(upper);
  return it != context.minimum.end() && it->second > lower->value;
}

void ProgramBuilder::emitFor(scf::ForOp loop) {
  if (!isRelevant(loop)) {
    for (Value result : loop.getResults())
      if (getSymbolBits(result.getType()))
        values.bind(result, values.unknown(result, false));
    return;
  }
  const Symbol *lower = values.get(loop.getLowerBound());
  const Symbol *upper = values.get(loop.getUpperBound());
  const Symbol *step = values.get(loop.getStep());
  if (lower->onThread || upper->onThread || step->onThread) {
    context.undecided(loop, "lanes of one warp do not agree on the trip count");
    return;
  }
  unsigned bits = getSymbolBits(loop.getInductionVar().getType());
  assign(loop, loop.getRegionIterArgs(), symbolsOf(loop.getInits()));
  auto body = [&](const Symbol *iteration) {
    values.bind(loop.getInductionVar(), iteration);
    emitBlock(*loop.getBody());
    assign(loop, loop.getRegionIterArgs(), symbolsOf(loop.getYieldedValues()));
  };
  auto finish = [&] {
    for (auto [argument, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
      if (getSymbolBits(result.getType()))
        values.bind(result, values.get(argument));
  };
  bool constant = lower->isConstant() && upper->isConstant() &&
                  step->isConstant() && step->value;
  if (constant) {
    uint64_t count =
        upper->value > lower->value
            ? llvm::divideCeil(upper->value - lower->value, step->value)
            : 0;
    if (count <= kMaxUnrolled) {
      for (uint64_t i = 0; i < count; ++i)
        body(context.symbols.constant(lower->value + i * step->value, bits));
      return finish();
    }
    // Iterations that only touch memory: as if all were one. What one writes
    // the next may read.
    uint64_t last = lower->value + (count - 1) * step->value;
    bool walks = llvm::any_of(loop.getRegionIterArgs(), [&](Value argument) {
      return this->walks.contains(argument);
    });
    if (!walks && last >> (bits - 1) == 0 &&
        !findSynchronization(loop.getBody())) {
      const Symbol *all = context.symbols.opaque(
          "any of " + tripKey(lower, upper, step, "signed"), bits,
          /*isPrivate=*/true, /*varies=*/true, lower->value, last);
      size_t before = program.events.size();
      body(all);
      bool writes = std::any_of(
          program.events.begin() + before, program.events.end(),
          [](const Event &event) { return event.kind == Event::Write; });
      if (writes)
        body(all);
      return finish();
    }
  }
  std::string key;
  auto it = continued.find(loop);
  bool peels = lower->isConstant(0) && step->isConstant();
  bool peeled = false;
  if (it == continued.end() && peels && isNonempty(lower, upper)) {
    body(lower);
    lower = step;
    peels = false;
    peeled = true;
  }
  bool isPrivate = lower->isPrivate || upper->isPrivate || step->isPrivate ||
                   lower->onWalk || upper->onWalk || step->onWalk;
  bool varies = lower->varies || upper->varies || step->varies;
  key = it != continued.end()
            ? it->second
            : shareKey(tripKey(lower, upper, step,
                               loop.getUnsignedCmp() ? "unsigned" : "signed"),
                       isPrivate, varies, loop);
  int trip = tripOf(key);
  size_t early = 0;
  if (peels && comparesIteration(loop) && it == continued.end()) {
    early = emitNext(loop, trip);
    body(lower);
    lower = step;
    peeled = true;
  }
  bool knownBefore = contextKnown;
  std::string keyBefore = contextKey;
  // Iterations that are written apart are not those of another role's loop.
  contextKnown &= !peeled && it == continued.end();
  contextKey += "/" + key;
  size_t head = emitNext(loop, trip);
  uint64_t first = lower->isConstant() ? lower->value : 0;
  uint64_t last = ~uint64_t(0);
  if (constant && upper->value > first && upper->value >> (bits - 1) == 0)
    last = first + (upper->value - 1 - first) / step->value * step->value;
  body(context.symbols.opaque(
      "iteration of " + contextKey + (contextKnown ? "" : " elsewhere ") +
          std::to_string(first),
      bits, !contextKnown, /*varies=*/true, first, last));
  add(Event::Jump, loop).target = head;
  program.events[head].target = program.events.size();
  if (early)
    program.events[early].target = program.events.size();
  contextKnown = knownBefore;
  contextKey = keyBefore;
  finish();
}

/// A loop that waits by testing again and again.
static Operation *getTestedWait(scf::WhileOp loop) {
  if (loop.getNumOperands() || loop.getNumResults())
    return nullptr;
  Block *after = loop.getAfterBody();
  if (!llvm::hasSingleElement(*after))
    return nullptr;
  // condition(!test)
  Value condition = loop.getConditionOp().getCondition();
  Operation *negation = condition.getDefiningOp();
  if (!isa_and_nonnull<arith::XOrIOp, LLVM::XOrOp>(negation))
    return nullptr;
  for (unsigned i : {0, 1}) {
    APInt one;
    Operation *test = negation->getOperand(i).getDefiningOp();
    if (matchPattern(negation->getOperand(1 - i), m_ConstantInt(&one)) &&
        one.isOne() &&
        isa_and_nonnull<NVVM::MBarrierTryWaitOp, NVVM::MBarrierTestWaitOp>(
            test))
      return test;
  }
  return nullptr;
}

void ProgramBuilder::emitWhile(scf::WhileOp loop) {
  if (Operation *test = getTestedWait(loop)) {
    for (Operation &op : loop.getBeforeBody()->without_terminator())
      values.visit(&op);
    return emitWait(test, test->getOperand(0), test->getOperand(1));
  }
  if (!isRelevant(loop)) {
    for (Value result : loop.getResults())
      if (getSymbolBits(result.getType()))
        values.bind(result, values.unknown(result, false));
    return;
  }
  SmallVector<const Symbol *> inits = symbolsOf(loop.getInits());
  assign(loop, loop.getBeforeArguments(), inits);
  bool knownBefore = contextKnown;
  std::string keyBefore = contextKey;
  std::string key = context.messages.loops.lookup(loop);
  bool message = !key.empty();
  if (!message)
    key = countedLoopKey(loop, inits);
  for (Value argument : loop.getBeforeArguments())
    bindMessage(argument);
  contextKnown &= !key.empty();
  contextKey += "/" + key;
  size_t head = program.events.size();
  emitBlock(*loop.getBeforeBody());
  scf::ConditionOp condition = loop.getConditionOp();
  const Symbol *decision = values.get(condition.getCondition());
  SmallVector<const Symbol *> forwarded = symbolsOf(condition.getArgs());
  forward(condition, loop.getAfterArguments(), forwarded);
  if (!message && decision->onThread && lanes != LaneSet::One) {
    context.undecided(loop, "lanes of one warp do not agree on this loop");
    return;
  }
  size_t exit;
  if (decision->onWalk && !decision->onOpaque) {
    add(Event::Test, loop).expression = decision;
    exit = program.events.size() - 1;
  } else {
    if (key.empty())
      key = shareKey("while", /*isPrivate=*/true, true, loop);
    exit = emitNext(loop, tripOf(key));
  }
  emitBlock(*loop.getAfterBody());
  assign(loop, loop.getBeforeArguments(),
         symbolsOf(loop.getYieldOp().getOperands()));
  add(Event::Jump, loop).target = head;
  program.events[exit].target = program.events.size();
  contextKnown = knownBefore;
  contextKey = keyBefore;
  for (auto [argument, result] :
       llvm::zip_equal(loop.getAfterArguments(), loop.getResults()))
    if (unsigned bits = getSymbolBits(result.getType()))
      values.bind(result, walks.contains(argument)
                              ? context.symbols.walk(variableOf(argument), bits)
                              : values.unknown(result, true));
}
