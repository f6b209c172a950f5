//===- RecheckLaunches.cpp - Launches against what was proved -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of the manifest become expressions over the shapes of the inputs,
// its checks become assumptions. What a model expects of a launch is a claim
// about these, which the library of coverage decides.

#include "tracea/Target/Program/RecheckLaunches.h"

#include "tracea/Analysis/Coverage/Decide.h"
#include "tracea/Analysis/Coverage/IndexArithmetic.h"
#include "tracea/Target/Program/IndexCheck.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>

using namespace tracea::analysis;
namespace cov = tracea::coverage;
namespace rt = tracea::runtime;
using cov::Expr;
using cov::Term;

namespace {

/// The expressions of an entry, over the shapes of its inputs.
class EntryExprs {
public:
  explicit EntryExprs(const rt::EntrySpec &entry) : entry(entry) {
    for (const rt::CheckSpec &check : entry.checks)
      unite(check.expr);
    for (const rt::Expr &node : entry.exprs)
      values.push_back(translate(node));
    for (const rt::CheckSpec &check : entry.checks)
      assume(check.expr);
  }

  /// Invalid where it is none of sums, products, quotients and minima.
  Expr get(int64_t node) const { return values[node]; }
  /// An expression of a model, with its symbols replaced; invalid where one
  /// has no value.
  Expr transfer(const Expr &expr, const cov::Space &from,
                const std::map<Term, Expr> &symbols);

  cov::Space space;
  cov::IndexArithmetic math{space};
  std::vector<cov::Constraint> checks;

private:
  Expr translate(const rt::Expr &node);
  std::optional<cov::Constraint> getConstraint(const rt::Expr &node) const;
  Expr getTruth(int64_t node);
  void assume(int64_t node);
  void assumeMultiple(const rt::Expr &node);
  void unite(int64_t node);

  /// An input and an axis.
  using Dim = std::pair<int64_t, int64_t>;
  Dim getLeader(Dim dim) const {
    for (auto it = leaders.find(dim); it != leaders.end();
         it = leaders.find(dim))
      dim = it->second;
    return dim;
  }

  const rt::EntrySpec &entry;
  std::vector<Expr> values;
  /// One of the extents that checks find equal, which stands for all of them.
  std::map<Dim, Dim> leaders;
  std::map<Dim, Expr> dims;
  /// Of inputs that are integers.
  std::map<int64_t, Expr> numbers;
};

/// The launches of one kernel in one entry.
class Launches {
public:
  Launches(const rt::EntrySpec &entry, EntryExprs &exprs,
           const cov::Problem &model)
      : entry(entry), exprs(exprs), model(model) {}

  /// Nothing: the launch is as the model expects.
  std::string compare(const rt::StepSpec &step);
  bool isUndecided = false;

private:
  std::string readArguments(const rt::StepSpec &step);
  std::string addSize(const cov::Argument::Size &size, int64_t node,
                      const std::string &name);
  std::string compareGrid(const rt::StepSpec &step);
  std::string compareIndexLimit();
  void addRatio(const cov::Constraint &assumption);
  std::string prove(const cov::Constraint &constraint, const std::string &what);

  const rt::EntrySpec &entry;
  EntryExprs &exprs;
  const cov::Problem &model;
  /// What the symbols of the model are at this launch.
  std::map<Term, Expr> symbols;
  std::map<Term, int64_t> nodes;
};

} // namespace

//===----------------------------------------------------------------------===//
// EntryExprs
//===----------------------------------------------------------------------===//

