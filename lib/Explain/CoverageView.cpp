//===- CoverageView.cpp - Who writes what, in words -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/CoverageView.h"
#include "ExprText.h"
#include "tracea/Explain/LaneView.h"

#include <algorithm>

using namespace tracea::explain;
using namespace tracea::coverage;

namespace {
/// Lines that are said once, with how often they hold.
class Counted {
public:
  void add(const std::string &line) {
    auto known = std::find_if(lines.begin(), lines.end(),
                              [&](auto &other) { return other.first == line; });
    if (known == lines.end())
      lines.emplace_back(line, 1);
    else
      ++known->second;
  }
  std::string text(const char *indent) const {
    std::string result;
    for (auto &[line, count] : lines)
      result += indent + line +
                (count > 1 ? " (" + std::to_string(count) + " times)" : "") +
                "\n";
    return result;
  }
  bool isEmpty() const { return lines.empty(); }

private:
  std::vector<std::pair<std::string, int>> lines;
};

class CoverageWords {
public:
  explicit CoverageWords(const Problem &problem)
      : problem(problem), space(problem.space), exprs(problem.space) {}

  std::string run();

private:
  std::string sizes();
  std::string legend();
  std::string boxOf(const std::vector<Term> &coordinates);
  std::string theorem();
  std::string undecided() const;
  std::string textOf(const Stage &stage);
  std::string conditions(const std::vector<Constraint> &guard) const;
  /// "for i in [0, 4), if i < M"
  std::string forAll(const std::vector<Term> &ids,
                     const std::vector<Constraint> &guard) const;
  void useAll(const std::vector<Term> &ids, const std::vector<Expr> &map,
              const std::vector<Constraint> &guard);
  void useWalk();

  const Problem &problem;
  const Space &space;
  ExprText exprs;
};
} // namespace

static bool startsWith(const std::string &text, const std::string &prefix) {
  return text.rfind(prefix, 0) == 0;
}

static std::vector<Term> madeBy(const Stage &stage) {
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind))
    return affine->coordinates;
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind))
    return lanes->coordinates;
  if (const auto *raster = std::get_if<RasterStage>(&stage.kind))
    return {raster->row, raster->column};
  const auto &euclid = std::get<EuclidStage>(stage.kind);
  if (euclid.direction == EuclidStage::Join)
    return {euclid.whole};
  return {euclid.quotient, euclid.remainder};
}

static const char notDecided[] = "not decided: ";
/// What counts ids that make no difference claims nothing.
static const char otherIds[] = "ids that no address names";

void CoverageWords::useAll(const std::vector<Term> &ids,
                           const std::vector<Expr> &map,
                           const std::vector<Constraint> &guard) {
  std::vector<Term> all = ids;
  auto add = [&](const Expr &expr) {
    if (!expr.isValid())
      return;
    std::vector<Term> variables = space.variables(expr);
    all.insert(all.end(), variables.begin(), variables.end());
  };
  for (const Expr &expr : map)
    add(expr);
  for (const Constraint &constraint : guard)
    add(constraint.expr);
  for (size_t i = 0; i < all.size(); ++i) {
    const Range &range = space.range(all[i]);
    for (const Expr &end : {range.lower, range.upper.value_or(Expr(0))})
      for (Term variable : space.variables(end))
        if (std::find(all.begin(), all.end(), variable) == all.end())
          all.push_back(variable);
  }
  exprs.use(all);
}

/// Stages that hand tiles over share names.
void CoverageWords::useWalk() {
  std::vector<Term> all;
  for (const Stage &stage : problem.stages) {
    if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind))
      for (Term term : {euclid->whole, euclid->quotient, euclid->remainder})
        all.push_back(term);
    if (const auto *raster = std::get_if<RasterStage>(&stage.kind))
      for (Term term : {raster->linear, raster->row, raster->column})
        all.push_back(term);
  }
  exprs.use(all);
}

std::string
CoverageWords::conditions(const std::vector<Constraint> &guard) const {
  std::string text;
  for (const Constraint &constraint : guard)
    text += (text.empty() ? "if " : " and ") + exprs.text(constraint);
  return text;
}

std::string CoverageWords::forAll(const std::vector<Term> &ids,
                                  const std::vector<Constraint> &guard) const {
  std::string text = ids.empty() ? "" : "for " + exprs.ranges(ids);
  std::string when = conditions(guard);
  return text + (text.empty() || when.empty() ? "" : ", ") + when;
}

std::string CoverageWords::sizes() {
  std::string names, limits;
  for (uint32_t index = 0; index < space.size(); ++index)
    if (space.kind({index}) == TermKind::Symbol) {
      names += (names.empty() ? "" : ", ") + space.name({index});
      if (const Range &range = space.range({index}); range.upper)
        limits += (limits.empty() ? " with " : ", ") + space.name({index}) +
                  " in " + exprs.text(range);
    }
  for (const Constraint &assumption : problem.assumptions)
    limits += (limits.empty() ? " with " : ", ") + exprs.text(assumption);
  return names.empty() ? "" : ", for all " + names + limits;
}

