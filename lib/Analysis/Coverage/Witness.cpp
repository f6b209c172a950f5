//===- Witness.cpp - Whether a fault of one stage is one of the whole -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coordinates between stages have no box here: what runs is not stopped by a
// range that only the proof knows. With all sizes fixed, products and divisions
// by sizes are linear.

#include "Witness.h"
#include <algorithm>

using namespace tracea::coverage;

Witness::Witness(const Problem &problem, Prover &prover, const Point &sizes)
    : problem(problem), prover(prover), space(prover.space), sizes(sizes) {
  for (auto [symbol, value] : sizes)
    constants[symbol] = value;
}

/// The stage as writers; nothing of a raster or of lanes.
std::optional<AffineStage> Witness::asAffine(const Stage &stage) {
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind))
    return *affine;
  if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind))
    return toAffine(space, *euclid);
  return std::nullopt;
}

bool Witness::isInBox(const std::vector<Term> &terms, const Event &event) {
  for (Term term : terms) {
    const Range range = space.range(term);
    std::optional<int64_t> value = evaluate(term, event),
                           lower = evaluate(range.lower, event);
    if (!value || !lower || *value < *lower)
      return false;
    if (!range.upper)
      continue;
    std::optional<int64_t> upper = evaluate(*range.upper, event);
    if (!upper || *value >= *upper)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Forwards
//===----------------------------------------------------------------------===//

std::optional<Witness::Point> Witness::executeLanes(const LaneStage &stage,
                                                    const Point &values) {
  using namespace tracea::algebra;
  int64_t index[numLaneDims] = {};
  for (unsigned dim = 0; dim < numLaneDims; ++dim)
    if (stage.ids[dim]) {
      auto known = values.find(*stage.ids[dim]);
      if (known == values.end())
        return std::nullopt;
      index[dim] = known->second;
    }
  for (const LaneGuard &guard : stage.guard)
    if ((uint64_t(index[unsigned(guard.dim)]) & guard.mask) != guard.value)
      return std::nullopt;
  std::optional<TileCoord> tile =
      stage.map.coordinate(index[0], index[1], index[2], index[3]);
  if (!tile || tile->size() != stage.coordinates.size())
    return std::nullopt;
  Point made;
  for (size_t i = 0; i < tile->size(); ++i)
    made[stage.coordinates[i]] = (*tile)[i];
  return made;
}

/// What a stage makes of an event; nothing when it does not run for it, or for
/// a raster's number behind its last tile.
std::optional<Witness::Point> Witness::execute(size_t number,
                                               const Event &event) {
  const Stage &stage = problem.stages[number];
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind))
    return executeLanes(*lanes, event.values);
  if (const auto *raster = std::get_if<RasterStage>(&stage.kind)) {
    const Range rowRange = space.range(raster->row),
                columnRange = space.range(raster->column);
    std::optional<int64_t> linear = evaluate(raster->linear, event),
                           group = evaluate(raster->group, event), rows,
                           columns;
    if (rowRange.upper && columnRange.upper) {
      rows = evaluate(*rowRange.upper, event);
      columns = evaluate(*columnRange.upper, event);
    }
    int64_t all, perGroup;
    if (!linear || !group || !rows || !columns || *group < 1 ||
        __builtin_mul_overflow(*group, *columns, &perGroup) ||
        __builtin_mul_overflow(*rows, *columns, &all))
      return std::nullopt;
    if (*rows < 1 || *columns < 1 || *linear < 0 || *linear >= all) {
      pastRaster = raster->linear;
      return std::nullopt;
    }
    int64_t first = *linear / perGroup * *group, rest = *linear % perGroup;
    int64_t height = std::min(*group, *rows - first);
    return Point{{raster->row, first + rest % height},
                 {raster->column, rest / height}};
  }
  std::optional<AffineStage> affine = asAffine(stage);
  auto which = event.writers.find(number);
  if (!affine || which == event.writers.end() ||
      which->second >= int(affine->writers.size()))
    return std::nullopt;
  const Writer &writer = affine->writers[which->second];
  std::vector<Term> ids;
  for (Term id : writer.ids)
    if (space.kind(id) == TermKind::Id)
      ids.push_back(id);
  if (!isInBox(ids, event) || writer.map.size() != affine->coordinates.size())
    return std::nullopt;
  for (const Constraint &constraint : writer.guard)
    if (!space.holds(constraint, event.values).value_or(false))
      return std::nullopt;
  Point made;
  for (size_t i = 0; i < writer.map.size(); ++i) {
    std::optional<int64_t> value = evaluate(writer.map[i], event);
    if (!value)
      return std::nullopt;
    made[affine->coordinates[i]] = *value;
  }
  return made;
}

