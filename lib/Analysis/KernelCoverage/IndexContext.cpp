//===- IndexContext.cpp - Where an operation runs -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

//===----------------------------------------------------------------------===//
// KernelIndices, Choices
//===----------------------------------------------------------------------===//

KernelIndices::KernelIndices(KernelOp kernel, cov::Space &space)
    : kernel(kernel), type(kernel.getFunctionType()), math(space),
      facts(getLaunchFacts(kernel)) {
  // What the host has checked of other sizes as well is left out.
  if (!facts.host)
    return;
  auto look = [&](const Expr &expr, bool isAsked) {
    bool isForeign = false;
    for (Term term : facts.host->variables(expr)) {
      bool isKnown = facts.symbols.count(term) || facts.values.count(term);
      isAsked |= isKnown;
      isForeign |= !isKnown;
    }
    facts.isComplete &= !(isAsked && isForeign);
  };
  for (const cov::Constraint &check : facts.checks)
    look(check.expr, false);
  for (auto &[number, size] : facts.computed)
    look(size, true);
}

Expr KernelIndices::getSize(unsigned argument, int64_t dim) {
  auto it = facts.classes.find({argument, dim});
  return it == facts.classes.end() ? Expr::invalid() : getClassSize(it->second);
}

Expr KernelIndices::getClassSize(unsigned number) {
  auto [size, inserted] = sizes.try_emplace(number, Expr());
  if (!inserted)
    return size->second;
  if (auto known = facts.constants.find(number); known != facts.constants.end())
    return size->second = known->second;
  auto first = llvm::find_if(
      facts.classes, [&](const auto &entry) { return entry.second == number; });
  auto [argument, dim] = first->first;
  // An integer may be negative; extents are not.
  bool isExtent = dim >= 0;
  std::string name =
      isExtent ? "dim" + std::to_string(argument) + "_" + std::to_string(dim)
               : "arg" + std::to_string(argument);
  Term symbol = math.space.symbol(
      name, isExtent ? cov::Range() : cov::Range::from(INT64_MIN / 4));
  names[symbol] = isExtent ? "dimension " + std::to_string(dim) +
                                 " of argument #" + std::to_string(argument)
                           : "argument #" + std::to_string(argument);
  symbolArguments[symbol] = argument;
  return size->second = symbol;
}

void KernelIndices::requireSize(const Expr &size) {
  if (math.getInterval(size).lower.value_or(0) < 1 &&
      !llvm::is_contained(required, cov::atLeast(size, 1)))
    required.push_back(cov::atLeast(size, 1));
}

void KernelIndices::requireDivisors(ArrayRef<Expr> exprs,
                                    SmallVectorImpl<cov::Constraint> &guard) {
  if (divisors.empty())
    return;
  const cov::Space &space = math.space;
  std::set<Term> seen;
  SmallVector<Expr> open(exprs);
  for (const cov::Constraint &constraint : guard)
    open.push_back(constraint.expr);
  SmallVector<Expr> found;
  while (!open.empty()) {
    Expr next = open.pop_back_val();
    for (auto [term, coefficient] : next.terms()) {
      if (!seen.insert(term).second || space.isVariable(term))
        continue;
      if (space.kind(term) == cov::TermKind::Product) {
        for (Term factor : space.factors(term))
          open.push_back(factor);
        continue;
      }
      open.push_back(space.operand(term, 0));
      open.push_back(space.operand(term, 1));
      if (space.kind(term) == cov::TermKind::Quotient)
        if (auto it = divisors.find(space.operand(term, 1));
            it != divisors.end())
          found.push_back(it->second - 1);
    }
  }
  for (const Expr &positive : found)
    math.require(positive, guard);
}

std::vector<cov::Constraint> KernelIndices::getAssumptions() {
  std::vector<cov::Constraint> result = required;
  if (!facts.host)
    return result;
  auto add = [&](const Expr &left, const Expr &right, bool equality) {
    // Only what is about a size that is asked for.
    bool isAsked = false, isForeign = false;
    auto replace = [&](Term term) -> std::optional<Expr> {
      if (auto value = facts.values.find(term); value != facts.values.end())
        return Expr(value->second);
      auto known = facts.symbols.find(term);
      if (known == facts.symbols.end()) {
        isForeign = true;
        return std::nullopt;
      }
      isAsked |= sizes.count(known->second) > 0;
      return getClassSize(known->second);
    };
    Expr difference = transfer(left, *facts.host, math, replace) - right;
    if (isForeign || !isAsked)
      return;
    if (!difference.isValid() || difference.isConstant() ||
        (!equality && math.isNonNegative(difference)))
      return;
    cov::Constraint constraint{difference, equality};
    if (!llvm::is_contained(result, constraint))
      result.push_back(constraint);
  };
  for (const cov::Constraint &check : facts.checks)
    add(check.expr, 0, check.equality);
  for (auto &[number, size] : facts.computed)
    if (sizes.count(number))
      add(size, getClassSize(number), true);
  return result;
}

