//===- RecheckLaunches.cpp - Launches against what was proved -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a model expects of a launch is a claim about the expressions of its
// entry, which the library of coverage decides under the entry's checks.

#include "tracea/Target/Program/RecheckLaunches.h"
#include "EntryExprs.h"

#include "tracea/Analysis/Coverage/Decide.h"
#include "tracea/Target/Program/IndexCheck.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>

using namespace tracea::analysis;
namespace cov = tracea::coverage;
namespace rt = tracea::runtime;
using cov::Expr;
using cov::Term;

namespace {

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
  std::string compareDivisors(const std::vector<rt::ArgSpec> &args,
                              size_t next);
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

/// Behind all others stands what lanes divide by: a multiplier and a shift of
/// one number each. Which number it is the model does not say, for its
/// divisions are plain.
std::string Launches::compareDivisors(const std::vector<rt::ArgSpec> &args,
                                      size_t next) {
  auto nodeOf = [&](size_t number, rt::ExprOp op) -> const rt::Expr * {
    if (number >= args.size() || args[number].kind != rt::ArgKind::Index)
      return nullptr;
    const rt::Expr &node = entry.exprs[args[number].index];
    return node.op == op ? &node : nullptr;
  };
  for (; next < args.size(); next += 2) {
    const rt::Expr *multiplier = nodeOf(next, rt::ExprOp::DivMultiplier);
    const rt::Expr *shift = nodeOf(next + 1, rt::ExprOp::DivShift);
    if (!multiplier || !shift || multiplier->a != shift->a)
      return "expects " + std::to_string(model.arguments.size()) +
             " arguments, and then a multiplier and a shift of each divisor";
  }
  return "";
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
    if (arg.kind == rt::ArgKind::Index)
      return compareDivisors(step.args, next);
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
                          buffer.contents == rt::TempContents::Zero ||
                          buffer.contents == rt::TempContents::Persistent);
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