Expr EntryExprs::translate(const rt::Expr &node) {
  auto at = [&](int64_t number) { return values[number]; };
  switch (node.op) {
  case rt::ExprOp::Const:
    return node.a;
  case rt::ExprOp::Dim: {
    Dim dim = getLeader({node.a, node.b});
    auto [place, inserted] = dims.try_emplace(dim, Expr());
    if (inserted)
      place->second = space.symbol("in" + std::to_string(dim.first) + "_" +
                                   std::to_string(dim.second));
    return place->second;
  }
  case rt::ExprOp::Value: {
    // Symbols are at least 0; a number that the run is given is any.
    auto [place, inserted] = numbers.try_emplace(node.a, Expr());
    if (inserted) {
      std::string name = "in" + std::to_string(node.a);
      place->second = Expr(space.symbol(name + "_above")) -
                      Expr(space.symbol(name + "_below"));
    }
    return place->second;
  }
  case rt::ExprOp::Add:
    return at(node.a) + at(node.b);
  case rt::ExprOp::Sub:
    return at(node.a) - at(node.b);
  case rt::ExprOp::Mul:
    return math.product(at(node.a), at(node.b));
  case rt::ExprOp::Min:
    return math.min(at(node.a), at(node.b));
  case rt::ExprOp::Max:
    return math.max(at(node.a), at(node.b));
  case rt::ExprOp::FloorDiv:
  case rt::ExprOp::CeilDiv:
  case rt::ExprOp::Mod: {
    // What divides is at least 1: the run stops at 0, and the library asks for
    // a proof where it matters.
    Expr divisor = at(node.b);
    if (node.op == rt::ExprOp::Mod)
      return math.mod(at(node.a), divisor);
    return node.op == rt::ExprOp::CeilDiv ? math.ceilDiv(at(node.a), divisor)
                                          : math.floorDiv(at(node.a), divisor);
  }
  case rt::ExprOp::Select: {
    // A quotient that is rounded towards zero asks for the sign of a size.
    std::optional<cov::Constraint> condition =
        getConstraint(entry.exprs[node.a]);
    if (!condition || condition->equality)
      break;
    if (math.isNonNegative(condition->expr))
      return at(node.b);
    if (math.isNonNegative(-condition->expr - 1))
      return at(node.c);
    break;
  }
  case rt::ExprOp::Eq:
  case rt::ExprOp::Ne:
  case rt::ExprOp::Lt:
  case rt::ExprOp::Le:
    break;
  }
  return Expr::invalid();
}

/// Extents that are equal, or a number, where a node is not zero.
void EntryExprs::unite(int64_t number) {
  const rt::Expr &node = entry.exprs[number];
  if (node.op == rt::ExprOp::Min) {
    unite(node.a);
    unite(node.b);
  }
  if (node.op != rt::ExprOp::Eq)
    return;
  const rt::Expr *a = &entry.exprs[node.a], *b = &entry.exprs[node.b];
  if (a->op == rt::ExprOp::Const)
    std::swap(a, b);
  if (a->op != rt::ExprOp::Dim)
    return;
  Dim first = getLeader({a->a, a->b});
  if (b->op == rt::ExprOp::Const) {
    dims.try_emplace(first, Expr(b->a));
  } else if (b->op == rt::ExprOp::Dim) {
    Dim second = getLeader({b->a, b->b});
    if (first == second || (dims.count(first) && dims.count(second)))
      return;
    if (dims.count(first))
      std::swap(first, second);
    leaders[first] = second;
  }
}

/// What a comparison says; nothing of a node that is none, or has an operand
/// that is no number of sizes.
std::optional<cov::Constraint>
EntryExprs::getConstraint(const rt::Expr &node) const {
  cov::Constraint constraint;
  switch (node.op) {
  case rt::ExprOp::Eq:
    constraint = cov::equal(values[node.a], values[node.b]);
    break;
  case rt::ExprOp::Le:
    constraint = cov::atMost(values[node.a], values[node.b]);
    break;
  case rt::ExprOp::Lt:
    constraint = cov::less(values[node.a], values[node.b]);
    break;
  default:
    return std::nullopt;
  }
  if (!constraint.expr.isValid())
    return std::nullopt;
  return constraint;
}