std::optional<std::map<Term, Expr>> Witness::copy(const std::vector<Term> &ids,
                                                  const Point &known) {
  std::map<Term, Expr> copies = constants;
  for (auto [term, value] : known)
    copies[term] = value;
  std::vector<Term> ordered = ids;
  std::sort(ordered.begin(), ordered.end());
  for (Term id : ordered) {
    if (copies.count(id))
      continue;
    Range range = Range::from(INT64_MIN / 4);
    if (space.kind(id) == TermKind::Id) {
      range = space.range(id);
      // Ranges name earlier variables.
      for (const Expr &end : {range.lower, range.upper.value_or(0)})
        for (Term variable : space.variables(end))
          if (!copies.count(variable))
            return std::nullopt;
      range.lower = space.substitute(range.lower, copies);
      if (range.upper)
        range.upper = space.substitute(*range.upper, copies);
    }
    copies[id] = space.id(space.name(id) + " of a witness", range);
  }
  return copies;
}

std::vector<Term> Witness::variablesOf(const std::map<Term, Expr> &copies,
                                       const std::vector<Term> &ids) {
  std::vector<Term> result;
  for (Term id : ids)
    if (const Expr &copy = copies.at(id); !copy.isConstant())
      result.push_back(copy.terms().front().first);
  return result;
}

/// Chooses what a stage lacks, and runs it.
bool Witness::lift(size_t number, int only, Event &event) {
  const Stage &stage = problem.stages[number];
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind)) {
    for (unsigned dim = 0; dim < algebra::numLaneDims; ++dim) {
      if (!lanes->ids[dim] || event.values.count(*lanes->ids[dim]))
        continue;
      int64_t index = 0;
      for (const LaneGuard &guard : lanes->guard)
        if (unsigned(guard.dim) == dim)
          index |= int64_t(guard.value);
      event.values[*lanes->ids[dim]] = index;
    }
  } else if (std::optional<AffineStage> affine = asAffine(stage)) {
    bool isLifted = false;
    for (size_t which = 0; which < affine->writers.size(); ++which) {
      if (isLifted || (only >= 0 && only != int(which)))
        continue;
      const Writer &writer = affine->writers[which];
      Point known;
      for (Term id : writer.ids)
        if (auto value = event.values.find(id); value != event.values.end())
          known.insert(*value);
      std::optional<std::map<Term, Expr>> copies = copy(writer.ids, known);
      if (!copies)
        continue;
      Constraints constraints;
      for (const Constraint &constraint : writer.guard)
        constraints.push_back(space.substitute(constraint, *copies));
      // What an earlier stage makes is chosen from its box.
      for (Term id : writer.ids)
        if (space.kind(id) == TermKind::Coordinate && !known.count(id))
          addRange(constraints, copies->at(id), Range(space.range(id)));
      for (Constraint &constraint : constraints)
        constraint = space.substitute(constraint, *copies);
      Point point;
      if (prover.findPoint(constraints, variablesOf(*copies, writer.ids),
                           point) != Prover::Found)
        continue;
      for (Term id : writer.ids)
        if (const Expr &at = copies->at(id); !at.isConstant())
          event.values[id] = point.at(at.terms().front().first);
      event.writers[number] = int(which);
      isLifted = true;
    }
    if (!isLifted)
      return false;
  }
  std::optional<Point> made = execute(number, event);
  if (made)
    event.values.insert(made->begin(), made->end());
  return made.has_value();
}

/// What else a stage makes is anything in its box.
bool Witness::completeOutputs(const Stage &stage, Event &event, bool &changed) {
  for (Term output : outputsOf(stage)) {
    if (event.values.count(output))
      continue;
    std::optional<int64_t> lower = evaluate(space.range(output).lower, event);
    if (!lower)
      return false;
    event.values[output] = *lower;
    changed = true;
    if (!isInBox({output}, event))
      return false;
  }
  return true;
}

/// The values that the finding names, of the stage that it is about.
bool Witness::start(const Finding &finding, Event &event, int &writer) {
  const Stage &stage = problem.stages[finding.stage];
  event.values = sizes;
  writer = finding.writer;
  if (const auto *raster = std::get_if<RasterStage>(&stage.kind)) {
    const Range linear = space.range(raster->linear),
                rows = space.range(raster->row),
                columns = space.range(raster->column);
    if (!linear.upper || !rows.upper || !columns.upper)
      return false;
    // The first number behind the ones there are, or behind the last tile.
    std::optional<int64_t> at =
        evaluate(finding.property == Property::Cover
                     ? *linear.upper
                     : space.product(*rows.upper, *columns.upper),
                 event);
    if (!at)
      return false;
    event.values[raster->linear] = *at;
    std::optional<Point> made = execute(size_t(finding.stage), event);
    if (finding.property != Property::Cover)
      return pastRaster.has_value();
    if (!made)
      return false;
    event.values.erase(raster->linear);
    event.values.insert(made->begin(), made->end());
    return true;
  }
  bool isElement = finding.property == Property::Cover;
  std::vector<Term> wanted = isElement ? outputsOf(stage) : inputsOf(stage);
  for (const auto &[name, value] : finding.point)
    if (std::optional<Term> term = problem.space.find(name);
        term && std::find(wanted.begin(), wanted.end(), *term) != wanted.end())
      event.values[*term] = value;
  if (!isElement)
    return lift(size_t(finding.stage), writer, event);
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](Term term) { return event.values.count(term) > 0; });
}

