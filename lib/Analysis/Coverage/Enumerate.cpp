//===- Enumerate.cpp - Decides a problem of given sizes by counting -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs every event through the stages and counts who writes which element. It
// shares nothing with the proofs but the problem.

#include "Evaluator.h"
#include "tracea/Analysis/Coverage/Decide.h"
#include <algorithm>
#include <chrono>
#include <functional>

using namespace tracea::coverage;

namespace {
using Values = std::vector<int64_t>;
using Point = std::vector<std::pair<std::string, int64_t>>;

class Enumerator {
public:
  Enumerator(const Problem &problem, int64_t maxEvents)
      : problem(problem), space(problem.space), evaluator(space),
        values(space.size()), known(space.size()), maxEvents(maxEvents) {}

  Result run(const std::map<std::string, int64_t> &sizes);

private:
  using Body = std::function<void()>;

  bool setSizes(const std::map<std::string, int64_t> &sizes);
  void runStages(size_t number);
  void runAffine(const AffineStage &stage, size_t number);
  void runLanes(const LaneStage &stage, size_t number);
  void runEuclid(const EuclidStage &stage, size_t number);
  void runRaster(const RasterStage &stage, size_t number);
  void checkElements();
  void checkAccesses();
  void checkClaims();

  /// Runs the body for all values of the terms that have none yet.
  void forAll(std::vector<Term> terms, const std::vector<Constraint> &guard,
              const Body &body);
  bool makeValue(Term coordinate, int64_t value, size_t stage, int writer);
  std::optional<int64_t> endByGuard(Term term,
                                    const std::vector<Constraint> &guard);

  int64_t value(const Expr &expr) {
    std::optional<int64_t> result = evaluator.value(expr);
    if (!result)
      stop("a value does not fit into 64 bits");
    return result.value_or(0);
  }
  bool holds(const std::vector<Constraint> &constraints) {
    return std::all_of(constraints.begin(), constraints.end(),
                       [&](const Constraint &constraint) {
                         int64_t at = value(constraint.expr);
                         return constraint.equality ? at == 0 : at >= 0;
                       });
  }
  void set(Term term, int64_t v) {
    values[term.index] = v;
    known[term.index] = true;
    evaluator.set(term, v);
  }
  /// All variables that have a value and that the user named.
  Point point() const {
    Point result;
    for (uint32_t index = 0; index < space.size(); ++index)
      if (space.isVariable({index}) && known[index])
        result.emplace_back(space.name({index}), values[index]);
    return result;
  }
  void stop(std::string why) {
    if (result.reason.empty() && result.verdict != Verdict::Refuted)
      result.reason = std::move(why);
    stopped = true;
  }
  void refute(Finding finding) {
    if (!stopped) {
      result.verdict = Verdict::Refuted;
      result.finding = std::move(finding);
    }
    stopped = true;
  }

  const Problem &problem;
  const Space &space;
  Evaluator evaluator;
  Values values;
  std::vector<bool> known;
  int64_t maxEvents, steps = 0;
  bool stopped = false;
  std::map<Values, Point> written;
  Result result;
};
} // namespace

bool Enumerator::setSizes(const std::map<std::string, int64_t> &sizes) {
  for (uint32_t index = 0; index < space.size(); ++index) {
    if (space.kind({index}) != TermKind::Symbol)
      continue;
    auto found = sizes.find(space.name({index}));
    if (found == sizes.end()) {
      stop("no value for '" + space.name({index}) + "'");
      return false;
    }
    set({index}, found->second);
  }
  for (uint32_t index = 0; index < space.size(); ++index) {
    if (space.kind({index}) != TermKind::Symbol)
      continue;
    const Range &range = space.range({index});
    if (values[index] < value(range.lower) ||
        (range.upper && values[index] >= value(*range.upper))) {
      stop("'" + space.name({index}) + "' is out of its range");
      return false;
    }
  }
  if (!holds(problem.assumptions)) {
    stop("the sizes do not satisfy the assumptions");
    return false;
  }
  return !stopped;
}

/// The end of an id without one: a constraint of the guard that is linear in it
/// and falls.
std::optional<int64_t>
Enumerator::endByGuard(Term term, const std::vector<Constraint> &guard) {
  for (const Constraint &constraint : guard) {
    int64_t slope = constraint.expr.coefficient(term);
    if (slope >= 0)
      continue;
    Expr rest = constraint.expr - slope * Expr(term);
    std::vector<Term> variables = space.variables(rest);
    if (std::find(variables.begin(), variables.end(), term) != variables.end())
      continue;
    if (std::optional<int64_t> at = evaluator.value(rest))
      return *at < 0 ? 0 : *at / -slope + 1;
  }
  return std::nullopt;
}