/// An expression that is at least 0 where a node is not zero; invalid where
/// that is not understood.
Expr EntryExprs::getTruth(int64_t number) {
  const rt::Expr &node = entry.exprs[number];
  if (node.op == rt::ExprOp::Const)
    return node.a != 0 ? 0 : -1;
  // Of truth values: both, and either.
  if (node.op == rt::ExprOp::Min || node.op == rt::ExprOp::Max) {
    Expr a = getTruth(node.a), b = getTruth(node.b);
    if (!a.isValid() || !b.isValid())
      return Expr::invalid();
    // What never holds is no alternative, and what always does no condition.
    bool isBoth = node.op == rt::ExprOp::Min;
    for (auto [one, other] : {std::pair(a, b), std::pair(b, a)}) {
      cov::IndexInterval interval = math.getInterval(one);
      if (isBoth ? interval.lower.value_or(-1) >= 0
                 : interval.upper.value_or(0) < 0)
        return other;
    }
    return isBoth ? math.min(a, b) : math.max(a, b);
  }
  std::optional<cov::Constraint> constraint = getConstraint(node);
  return constraint ? space.truth(*constraint) : Expr::invalid();
}

/// What holds where a node is not zero.
void EntryExprs::assume(int64_t number) {
  const rt::Expr &node = entry.exprs[number];
  if (node.op == rt::ExprOp::Min) {
    assume(node.a);
    assume(node.b);
    return;
  }
  if (node.op == rt::ExprOp::Max) {
    if (Expr truth = getTruth(number); truth.isValid())
      checks.push_back({truth, false});
    return;
  }
  if (std::optional<cov::Constraint> constraint = getConstraint(node)) {
    checks.push_back(*constraint);
    assumeMultiple(node);
  }
}

/// Where a mod max(y, 1) = 0 and y is at least 1 if a is, a is y times the
/// quotient: of a = 0 that is 0, whatever y is.
void EntryExprs::assumeMultiple(const rt::Expr &node) {
  auto at = [&](int64_t number) -> const rt::Expr & {
    return entry.exprs[number];
  };
  auto isConstant = [&](int64_t number, int64_t value) {
    return at(number).op == rt::ExprOp::Const && at(number).a == value;
  };
  if (node.op != rt::ExprOp::Eq || at(node.a).op != rt::ExprOp::Mod ||
      !isConstant(node.b, 0))
    return;
  const rt::Expr &rest = at(node.a), &most = at(rest.b);
  if (most.op != rt::ExprOp::Max || !isConstant(most.b, 1))
    return;
  Expr a = values[rest.a], y = values[most.a];
  if (math.isNonNegative(a) && math.isNonNegative(y) &&
      std::find(checks.begin(), checks.end(), cov::atMost(math.min(a, 1), y)) !=
          checks.end())
    checks.push_back(
        cov::equal(math.product(y, math.floorDiv(a, values[rest.b])), a));
}

