//===- Model.cpp - Problems as text ---------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Stages.h"
#include <algorithm>

using namespace tracea::coverage;
using tracea::algebra::LaneBases;
using tracea::algebra::LaneDim;
using tracea::algebra::laneDimName;
using tracea::algebra::numLaneDims;
using tracea::algebra::TileCoord;

namespace {
class Writing {
public:
  explicit Writing(const Problem &problem)
      : problem(problem), space(problem.space) {}
  std::string run();

private:
  void item(const std::string &words) { text += "; " + words; }
  std::string quote(const std::string &label) const {
    std::string result = "\"";
    for (char c : label)
      result += c < ' ' || c > '~' || c == '"' || c == '\\' ? '_' : c;
    return result + "\"";
  }
  template <typename T, typename Print>
  std::string list(const char *open, const std::vector<T> &elements,
                   const char *close, Print print) const {
    std::string result = open;
    for (const T &element : elements)
      result += (result.size() > 1 ? ", " : "") + print(element);
    return result + close;
  }
  std::string names(const std::vector<Term> &terms) const {
    return list("(", terms, ")", [&](Term term) { return space.name(term); });
  }
  std::string exprs(const std::vector<Expr> &all) const {
    return list("{", all, "}", [&](const Expr &e) { return space.str(e); });
  }
  std::string constraints(const std::vector<Constraint> &all) const {
    return list("{", all, "}",
                [&](const Constraint &c) { return space.str(c); });
  }
  std::string range(const Range &range) const {
    return "[" + space.str(range.lower) + ", " +
           (range.upper ? space.str(*range.upper) : "") + ")";
  }
  std::string numbers(const TileCoord &all) const {
    return list("(", all, ")", [](int64_t v) { return std::to_string(v); });
  }
  std::string describe(const Argument &argument) const {
    const char *kind = argument.kind == Argument::Result  ? "result "
                       : argument.kind == Argument::Input ? "input "
                                                          : "scalar ";
    return kind + list("(", argument.sizes, ")", [&](const Argument::Size &s) {
             return std::string(s.isDynamic ? "?" : "") +
                    (s.value ? space.str(*s.value) : "");
           });
  }
  void stage(const Stage &stage);

  const Problem &problem;
  const Space &space;
  std::string text = "coverage 1";
};
} // namespace

void Writing::stage(const Stage &stage) {
  std::string head = "stage " + quote(stage.name) + " ";
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind)) {
    item(head + "affine " + names(affine->coordinates));
    for (const Writer &writer : affine->writers)
      item("writer " + quote(writer.name) + " " + names(writer.ids) + " " +
           constraints(writer.guard) + " " + exprs(writer.map) + " " +
           exprs(writer.inverse));
  } else if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind)) {
    item(head + (euclid->direction == EuclidStage::Join ? "join " : "split ") +
         names({euclid->whole, euclid->quotient, euclid->remainder}) + " {" +
         space.str(euclid->divisor) + "}" + (euclid->masked ? " masked" : ""));
  } else if (const auto *raster = std::get_if<RasterStage>(&stage.kind)) {
    item(head + "raster " +
         names({raster->linear, raster->row, raster->column}) + " {" +
         space.str(raster->group) + "}");
  } else if (const auto *lanes = std::get_if<LaneStage>(&stage.kind)) {
    std::string words = head + "lanes " + names(lanes->coordinates) +
                        " shape " + numbers(lanes->map.linearShape()) +
                        " outer " + numbers(lanes->map.outer());
    for (unsigned dim = 0; dim < numLaneDims; ++dim) {
      std::vector<TileCoord> bases;
      for (unsigned bit = 0; bit < lanes->map.numBits(LaneDim(dim)); ++bit)
        bases.push_back(lanes->map.basis(LaneDim(dim), bit));
      if (lanes->ids[dim] || !bases.empty())
        words += std::string(" ") + laneDimName(LaneDim(dim)) + " " +
                 (lanes->ids[dim] ? space.name(*lanes->ids[dim]) : "_") + " " +
                 list("{", bases, "}",
                      [&](const TileCoord &v) { return numbers(v); });
    }
    for (const LaneGuard &guard : lanes->guard)
      words += std::string(" where ") + laneDimName(guard.dim) + " " +
               std::to_string(guard.mask) + " " + std::to_string(guard.value);
    item(words);
  }
}

std::string Writing::run() {
  for (uint32_t index = 0; index < space.size(); ++index) {
    if (!space.isVariable({index}))
      continue;
    const char *kind = space.kind({index}) == TermKind::Symbol ? "symbol "
                       : space.kind({index}) == TermKind::Id   ? "id "
                                                               : "coordinate ";
    item(kind + space.name({index}) + " " + range(space.range({index})));
  }
  for (const Argument &argument : problem.arguments)
    item("argument " + describe(argument));
  if (!problem.grid.empty())
    item("grid " + exprs(problem.grid));
  for (size_t i = 0; i < problem.assumptions.size(); ++i)
    item((i < problem.numGranted ? "granted " : "assume ") +
         space.str(problem.assumptions[i]));
  for (const Stage &s : problem.stages)
    stage(s);
  if (!problem.outputs.empty())
    item("outputs " + names(problem.outputs));
  for (const Access &access : problem.accesses)
    item("access " + quote(access.name) + " " + names(access.ids) + " " +
         constraints(access.guard) + " " + exprs(access.map) + " " +
         list("{", access.bounds, "}",
              [&](const Range &r) { return range(r); }));
  for (const Claim &claim : problem.claims)
    item("claim " + quote(claim.name) + " " + names(claim.forAll) + " " +
         constraints(claim.premises) + " " + constraints(claim.conclusions) +
         " " + names(claim.exists) + " " +
         list("{", claim.witnesses, "}",
              [&](const std::vector<Expr> &w) { return exprs(w); }));
  for (const Expr &value : problem.intermediates)
    item("value " + space.str(value));
  for (const std::vector<Term> &buffer : problem.buffers)
    item("buffer " + names(buffer));
  if (!problem.integers.empty())
    item("integers " + names(problem.integers));
  if (!problem.name.empty())
    item("name " + quote(problem.name));
  return text;
}

std::string tracea::coverage::writeModel(const Problem &problem) {
  return Writing(problem).run();
}

std::string tracea::coverage::describe(const Problem &problem) {
  const Space &space = problem.space;
  std::string text;
  auto append = [&](const std::string &part) {
    text += (text.empty() ? "" : "; ") + part;
  };
  if (!problem.stages.empty()) {
    std::string box;
    for (Term output : problem.outputs) {
      const Range &range = space.range(output);
      box += (box.empty() ? "" : " x ") + space.name(output) + " [" +
             space.str(range.lower) + ", " +
             (range.upper ? space.str(*range.upper) : "infinity") + ")";
    }
    append("every element of " + box + " is written exactly once");
  }
  auto count = [&](size_t number, const char *one, const char *many) {
    if (number)
      append(std::to_string(number) + (number == 1 ? one : many));
  };
  count(problem.accesses.size(), " access in bounds", " accesses in bounds");
  count(problem.claims.size(), " claim holds", " claims hold");
  if (text.empty())
    text = "nothing";
  std::string sizes;
  for (uint32_t index = 0; index < space.size(); ++index)
    if (space.kind({index}) == TermKind::Symbol)
      sizes += (sizes.empty() ? "" : ", ") + space.name({index});
  if (!sizes.empty()) {
    text += "; for all " + sizes;
    for (size_t i = 0; i < problem.assumptions.size(); ++i)
      text += (i ? ", " : " with ") + space.str(problem.assumptions[i]);
  }
  return text;
}