void Enumerator::forAll(std::vector<Term> terms,
                        const std::vector<Constraint> &guard,
                        const Body &body) {
  if (stopped)
    return;
  if (terms.empty()) {
    if (++steps > maxEvents)
      return stop("more than " + std::to_string(maxEvents) + " events");
    if (holds(guard) && !stopped)
      body();
    return;
  }
  // Those without an end last: then the guard gives it.
  auto next = std::find_if(terms.begin(), terms.end(), [&](Term term) {
    return space.range(term).upper.has_value();
  });
  if (next == terms.end())
    next = terms.begin();
  Term term = *next;
  terms.erase(next);
  const Range &range = space.range(term);
  int64_t begin = value(range.lower);
  std::optional<int64_t> end;
  if (range.upper)
    end = value(*range.upper);
  else if (!(end = endByGuard(term, guard)))
    return stop("'" + space.name(term) + "' has no end");
  for (int64_t at = begin; at < *end && !stopped; ++at) {
    if (++steps > 4 * maxEvents)
      return stop("more than " + std::to_string(maxEvents) + " events");
    set(term, at);
    forAll(terms, guard, body);
  }
  known[term.index] = false;
}

bool Enumerator::makeValue(Term coordinate, int64_t at, size_t stage,
                           int writer) {
  set(coordinate, at);
  const Range &range = space.range(coordinate);
  if (at >= value(range.lower) && (!range.upper || at < value(*range.upper)))
    return true;
  Finding finding;
  finding.property = Property::Bounds;
  finding.stage = int(stage);
  finding.writer = writer;
  finding.message = "stage '" + problem.stages[stage].name + "': '" +
                    space.name(coordinate) + "' is out of bounds";
  finding.point = point();
  refute(std::move(finding));
  return false;
}

void Enumerator::runAffine(const AffineStage &stage, size_t number) {
  for (size_t which = 0; which < stage.writers.size(); ++which) {
    const Writer &writer = stage.writers[which];
    std::vector<Term> open;
    for (Term id : writer.ids)
      if (!known[id.index])
        open.push_back(id);
    forAll(open, writer.guard, [&] {
      Values at;
      for (const Expr &expr : writer.map)
        at.push_back(value(expr));
      for (size_t i = 0; i < at.size(); ++i)
        set(stage.coordinates[i], at[i]);
      for (size_t i = 0; i < at.size() && !stopped; ++i)
        makeValue(stage.coordinates[i], at[i], number, int(which));
      runStages(number + 1);
      for (Term coordinate : stage.coordinates)
        known[coordinate.index] = false;
    });
  }
}

void Enumerator::runLanes(const LaneStage &stage, size_t number) {
  std::vector<Term> open;
  for (const std::optional<Term> &id : stage.ids)
    if (id && !known[id->index])
      open.push_back(*id);
  forAll(open, {}, [&] {
    int64_t index[tracea::algebra::numLaneDims] = {};
    for (unsigned dim = 0; dim < tracea::algebra::numLaneDims; ++dim)
      if (stage.ids[dim])
        index[dim] = values[stage.ids[dim]->index];
    for (const LaneGuard &guard : stage.guard)
      if ((uint64_t(index[unsigned(guard.dim)]) & guard.mask) != guard.value)
        return;
    std::optional<tracea::algebra::TileCoord> tile =
        stage.map.coordinate(index[0], index[1], index[2], index[3]);
    if (!tile || tile->size() != stage.coordinates.size())
      return stop("a location is not in the lane map");
    for (size_t i = 0; i < tile->size() && !stopped; ++i)
      makeValue(stage.coordinates[i], (*tile)[i], number, 0);
    runStages(number + 1);
    for (Term coordinate : stage.coordinates)
      known[coordinate.index] = false;
  });
}

void Enumerator::runEuclid(const EuclidStage &stage, size_t number) {
  int64_t divisor = value(stage.divisor);
  if (divisor < 1)
    return stop("a divisor is below 1");
  std::vector<Term> open;
  if (stage.direction == EuclidStage::Split) {
    if (!known[stage.whole.index])
      open.push_back(stage.whole);
    return forAll(open, {}, [&] {
      int64_t whole = values[stage.whole.index];
      int64_t quotient = whole / divisor - (whole % divisor < 0 ? 1 : 0);
      if (makeValue(stage.quotient, quotient, number, 0) &&
          makeValue(stage.remainder, whole - quotient * divisor, number, 0))
        runStages(number + 1);
      known[stage.quotient.index] = known[stage.remainder.index] = false;
    });
  }
  for (Term term : {stage.remainder, stage.quotient})
    if (!known[term.index])
      open.push_back(term);
  std::vector<Constraint> guard;
  const Range &range = space.range(stage.whole);
  // The divisor has a value here.
  Expr whole = divisor * Expr(stage.quotient) + Expr(stage.remainder);
  if (stage.masked && range.upper)
    guard.push_back(less(whole, *range.upper));
  forAll(open, guard, [&] {
    if (makeValue(stage.whole, value(whole), number, 0))
      runStages(number + 1);
    known[stage.whole.index] = false;
  });
}