Expr EntryExprs::transfer(const Expr &expr, const cov::Space &from,
                          const std::map<Term, Expr> &symbols) {
  return cov::transfer(expr, from, math, [&](Term term) -> std::optional<Expr> {
    auto found = symbols.find(term);
    if (found == symbols.end())
      return std::nullopt;
    return found->second;
  });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

std::string Launches::prove(const cov::Constraint &constraint,
                            const std::string &what) {
  std::string text = "expects " + what + ", which no check of the entry '" +
                     entry.name + "' says";
  if (!constraint.expr.isValid())
    return text;
  if (constraint.expr.isConstant())
    return (constraint.equality ? constraint.expr.constant() == 0
                                : constraint.expr.constant() >= 0)
               ? ""
               : text;
  // What a check says as it stands needs no proof, whatever is multiplied.
  for (const cov::Constraint &check : exprs.checks)
    if (check == constraint || (check.equality && constraint.equality &&
                                check.expr == -constraint.expr))
      return "";
  // Nor does what the intervals of sizes and quotients say.
  if (!constraint.equality && exprs.math.isNonNegative(constraint.expr))
    return "";
  cov::Problem problem;
  problem.space = exprs.space;
  problem.assumptions = exprs.checks;
  problem.claims = {{what, {}, {}, {constraint}, {}, {}}};
  cov::Result result = cov::decide(problem);
  if (result.verdict == cov::Verdict::Proved)
    return "";
  if (result.verdict == cov::Verdict::NotDecided) {
    isUndecided = true;
    return "whether " + what + " is not decided: " + result.reason;
  }
  return text;
}

std::string Launches::addSize(const cov::Argument::Size &size, int64_t node,
                              const std::string &name) {
  if (!size.value)
    return "";
  Expr given = exprs.get(node);
  std::string what = name + " to be " + model.space.str(*size.value);
  if (size.value->isConstant())
    return prove(cov::equal(given, *size.value), what);
  if (size.value->constant() != 0 || size.value->terms().size() != 1 ||
      size.value->terms().front().second != 1)
    return what + ": its model is none of sizes";
  Term symbol = size.value->terms().front().first;
  auto [place, inserted] = symbols.try_emplace(symbol, given);
  if (!inserted)
    return prove(cov::equal(given, place->second), what);
  nodes[symbol] = node;
  return "";
}

/// Whether a tensor map is of the memory of `view`, with its axes in any order.
static bool isMapOf(const rt::ViewSpec &map, const rt::ViewSpec &view) {
  auto axesOf = [](const rt::ViewSpec &of) {
    std::vector<std::pair<int64_t, int64_t>> axes;
    for (auto [size, stride] : llvm::zip_equal(of.sizes, of.strides))
      axes.push_back({size, stride});
    llvm::sort(axes);
    return axes;
  };
  return map.buffer == view.buffer && map.offset == view.offset &&
         map.type == view.type && axesOf(map) == axesOf(view);
}

std::string Launches::readArguments(const rt::StepSpec &step) {
  size_t next = 0;
  auto take = [&](bool isView) -> const rt::ArgSpec * {
    if (next == step.args.size())
      return nullptr;
    const rt::ArgSpec &arg = step.args[next];
    bool fits =
        isView
            ? arg.kind == rt::ArgKind::View || arg.kind == rt::ArgKind::Pointer
            : arg.kind == rt::ArgKind::Index || arg.kind == rt::ArgKind::Value;
    next += fits;
    return fits ? &arg : nullptr;
  };
  for (size_t number = 0; number < model.arguments.size(); ++number) {
    const cov::Argument &argument = model.arguments[number];
    bool isScalar = argument.kind == cov::Argument::Scalar;
    const rt::ArgSpec *arg = take(!isScalar);
    std::string name = "argument #" + std::to_string(number);
    if (!arg)
      return "expects " + std::string(isScalar ? "a number" : "a tensor") +
             " as " + name;
    if (isScalar) {
      if (arg->kind == rt::ArgKind::Value)
        for (const cov::Argument::Size &size : argument.sizes)
          if (size.value)
            return "expects " + name + " to be a number of sizes";
      for (const cov::Argument::Size &size : argument.sizes)
        if (std::string why = addSize(size, arg->index, name); !why.empty())
          return why;
      continue;
    }
    if (arg->view.sizes.size() != argument.sizes.size())
      return "expects " + name + " of rank " +
             std::to_string(argument.sizes.size());
    for (size_t dim = 0; dim < argument.sizes.size(); ++dim)
      if (std::string why =
              addSize(argument.sizes[dim], arg->view.sizes[dim],
                      "dimension " + std::to_string(dim) + " of " + name);
          !why.empty())
        return why;
    // Beside a pointer stand the sizes that the kernel does not know.
    for (size_t dim = 0;
         arg->kind == rt::ArgKind::Pointer && dim < argument.sizes.size();
         ++dim) {
      if (!argument.sizes[dim].isDynamic)
        continue;
      const rt::ArgSpec *size = take(/*isView=*/false);
      if (!size || size->kind != rt::ArgKind::Index ||
          size->index != arg->view.sizes[dim])
        return "expects dimension " + std::to_string(dim) + " of " + name +
               " behind it";
    }
  }
  size_t first = next;
  for (; next < step.args.size(); ++next) {
    const rt::ArgSpec &arg = step.args[next];
    if (arg.kind != rt::ArgKind::TensorMap)
      return "expects " + std::to_string(model.arguments.size()) + " arguments";
    auto isDescribed = [&](const rt::ArgSpec &other) {
      return other.kind == rt::ArgKind::Pointer &&
             isMapOf(arg.view, other.view);
    };
    if (llvm::none_of(step.args, isDescribed))
      return "expects tensor map #" + std::to_string(next - first) +
             " of one of its arguments, axis by axis";
  }
  return "";
}

std::string Launches::compareGrid(const rt::StepSpec &step) {
  if (model.grid.empty())
    return "";
  Expr product = 1;
  for (const Expr &extent : model.grid)
    product = exprs.math.product(product,
                                 exprs.transfer(extent, model.space, symbols));
  // Of kernels for one launch the first runs that can: the others have no
  // tiles.
  int64_t tiles = step.tiles;
  if (const rt::Expr &node = entry.exprs[tiles];
      node.op == rt::ExprOp::Select &&
      entry.exprs[node.c].op == rt::ExprOp::Const && entry.exprs[node.c].a == 0)
    tiles = node.b;
  if (std::string why = prove(cov::equal(exprs.get(tiles), product),
                              "as many tiles as its grid has");
      !why.empty())
    return why;
  // Workgroups along x alone.
  for (size_t axis = 0; axis < step.grid.size(); ++axis) {
    const rt::Expr &node = entry.exprs[step.grid[axis]];
    bool isRight = axis == 0 ? step.grid[axis] == step.tiles
                             : node.op == rt::ExprOp::Const && node.a == 1;
    if (!isRight)
      return "expects its grid along x";
  }
  return "";
}

std::string Launches::compareIndexLimit() {
  cov::IndexLimit limit = cov::indexLimit(model);
  if (limit.isImplied || !limit.reason.empty())
    return "";
  std::vector<rt::Expr> copy = entry.exprs;
  std::vector<mlir::tracea::IndexSummand> summands;
  for (const cov::IndexLimit::Summand &summand : limit.summands) {
    mlir::tracea::IndexSummand &made = summands.emplace_back();
    made.factor = summand.factor;
    for (Term size : summand.sizes) {
      auto node = nodes.find(size);
      if (node == nodes.end())
        return "expects a size of the launch as " + model.space.name(size);
      bool isInteger = std::find(model.integers.begin(), model.integers.end(),
                                 size) != model.integers.end();
      made.sizes.push_back({node->second, isInteger});
    }
  }
  int64_t check = mlir::tracea::buildIndexCheck(summands, copy);
  const rt::Expr &node = copy[check];
  bool isKnown = (node.op == rt::ExprOp::Const && node.a != 0) ||
                 std::any_of(entry.checks.begin(), entry.checks.end(),
                             [&](const rt::CheckSpec &spec) {
                               return spec.expr == check;
                             });
  return isKnown ? ""
                 : "expects a check that " + cov::describe(limit, model.space) +
                       " fits into 64 bits, which the entry '" + entry.name +
                       "' does not make";
}

/// A number that no argument brings is the ratio of two sizes that divide each
/// other: any number that keeps the assumptions will do, so that the quotient
/// is tried.
void Launches::addRatio(const cov::Constraint &assumption) {
  if (!assumption.equality)
    return;
  const cov::Space &from = model.space;
  for (const Expr::Summand &summand : assumption.expr.terms()) {
    Term term = summand.first;
    int64_t factor = summand.second;
    bool isProduct = from.kind(term) == cov::TermKind::Product;
    if (isProduct && from.factors(term).size() != 2)
      continue;
    Term name = term;
    Expr divisor = factor < 0 ? -factor : factor;
    if (isProduct) {
      name = from.factors(term)[0];
      Term other = from.factors(term)[1];
      if (symbols.count(name))
        std::swap(name, other);
      divisor =
          exprs.math.product(divisor, exprs.transfer(other, from, symbols));
    }
    if (from.kind(name) != cov::TermKind::Symbol || symbols.count(name))
      continue;
    Expr rest = assumption.expr - factor * Expr(term);
    Expr numerator = exprs.transfer(factor < 0 ? rest : -rest, from, symbols);
    if (!numerator.isValid() || !divisor.isValid())
      return;
    // Where the divisor may be 0, some check may have taken care of that.
    Expr quotient = exprs.math.floorDiv(numerator, exprs.math.max(divisor, 1));
    cov::Constraint multiple =
        cov::equal(exprs.math.product(divisor, quotient), numerator);
    bool isKnown = std::find(exprs.checks.begin(), exprs.checks.end(),
                             multiple) != exprs.checks.end();
    symbols[name] =
        isKnown ? quotient : exprs.math.floorDiv(numerator, divisor);
    return;
  }
}

std::string Launches::compare(const rt::StepSpec &step) {
  symbols.clear();
  nodes.clear();
  if (model.arguments.empty())
    return "has a model that does not say what its launches are like";
  if (std::string why = readArguments(step); !why.empty())
    return why;
  for (size_t i = model.numGranted; i < model.assumptions.size(); ++i) {
    const cov::Constraint &assumption = model.assumptions[i];
    addRatio(assumption);
    cov::Constraint here{exprs.transfer(assumption.expr, model.space, symbols),
                         assumption.equality};
    if (std::string why = prove(here, model.space.str(assumption));
        !why.empty())
      return why;
  }
  if (std::string why = compareGrid(step); !why.empty())
    return why;
  return compareIndexLimit();
}

//===----------------------------------------------------------------------===//
// What is read was written
//===----------------------------------------------------------------------===//

namespace {
/// Follows the steps of an entry.
class Memory {
public:
  Memory(const rt::EntrySpec &entry) : entry(entry) {
    for (const rt::BufferSpec &buffer : entry.buffers)
      isWritten.push_back(buffer.kind != rt::BufferKind::Temp ||
                          buffer.contents != rt::TempContents::Any);
    // An expression comes after those that it is made of.
    for (const rt::Expr &expr : entry.exprs)
      isZero.push_back(expr.op == rt::ExprOp::Mul
                           ? isZero[expr.a] || isZero[expr.b]
                           : expr.op == rt::ExprOp::Const && expr.a == 0);
  }

  /// What `step` does wrong. Of kernels without a model nothing is known.
  std::string run(const rt::StepSpec &step, const cov::Problem *model) {
    std::vector<int64_t> views;
    for (const rt::ArgSpec &arg : step.args)
      if (arg.kind == rt::ArgKind::View || arg.kind == rt::ArgKind::Pointer)
        views.push_back(arg.view.buffer);
    if (!model) {
      for (int64_t buffer : views)
        isWritten[buffer] = true;
      return "";
    }
    std::vector<int64_t> results;
    size_t next = 0;
    for (size_t number = 0; number < model->arguments.size(); ++number) {
      const cov::Argument &argument = model->arguments[number];
      if (argument.kind == cov::Argument::Scalar || next == views.size())
        continue;
      int64_t buffer = views[next++];
      std::string name = "argument #" + std::to_string(number);
      if (argument.kind == cov::Argument::Result) {
        if (entry.buffers[buffer].kind == rt::BufferKind::Constant)
          return "writes " + name + ", which is a constant";
        if (std::find(step.writes.begin(), step.writes.end(), buffer) ==
            step.writes.end())
          return "writes " + name + ", which its step does not say";
        results.push_back(buffer);
      } else if (!isWritten[buffer] && !isEmpty(buffer)) {
        return "reads " + name + ", which no step has written before";
      }
    }
    for (int64_t buffer : results)
      isWritten[buffer] = true;
    return "";
  }

  /// The same of a fill or copy.
  std::string move(const rt::StepSpec &step) {
    int64_t from = step.args.front().view.buffer,
            to = step.args.back().view.buffer;
    std::string why;
    if (step.kind == rt::StepKind::Copy && !isWritten[from] && !isEmpty(from))
      why = "copies buffer " + std::to_string(from) +
            ", which no step has written before";
    isWritten[to] = true;
    return why;
  }

  std::string finish() {
    for (size_t number = 0; number < entry.outputs.size(); ++number)
      if (int64_t buffer = entry.outputs[number].view.buffer;
          !isWritten[buffer] && !isEmpty(buffer))
        return "returns output " + std::to_string(number) +
               ", which no step has written";
    return "";
  }

private:
  bool isEmpty(int64_t buffer) const {
    return isZero[entry.buffers[buffer].bytes];
  }

  const rt::EntrySpec &entry;
  std::vector<bool> isWritten;
  /// Of expressions: one extent of 0 is enough, whatever the others are.
  std::vector<bool> isZero;
};
} // namespace

std::vector<LaunchRecheck>
tracea::analysis::recheckLaunches(const rt::Manifest &manifest) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::optional<cov::Problem>> models;
  for (const rt::KernelSpec &kernel : manifest.kernels) {
    std::optional<cov::Problem> &model = models.emplace_back();
    for (const rt::CertificateSpec &spec : kernel.certificates)
      if (spec.check == "coverage")
        if (auto read = cov::readModel(spec.model))
          model = std::move(*read);
  }
  std::vector<LaunchRecheck> rechecks;
  for (const rt::EntrySpec &entry : manifest.entries) {
    EntryExprs exprs(entry);
    Memory memory(entry);
    std::map<int64_t, size_t> places;
    std::map<int64_t, size_t> counts;
    auto refute = [&](const std::string &why) {
      rechecks.push_back({"-",
                          entry.name,
                          {RecheckVerdict::Refuted,
                           "the entry '" + entry.name + "' " + why, "", 0}});
    };
    for (const rt::StepSpec &step : entry.steps) {
      if (!step.isLaunch()) {
        if (std::string why = memory.move(step); !why.empty())
          refute(why);
        continue;
      }
      // Without tiles nothing runs: another kernel does all of the launch.
      if (const rt::Expr &tiles = entry.exprs[step.tiles];
          tiles.op == rt::ExprOp::Const && tiles.a == 0)
        continue;
      const std::optional<cov::Problem> &model = models[step.kernel];
      std::string reads = memory.run(step, model ? &*model : nullptr);
      if (!model)
        continue;
      auto [place, inserted] = places.try_emplace(step.kernel, rechecks.size());
      if (inserted)
        rechecks.push_back({manifest.kernels[step.kernel].name,
                            entry.name,
                            {RecheckVerdict::Confirmed, "", "", 0}});
      RecheckResult &result = rechecks[place->second].result;
      ++counts[step.kernel];
      if (result.verdict != RecheckVerdict::Confirmed)
        continue;
      Clock::time_point start = Clock::now();
      Launches launches(entry, exprs, *model);
      std::string why = reads.empty() ? launches.compare(step) : reads;
      if (!why.empty()) {
        result.verdict = launches.isUndecided ? RecheckVerdict::NotDecided
                                              : RecheckVerdict::Refuted;
        result.message = "a launch in the entry '" + entry.name + "': " + why;
      }
      result.milliseconds +=
          std::chrono::duration<double, std::milli>(Clock::now() - start)
              .count();
    }
    for (auto [kernel, place] : places)
      rechecks[place].result.figures =
          std::to_string(counts[kernel]) +
          (counts[kernel] == 1 ? " launch" : " launches");
    if (std::string why = memory.finish(); !why.empty())
      refute(why);
  }
  return rechecks;
}
