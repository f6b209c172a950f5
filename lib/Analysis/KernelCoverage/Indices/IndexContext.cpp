//===- IndexContext.cpp - What the loops around an operation count --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

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
static Expr getCounterRange(cov::IndexArithmetic &math, const Expr &lower,
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
    cov::IndexInterval interval = math.getInterval(upper - lower);
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
  Term first = *getSingleTerm(lower - lower.constant());
  const cov::Range range = math.space.range(first);
  bool coversGrid =
      lower.constant() == 0 && range.upper && *range.upper == step;
  // A grid of no workgroups would write nothing, so that the step has to be
  // positive.
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
      kernel.abstractions[*id] =
          "a loop that does not walk by the grid's extent";
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

arith::SelectOp mlir::tracea::getChosenEnd(Value end) {
  auto choice = end.getDefiningOp<arith::SelectOp>();
  return choice && matchPattern(choice.getFalseValue(), m_Zero())
             ? choice
             : arith::SelectOp();
}

IndexContext::Loop &IndexContext::enter(scf::ForOp op) {
  std::unique_ptr<Loop> &slot = loops[op];
  if (slot)
    return *slot;
  auto made = std::make_unique<Loop>();
  Expr lower = get(op.getLowerBound()), step = get(op.getStep());
  // An end that a condition makes 0: the loop runs where it holds.
  Value end = op.getUpperBound();
  auto choice = repeated.contains(op) ? arith::SelectOp() : getChosenEnd(end);
  if (choice && math.getConstant(lower).value_or(-1) >= 0) {
    end = choice.getTrueValue();
    if (!addCondition(choice.getCondition(), /*isTrue=*/true, made->guard))
      made->overestimate = "a loop around it runs under a condition on data";
  }
  SmallVector<Expr> uppers = math.splitMinima(get(end));
  std::optional<int64_t> known = math.getConstant(step);
  // Perhaps from a later tile than the first one.
  std::optional<Term> first;
  if (lower.isValid() && lower.constant() >= 0)
    first = getSingleTerm(lower - lower.constant());
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

/// Whether the least of `uppers` is that of `divisor` and of what is left of
/// the whole.
static bool isTileOf(cov::IndexArithmetic &math, ArrayRef<Expr> uppers,
                     const Expr &divisor, const Expr &left) {
  SmallVector<Expr> wanted = math.splitMinima(divisor);
  wanted.push_back(left);
  auto isIn = [](ArrayRef<Expr> all) {
    return [=](const Expr &one) { return llvm::is_contained(all, one); };
  };
  return llvm::all_of(uppers, isIn(wanted)) &&
         llvm::all_of(wanted, isIn(uppers));
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
      // start = g * D for an index g of the tile, and the tile has D places but
      // for the last ones.
      for (auto &[owner, outer] : loops)
        for (Term index :
             outer ? ArrayRef<Term>(outer->ids) : ArrayRef<Term>()) {
          Expr divisor = math.space.floorDiv(start, index);
          if (place.isValid() || !math.space.isSymbolic(divisor) ||
              !isTileOf(math, uppers, divisor, whole - start))
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
      if (std::optional<Term> joined = getSingleTerm(place))
        made->loop.ids.push_back(*joined);
      else
        made->loop.overestimate = "a loop of '" +
                                  op->getName().getStringRef().str() +
                                  "' is not as long as a tile";
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