void Enumerator::runRaster(const RasterStage &stage, size_t number) {
  const Range &rowRange = space.range(stage.row),
              &columnRange = space.range(stage.column);
  if (!rowRange.upper || !columnRange.upper)
    return stop("a raster without an end");
  int64_t rows = value(*rowRange.upper), columns = value(*columnRange.upper),
          group = value(stage.group);
  std::vector<Term> open;
  if (!known[stage.linear.index])
    open.push_back(stage.linear);
  forAll(open, {}, [&] {
    int64_t perGroup, linear = values[stage.linear.index];
    if (group < 1 || __builtin_mul_overflow(group, columns, &perGroup))
      return stop("a raster's group is below 1 or too large");
    // Nothing is behind the last tile.
    if (columns < 1 || linear < 0 || linear / perGroup * group >= rows) {
      makeValue(stage.row, rows, number, 0);
      return;
    }
    int64_t first = linear / perGroup * group, rest = linear % perGroup;
    int64_t height = std::min(group, rows - first);
    if (makeValue(stage.row, first + rest % height, number, 0) &&
        makeValue(stage.column, rest / height, number, 0))
      runStages(number + 1);
    known[stage.row.index] = known[stage.column.index] = false;
  });
}

void Enumerator::runStages(size_t number) {
  if (stopped)
    return;
  if (number < problem.stages.size()) {
    const auto &kind = problem.stages[number].kind;
    if (const auto *affine = std::get_if<AffineStage>(&kind))
      runAffine(*affine, number);
    else if (const auto *lanes = std::get_if<LaneStage>(&kind))
      runLanes(*lanes, number);
    else if (const auto *euclid = std::get_if<EuclidStage>(&kind))
      runEuclid(*euclid, number);
    else
      runRaster(std::get<RasterStage>(kind), number);
    return;
  }
  Values element;
  for (Term output : problem.outputs)
    element.push_back(values[output.index]);
  auto [place, isNew] = written.try_emplace(element, point());
  if (isNew)
    return;
  Finding finding;
  finding.property = Property::Unique;
  finding.message = "one element is written twice";
  finding.point = place->second;
  finding.otherPoint = point();
  finding.otherWriter = 0;
  refute(std::move(finding));
}

void Enumerator::checkElements() {
  forAll(problem.outputs, {}, [&] {
    Values element;
    for (Term output : problem.outputs)
      element.push_back(values[output.index]);
    if (written.count(element))
      return;
    Finding finding;
    finding.property = Property::Cover;
    finding.message = "no event writes this element";
    finding.point = point();
    refute(std::move(finding));
  });
}

void Enumerator::checkAccesses() {
  for (size_t number = 0; number < problem.accesses.size(); ++number) {
    const Access &access = problem.accesses[number];
    if (access.map.size() != access.bounds.size())
      return stop("access '" + access.name + "': indices and bounds differ");
    forAll(access.ids, access.guard, [&] {
      for (size_t i = 0; i < access.map.size(); ++i) {
        int64_t at = value(access.map[i]);
        const Range &range = access.bounds[i];
        if (at >= value(range.lower) &&
            (!range.upper || at < value(*range.upper)))
          continue;
        Finding finding;
        finding.property = Property::Bounds;
        finding.access = int(number);
        finding.message = "access '" + access.name + "': index " +
                          std::to_string(i) + " is " + std::to_string(at);
        finding.point = point();
        refute(std::move(finding));
      }
    });
  }
}

void Enumerator::checkClaims() {
  for (size_t number = 0; number < problem.claims.size(); ++number) {
    const Claim &claim = problem.claims[number];
    forAll(claim.forAll, claim.premises, [&] {
      bool found = false;
      Point at = point();
      forAll(claim.exists, claim.conclusions, [&] { found = true; });
      if (found || stopped)
        return;
      Finding finding;
      finding.property = Property::Claim;
      finding.claim = int(number);
      finding.message = "claim '" + claim.name + "' does not hold";
      finding.point = std::move(at);
      refute(std::move(finding));
    });
  }
}

Result Enumerator::run(const std::map<std::string, int64_t> &sizes) {
  auto start = std::chrono::steady_clock::now();
  if (setSizes(sizes)) {
    if (!problem.stages.empty()) {
      runStages(0);
      if (!stopped)
        checkElements();
    }
    if (!stopped)
      checkAccesses();
    if (!stopped)
      checkClaims();
  }
  if (!stopped)
    result.verdict = Verdict::Proved;
  result.statistics.queries = steps;
  result.statistics.milliseconds = std::chrono::duration<double, std::milli>(
                                       std::chrono::steady_clock::now() - start)
                                       .count();
  return result;
}

Result tracea::coverage::enumerate(const Problem &problem,
                                   const std::map<std::string, int64_t> &sizes,
                                   int64_t maxEvents) {
  return Enumerator(problem, maxEvents).run(sizes);
}