//===----------------------------------------------------------------------===//
// From end to end
//===----------------------------------------------------------------------===//

/// From the stage of the finding to what all stages make of it.
bool Witness::advance(size_t number, int writer, Event &event) {
  for (bool changed = true; changed && !pastRaster;) {
    changed = false;
    for (size_t next = 0; next < problem.stages.size() && !pastRaster; ++next) {
      const Stage &stage = problem.stages[next];
      auto isKnown = [&](Term term) { return event.values.count(term) > 0; };
      std::vector<Term> outputs = outputsOf(stage), inputs = inputsOf(stage);
      if (std::all_of(outputs.begin(), outputs.end(), isKnown))
        continue;
      if (std::any_of(outputs.begin(), outputs.end(), isKnown)) {
        if (!completeOutputs(stage, event, changed))
          return false;
      } else if (std::any_of(inputs.begin(), inputs.end(), isKnown)) {
        if (!lift(next, next == number ? writer : -1, event))
          return pastRaster.has_value();
        changed = true;
      }
    }
  }
  return true;
}

std::optional<Finding> Witness::confirm(const Finding &finding) {
  if (finding.stage < 0 || finding.stage >= int(problem.stages.size()) ||
      finding.property == Property::Claim)
    return std::nullopt;
  Event event;
  int writer = -1;
  if (!start(finding, event, writer) && !pastRaster)
    return std::nullopt;
  if (!pastRaster && !advance(size_t(finding.stage), writer, event))
    return std::nullopt;
  std::vector<Term> element;
  if (pastRaster) {
    element = {*pastRaster};
    pastRaster.reset();
  } else {
    for (Term output : problem.outputs)
      if (event.values.count(output))
        element.push_back(output);
  }
  if (element.empty())
    return std::nullopt;
  Event target;
  target.values = sizes;
  for (Term term : element)
    target.values[term] = event.values.at(term);
  trace(problem.stages.size(), target);

  Finding result = finding;
  auto say = [&](Property property, const char *message) {
    if (property != finding.property)
      result.message = message;
    result.property = property;
  };
  result.point.clear();
  result.otherPoint.clear();
  result.writer = result.otherWriter = -1;
  for (auto [symbol, value] : sizes)
    result.point.emplace_back(space.name(symbol), value);
  // The stage that makes the element; of a raster's number, the one it is for.
  for (size_t number = 0; number < problem.stages.size(); ++number) {
    std::vector<Term> made = outputsOf(problem.stages[number]);
    if (std::find(made.begin(), made.end(), element.front()) != made.end())
      result.stage = int(number);
  }
  if (events.empty()) {
    if (!isComplete || !isInBox(element, target))
      return std::nullopt;
    say(Property::Cover, "no writer writes this element");
    for (Term term : element)
      result.point.emplace_back(space.name(term), target.values[term]);
    for (const auto &entry : finding.point)
      if (std::none_of(result.point.begin(), result.point.end(),
                       [&](auto &named) { return named.first == entry.first; }))
        result.point.push_back(entry);
    return result;
  }
  bool isTwice = events.size() > 1;
  if (!isTwice && isInBox(element, target))
    return std::nullopt;
  say(isTwice ? Property::Unique : Property::Bounds,
      isTwice ? "one element is written twice"
              : "an element that there is not is written");
  // The ids, or those that differ, and what the last stage is given.
  std::vector<Term> inputs = inputsOf(problem.stages[result.stage]);
  const Event &first = events[0], &second = events[isTwice ? 1 : 0];
  for (auto [term, value] : first.values) {
    auto other = second.values.find(term);
    bool isInput =
        std::find(inputs.begin(), inputs.end(), term) != inputs.end();
    bool isId =
        space.kind(term) == TermKind::Id &&
        (!isTwice || other == second.values.end() || other->second != value);
    if (isInput || isId)
      result.point.emplace_back(space.name(term), value);
  }
  auto writerOf = [&](const Event &of) {
    auto which = of.writers.find(size_t(result.stage));
    return which == of.writers.end() ? 0 : which->second;
  };
  result.writer = writerOf(first);
  if (!isTwice)
    return result;
  result.otherWriter = writerOf(second);
  for (auto [term, value] : second.values) {
    auto other = first.values.find(term);
    bool isInput =
        std::find(inputs.begin(), inputs.end(), term) != inputs.end();
    bool isId = space.kind(term) == TermKind::Id &&
                (other == first.values.end() || other->second != value);
    if (isInput || isId)
      result.otherPoint.emplace_back(space.name(term), value);
  }
  return result;
}