unsigned Choices::choose(const void *key, unsigned count) {
  for (Choice &choice : stack)
    if (choice.key == key)
      return choice.current;
  stack.push_back({key, count, 0});
  return 0;
}

bool Choices::advance() {
  while (!stack.empty()) {
    if (++stack.back().current < stack.back().count)
      return true;
    stack.pop_back();
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

IndexContext::IndexContext(KernelIndices &kernel, Choices &choices,
                           bool forOutput,
                           const llvm::DenseSet<Operation *> &repeated)
    : kernel(kernel), math(kernel.math), choices(choices), forOutput(forOutput),
      repeated(repeated) {}

std::optional<Term> IndexContext::getSingleTerm(const Expr &expr) {
  if (!expr.isValid() || expr.constant() != 0 || expr.terms().size() != 1 ||
      expr.terms().front().second != 1)
    return std::nullopt;
  Term term = expr.terms().front().first;
  if (!math.space.isVariable(term) ||
      math.space.kind(term) == cov::TermKind::Symbol)
    return std::nullopt;
  return term;
}

void IndexContext::describe(Term term, Operation *owner, const Twine &words) {
  kernel.names[term] = words.str();
  kernel.owners[term] = owner;
}

Expr IndexContext::makeId(Operation *owner, const Twine &name,
                          const Twine &words, Expr extent,
                          SmallVectorImpl<Term> &ids) {
  if (math.getConstant(extent) == 1)
    return 0;
  Term id = math.space.id(name.str(), cov::Range(extent));
  describe(id, owner, words);
  ids.push_back(id);
  return id;
}

Expr IndexContext::getElement(Operation *op, unsigned group, int64_t dim,
                              Expr extent, StringRef name) {
  auto [it, inserted] = elements.try_emplace({op, group, dim}, Expr());
  if (inserted) {
    SmallVector<Term> ids;
    std::string words = name == "e"
                            ? ("element " + Twine(dim) + " of the tile").str()
                            : name.str();
    it->second = makeId(op, name == "e" ? name + Twine(dim) : Twine(name),
                        words, extent, ids);
  }
  return it->second;
}

IndexContext::Loop &IndexContext::enter(TilesOp tiles) {
  std::unique_ptr<Loop> &slot = loops[tiles];
  if (slot)
    return *slot;
  auto made = std::make_unique<Loop>();
  for (auto [number, index, bound] :
       llvm::enumerate(tiles.getIndices(), tiles.getBounds()))
    values[index] = makeId(tiles, "tile" + Twine(number),
                           "index " + Twine(number) + " of the tile",
                           get(bound), made->ids);
  return *(loops[tiles] = std::move(made));
}

IndexContext::Loop &IndexContext::enter(RoleOp role) {
  std::unique_ptr<Loop> &slot = loops[role];
  if (slot)
    return *slot;
  auto made = std::make_unique<Loop>();
  Expr team = makeId(role, "team", "the team",
                     static_cast<int64_t>(role.getCopies()), made->ids);
  for (BlockArgument argument : role.getBody().getArguments())
    values[argument] = team;
  return *(loops[role] = std::move(made));
}

/// The counter t >= 0 with lower + step * t < each of `uppers`. A bound in
/// sizes alone becomes the range, the others conditions.
static Expr getCounterRange(IndexArithmetic &math, const Expr &lower,
                            ArrayRef<Expr> uppers, int64_t step,
                            std::optional<Expr> &extent) {
  Expr chosen = Expr::invalid();
  for (const Expr &upper : uppers) {
    if (!math.space.isSymbolic(upper - lower))
      continue;
    Expr trips = math.ceilDiv(upper - lower, step);
    if (!extent ||
        (trips.isConstant() &&
         (!extent->isConstant() || trips.constant() < extent->constant()))) {
      extent = trips;
      chosen = upper;
    }
  }
  if (extent)
    return chosen;
  for (const Expr &upper : uppers) {
    IndexInterval interval = math.getInterval(upper - lower);
    if (!interval.upper || *interval.upper > INT64_MAX / 2)
      continue;
    Expr trips = math.ceilDiv(std::max<int64_t>(*interval.upper, 0), step);
    if (!extent || trips.constant() < extent->constant())
      extent = trips;
  }
  return Expr::invalid();
}

void IndexContext::enterStepped(scf::ForOp op, Loop &loop, Expr lower,
                                ArrayRef<Expr> uppers, int64_t step) {
  Value iv = op.getInductionVar();
  if (repeated.contains(op)) {
    Expr upper = get(op.getUpperBound());
    Expr trips = math.ceilDiv(upper - lower, step);
    if (math.space.isSymbolic(trips)) {
      repetitions.push_back({op, lower, upper, trips, std::nullopt});
      if (math.getConstant(trips) == 1) {
        values[iv] = lower;
        return;
      }
      Term symbol = math.space.symbol("iteration", cov::Range(trips));
      repetitions.back().symbol = symbol;
      describe(symbol, op, "iteration of the loop");
      values[iv] = lower + step * Expr(symbol);
      return;
    }
    // How often depends on what runs: the last time, if there is one.
    math.require(trips - 1, loop.guard);
    values[iv] = lower + step * (trips - 1);
    return;
  }
  std::optional<Expr> extent;
  Expr chosen = getCounterRange(math, lower, uppers, step, extent);
  Expr counter;
  if (extent) {
    counter = makeId(op, "loop", "iteration of the loop", *extent, loop.ids);
  } else {
    Term id = math.space.id("loop", cov::Range::from(0));
    describe(id, op, "iteration of the loop");
    loop.ids.push_back(id);
    counter = id;
  }
  values[iv] = lower + step * counter;
  for (const Expr &upper : uppers)
    if (upper != chosen)
      math.require(upper - lower - step * counter - 1, loop.guard);
}

void IndexContext::enterPersistent(scf::ForOp op, Loop &loop, Expr lower,
                                   ArrayRef<Expr> uppers, Expr step) {
  Value iv = op.getInductionVar();
  Term first = *getSingleTerm(lower);
  const cov::Range range = math.space.range(first);
  bool coversGrid = range.upper && *range.upper == step;
  // Of no workgroups none writes.
  if (coversGrid)
    kernel.requireSize(step);
  std::optional<Expr> extent;
  for (const Expr &upper : uppers)
    if (math.space.isSymbolic(upper) && (!extent || upper.isConstant()))
      extent = upper;
  if (!extent) {
    values[iv] = opaque(iv, "a loop whose end depends on the tile");
    loop.ids.push_back(*getSingleTerm(values[iv]));
    return;
  }
  std::string words = "the tile number of the loop";
  if (!forOutput) {
    values[iv] = makeId(op, "walk", words, *extent, loop.ids);
    if (std::optional<Term> id = getSingleTerm(values[iv]); id && !coversGrid)
      kernel.abstractions[*id] = "a loop whose step is not the grid's extent";
  } else {
    Term whole = math.space.coordinate("walk", cov::Range(*extent));
    Term turn = math.space.id("turn", cov::Range::from(0));
    describe(whole, op, words);
    describe(turn, op, "iteration of the loop");
    if (coversGrid) {
      stages.push_back(
          {"walk", cov::EuclidStage{cov::EuclidStage::Join, whole, turn, first,
                                    step, /*masked=*/true}});
    } else {
      Expr value = lower + math.product(step, turn);
      cov::Writer writer{"walk", {first, turn}, {}, {value}, {}};
      SmallVector<cov::Constraint> guard;
      math.require(*extent - 1 - value, guard);
      writer.guard.assign(guard.begin(), guard.end());
      stages.push_back({"walk", cov::AffineStage{{whole}, {writer}}});
    }
    consume(first);
    consume(turn);
    values[iv] = whole;
    loop.ids.push_back(whole);
  }
  for (const Expr &upper : uppers)
    if (upper != *extent)
      math.require(upper - 1 - values[iv], loop.guard);
}

IndexContext::Loop &IndexContext::enter(scf::ForOp op) {
  std::unique_ptr<Loop> &slot = loops[op];
  if (slot)
    return *slot;
  auto made = std::make_unique<Loop>();
  Expr lower = get(op.getLowerBound()), step = get(op.getStep());
  SmallVector<Expr> uppers = math.splitMinima(get(op.getUpperBound()));
  std::optional<int64_t> known = math.getConstant(step);
  std::optional<Term> first = getSingleTerm(lower);
  auto isGridIndex = [&](Term term) {
    auto it = loops.find(kernel.kernel.getTiles());
    return it != loops.end() && it->second &&
           llvm::is_contained(it->second->ids, term);
  };
  if (first && isGridIndex(*first) && !repeated.contains(op))
    enterPersistent(op, *made, lower, uppers, step);
  else if (known && *known >= 1)
    enterStepped(op, *made, lower, uppers, *known);
  else {
    values[op.getInductionVar()] =
        opaque(op.getInductionVar(), "a loop whose step is not constant");
    made->overestimate = "a loop around it has a step that is not constant";
  }
  return *(loops[op] = std::move(made));
}

IndexContext::Loop &IndexContext::enter(scf::ForallOp op) {
  std::unique_ptr<Loop> &slot = loops[op];
  if (slot)
    return *slot;
  auto made = std::make_unique<Loop>();
  for (auto [iv, lb, ub, stepSize] :
       llvm::zip(op.getInductionVars(), op.getMixedLowerBound(),
                 op.getMixedUpperBound(), op.getMixedStep())) {
    Expr lower = get(lb);
    std::optional<int64_t> step = math.getConstant(get(stepSize));
    if (!step || *step < 1) {
      values[iv] = opaque(iv, "a loop whose step is not constant");
      made->overestimate = "a loop around it has a step that is not constant";
      continue;
    }
    SmallVector<Expr> uppers = math.splitMinima(get(ub));
    std::optional<Expr> extent;
    Expr chosen = getCounterRange(math, lower, uppers, *step, extent);
    if (!extent) {
      values[iv] = opaque(iv, "a loop without a bound");
      made->overestimate = "a loop around it has no bound that is known";
      continue;
    }
    Expr counter =
        makeId(op, "thread", "iteration of the loop", *extent, made->ids);
    values[iv] = lower + *step * counter;
    for (const Expr &upper : uppers)
      if (upper != chosen)
        math.require(upper - lower - *step * counter - 1, made->guard);
  }
  return *(loops[op] = std::move(made));
}

IndexContext::LinalgLoops &IndexContext::enter(linalg::LinalgOp op) {
  std::unique_ptr<LinalgLoops> &slot = linalgLoops[op];
  if (slot)
    return *slot;
  auto made = std::make_unique<LinalgLoops>();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (unsigned number = 0; number < op.getNumLoops(); ++number) {
    // The first operand that the loop walks along gives its extent.
    Expr extent = Expr::invalid();
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = maps[operand.getOperandNumber()];
      std::optional<unsigned> position =
          map.getResultPosition(getAffineDimExpr(number, op.getContext()));
      if (!position || extent.isValid())
        continue;
      extent = getDim(operand.get(), *position);
    }
    SmallVector<Expr> uppers = math.splitMinima(extent);
    std::string words = "iteration " + std::to_string(number) + " of the loops";
    // A tile of symbolic extent, [P, min(P + D, n)): the place in the whole is
    // the variable, P a product of the tile's index.
    Expr start, whole = Expr::invalid();
    for (const Expr &upper : uppers) {
      Expr products;
      for (auto [term, coefficient] : upper.terms())
        if (math.space.kind(term) == cov::TermKind::Product)
          products += coefficient * Expr(term);
      if (products != Expr(0) && !math.space.isSymbolic(products) &&
          math.space.isSymbolic(upper - products)) {
        start = -products;
        whole = upper - products;
        break;
      }
    }
    if (!whole.isValid()) {
      std::optional<Expr> range;
      Expr chosen = getCounterRange(math, 0, uppers, 1, range);
      Expr counter;
      if (range) {
        counter = makeId(op, "i", words, *range, made->loop.ids);
      } else {
        made->loop.overestimate = "a loop of '" +
                                  op->getName().getStringRef().str() +
                                  "' has no bound that is known";
        counter = Expr::invalid();
      }
      for (const Expr &upper : uppers)
        if (upper != chosen)
          math.require(upper - counter - 1, made->loop.guard);
      made->counters.push_back(counter);
      continue;
    }
    Expr place = Expr::invalid();
    if (!forOutput) {
      place = makeId(op, "x", words, whole, made->loop.ids);
      math.require(place - start, made->loop.guard);
    } else {
      // start = g * D for an index g of the tile.
      for (const Expr &divisor : uppers) {
        if (!math.space.isSymbolic(divisor))
          continue;
        for (auto &[owner, outer] : loops)
          for (Term index :
               outer ? ArrayRef<Term>(outer->ids) : ArrayRef<Term>()) {
            if (place.isValid() || math.product(index, divisor) != start)
              continue;
            Term joined = math.space.coordinate("x", cov::Range(whole));
            Term inner = math.space.id("i", cov::Range(divisor));
            describe(joined, op, words);
            describe(inner, op, words);
            stages.push_back(
                {"tile", cov::EuclidStage{cov::EuclidStage::Join, joined, index,
                                          inner, divisor, /*masked=*/true}});
            consume(index);
            consume(inner);
            place = joined;
          }
        if (place.isValid())
          break;
      }
      if (std::optional<Term> joined = getSingleTerm(place))
        made->loop.ids.push_back(*joined);
    }
    Expr counter = place - start;
    made->counters.push_back(counter);
    if (forOutput)
      continue;
    for (const Expr &upper : uppers)
      if (upper != whole - start)
        math.require(upper - counter - 1, made->loop.guard);
  }
  return *(linalgLoops[op] = std::move(made));
}

ArrayRef<Expr> IndexContext::getLoops(linalg::LinalgOp op) {
  return enter(op).counters;
}

//===----------------------------------------------------------------------===//
// Conditions and scopes
//===----------------------------------------------------------------------===//

bool IndexContext::addCondition(Value condition, bool isTrue,
                                SmallVectorImpl<cov::Constraint> &guard) {
  if (matchPattern(condition, isTrue ? m_One() : m_Zero()))
    return true;
  if (matchPattern(condition, isTrue ? m_Zero() : m_One())) {
    guard.push_back({Expr(-1), false});
    return true;
  }
  Operation *op = condition.getDefiningOp();
  if (!op)
    return false;
  if (auto both = dyn_cast<arith::XOrIOp>(op)) {
    if (matchPattern(both.getRhs(), m_One()))
      return addCondition(both.getLhs(), !isTrue, guard);
    return false;
  }
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    // Both hold, or the first fails, or only the second.
    if (isa<arith::AndIOp>(op) == isTrue)
      return addCondition(lhs, isTrue, guard) &&
             addCondition(rhs, isTrue, guard);
    if (choices.choose(op, 2) == 0)
      return addCondition(lhs, isTrue, guard);
    return addCondition(lhs, !isTrue, guard) &&
           addCondition(rhs, isTrue, guard);
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !compare.getLhs().getType().isIntOrIndex())
    return false;
  Expr a = get(compare.getLhs()), b = get(compare.getRhs());
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!isTrue)
    predicate = arith::invertPredicate(predicate);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    math.requireZero(a - b, guard);
    return true;
  case arith::CmpIPredicate::ne:
    if (math.isNonNegative(a - b))
      math.require(a - b - 1, guard);
    else if (math.isNonNegative(b - a))
      math.require(b - a - 1, guard);
    else if (choices.choose(op, 2) == 0)
      math.require(a - b - 1, guard);
    else
      math.require(b - a - 1, guard);
    return true;
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ule:
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::uge:
    if (!math.isNonNegative(a) || !math.isNonNegative(b))
      return false;
    break;
  default:
    break;
  }
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    math.require(b - a - 1, guard);
    break;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    math.require(b - a, guard);
    break;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    math.require(a - b - 1, guard);
    break;
  default:
    math.require(a - b, guard);
    break;
  }
  return true;
}