/// Lines that say which extent of which argument each name of a size stands
/// for.
std::string CoverageWords::legend() {
  std::string text;
  auto isNumber = [](const std::string &digits) {
    return !digits.empty() &&
           std::all_of(digits.begin(), digits.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  for (uint32_t index = 0; index < space.size(); ++index) {
    if (space.kind({index}) != TermKind::Symbol)
      continue;
    const std::string &name = space.name({index});
    size_t middle = name.find('_');
    std::string meaning;
    if (startsWith(name, "dim") && middle != std::string::npos &&
        isNumber(name.substr(3, middle - 3)) &&
        isNumber(name.substr(middle + 1)))
      meaning = "extent " + name.substr(middle + 1) + " of argument " +
                name.substr(3, middle - 3);
    else if (startsWith(name, "arg") && isNumber(name.substr(3)))
      meaning = "argument " + name.substr(3);
    else if (startsWith(name, "iteration"))
      meaning = "any iteration of a loop that writes all of it again";
    if (!meaning.empty())
      text += (text.empty() ? "  " : ", ") + name + " is " + meaning;
  }
  return text.empty() ? "" : text + "\n";
}

std::string CoverageWords::boxOf(const std::vector<Term> &coordinates) {
  std::string text;
  for (Term coordinate : coordinates)
    text += (text.empty() ? "" : " x ") + exprs.text(space.range(coordinate));
  return text;
}

/// Whether some terms of a sum are zero, since a window ends before them.
static bool hasBorder(const Stage &stage) {
  const auto *affine = std::get_if<AffineStage>(&stage.kind);
  return affine && std::any_of(affine->writers.begin(), affine->writers.end(),
                               [](const Writer &writer) {
                                 return writer.name == "border";
                               });
}

std::string CoverageWords::theorem() {
  Counted lines;
  for (const Stage &stage : problem.stages) {
    std::vector<Term> made;
    for (Term term : madeBy(stage))
      if (std::find(problem.outputs.begin(), problem.outputs.end(), term) !=
          problem.outputs.end())
        made.push_back(term);
    if (made.empty())
      continue;
    useAll(made, {}, {});
    std::string box = boxOf(made);
    if (startsWith(stage.name, "elements of "))
      lines.add("each element of " + stage.name.substr(12) + ", " + box +
                ", is written exactly once");
    else if (startsWith(stage.name, "terms along "))
      lines.add("each index " + box + " of a sum along " +
                stage.name.substr(12) + " is added exactly once");
    else if (startsWith(stage.name, "sum "))
      lines.add("each index " + box + " of the " + stage.name +
                (hasBorder(stage) ? ", is added exactly once or past a border"
                                  : ", is added exactly once"));
    else if (startsWith(stage.name, "slot "))
      lines.add("each element of a " + stage.name + ", " + box +
                ", is written exactly once");
    else
      lines.add("each " + exprs.names(made) + " of " + box +
                " is written exactly once");
  }
  if (size_t count = problem.accesses.size())
    lines.add(std::to_string(count) + (count == 1 ? " access is in bounds"
                                                  : " accesses are in bounds"));
  for (const Claim &claim : problem.claims)
    if (claim.name != otherIds && !startsWith(claim.name, notDecided))
      lines.add(claim.name);
  return lines.isEmpty() ? "  nothing\n" : lines.text("  ");
}

std::string CoverageWords::undecided() const {
  Counted lines;
  for (const Claim &claim : problem.claims)
    if (startsWith(claim.name, notDecided))
      lines.add(claim.name.substr(sizeof(notDecided) - 1));
  return lines.isEmpty() ? "" : "not decided\n" + lines.text("  ");
}

std::string CoverageWords::textOf(const Stage &stage) {
  std::string text = "  " + stage.name;
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind)) {
    text += "\n";
    for (const Writer &writer : affine->writers) {
      useAll(writer.ids, writer.map, writer.guard);
      text +=
          "    " + writer.name + " writes " + exprs.tuple(writer.map) + "\n";
      if (std::string when = forAll(writer.ids, writer.guard); !when.empty())
        text += "      " + when + "\n";
    }
    return text;
  }
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind)) {
    exprs.use(lanes->coordinates);
    return text + ": registers and lanes hold " +
           exprs.names(lanes->coordinates) + ", " + describeLanes(lanes->map) +
           "\n";
  }
  if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind)) {
    useWalk();
    std::string whole = exprs.name(euclid->whole),
                quotient = exprs.name(euclid->quotient),
                remainder = exprs.name(euclid->remainder);
    std::string divisor = exprs.inParentheses(euclid->divisor);
    bool joins = euclid->direction == EuclidStage::Join;
    return text + ": " +
           (joins ? whole + " = " + quotient + "*" + divisor + " + " + remainder
                  : quotient + " = " + whole + "/" + divisor + ", " +
                        remainder + " what is left") +
           "\n      for " +
           exprs.ranges(
               joins ? std::vector<Term>{euclid->quotient, euclid->remainder}
                     : std::vector<Term>{euclid->whole}) +
           (euclid->masked
                ? ", up to " + exprs.text(*space.range(euclid->whole).upper) +
                      " in all"
                : "") +
           "\n";
  }
  const auto &raster = std::get<RasterStage>(stage.kind);
  useWalk();
  return text + ": tile " + exprs.name(raster.linear) + " as " +
         exprs.names({raster.row, raster.column}) + " of " +
         boxOf({raster.row, raster.column}) +
         (raster.group == Expr(1) ? ", row by row\n"
                                  : ", by columns in groups of " +
                                        exprs.text(raster.group) + " rows\n");
}

std::string CoverageWords::run() {
  std::string text = "theorem" + sizes() + "\n" + theorem() + undecided();
  if (std::string names = legend(); !names.empty())
    text += "sizes\n" + names;
  if (!problem.stages.empty())
    text += "who writes what\n";
  for (const Stage &stage : problem.stages)
    text += textOf(stage);
  Counted accesses;
  for (const Access &access : problem.accesses) {
    useAll(access.ids, access.map, access.guard);
    std::string when = forAll(access.ids, access.guard);
    accesses.add(access.name + " at " + exprs.tuple(access.map) +
                 (when.empty() ? "" : "\n      " + when));
  }
  if (!accesses.isEmpty())
    text += "in bounds\n" + accesses.text("  ");
  return text;
}

std::string tracea::explain::coverageText(const Problem &problem) {
  return CoverageWords(problem).run();
}