IndexScope IndexContext::getScope(Operation *op) {
  SmallVector<Operation *> chain;
  for (Operation *next = op; next && !isa<KernelOp>(next);
       next = next->getParentOp())
    chain.push_back(next);
  IndexScope scope;
  auto append = [&](const Loop &loop) {
    scope.ids.append(loop.ids.begin(), loop.ids.end());
    for (const cov::Constraint &constraint : loop.guard)
      if (!llvm::is_contained(scope.guard, constraint))
        scope.guard.push_back(constraint);
    if (scope.overestimate.empty())
      scope.overestimate = loop.overestimate;
  };
  for (size_t i = chain.size(); i-- > 0;) {
    Operation *next = chain[i];
    if (next == op && !isa<linalg::LinalgOp>(op))
      break;
    llvm::TypeSwitch<Operation *>(next)
        .Case<TilesOp, RoleOp>([&](auto outer) { append(enter(outer)); })
        .Case<scf::ForOp, scf::ForallOp>([&](auto loop) {
          scope.loops.push_back(loop);
          append(enter(loop));
        })
        .Case([&](linalg::LinalgOp linalg) { append(enter(linalg).loop); })
        .Case([&](scf::IfOp branch) {
          Region *region = chain[i - 1]->getParentRegion();
          if (!addCondition(branch.getCondition(),
                            region == &branch.getThenRegion(), scope.guard) &&
              scope.overestimate.empty())
            scope.overestimate = "it runs under a condition on data";
        })
        .Case<RolesOp, scf::ExecuteRegionOp>([](auto) {})
        .Default([&](Operation *other) {
          if (scope.overestimate.empty())
            scope.overestimate = "it runs inside '" +
                                 other->getName().getStringRef().str() + "'";
        });
  }
  return scope;
}
