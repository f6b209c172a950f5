//===- WitnessOrigins.cpp - The events that write one element -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a stage makes back to all that makes it do so: integer points of
// its maps, the only tile of a raster, the locations of a lane map.

#include "Witness.h"
#include <algorithm>

using namespace tracea::coverage;

namespace {
/// Origins that one stage is asked for; two events decide.
constexpr size_t kMaxOrigins = 16;
/// Locations of a lane map that are tried.
constexpr int64_t kMaxLocations = int64_t(1) << 20;
} // namespace

/// All points, each once: what is left of one lies below or above of it in the
/// first variable where it differs.
bool Witness::solveAll(const Constraints &constraints,
                       const std::vector<Term> &ids,
                       std::vector<Point> &found) {
  if (found.size() >= kMaxOrigins)
    return false;
  Point point;
  switch (prover.findPoint(constraints, ids, point)) {
  case Prover::Empty:
    return true;
  case Prover::Unknown:
    return false;
  case Prover::Found:
    break;
  }
  found.push_back(point);
  Constraints rest = constraints;
  bool isAll = true;
  for (Term id : ids) {
    for (const Constraint &side :
         {less(id, point.at(id)), less(point.at(id), id)}) {
      rest.push_back(side);
      isAll &= solveAll(rest, ids, found);
      rest.pop_back();
    }
    rest.push_back(equal(id, point.at(id)));
  }
  return isAll;
}

/// The tile that lemma L3 gives.
bool Witness::findInRaster(const RasterStage &raster, const Event &event,
                           std::vector<Event> &origins) {
  const Range rowRange = space.range(raster.row),
              columnRange = space.range(raster.column);
  if (!columnRange.upper || !rowRange.upper)
    return false;
  std::optional<int64_t> row = evaluate(raster.row, event),
                         column = evaluate(raster.column, event),
                         group = evaluate(raster.group, event),
                         rows = evaluate(*rowRange.upper, event),
                         columns = evaluate(*columnRange.upper, event);
  if (!row || !column || !group || !rows || !columns || *group < 1)
    return false;
  if (*row < 0 || *row >= *rows || *column < 0 || *column >= *columns)
    return true;
  int64_t first = *row / *group * *group;
  int64_t height = std::min(*group, *rows - first), linear, above;
  if (__builtin_mul_overflow(first, *columns, &linear) ||
      __builtin_mul_overflow(*column, height, &above) ||
      __builtin_add_overflow(linear, above, &linear) ||
      __builtin_add_overflow(linear, *row - first, &linear))
    return false;
  Event origin = event;
  origin.values[raster.linear] = linear;
  if (space.kind(raster.linear) == TermKind::Coordinate ||
      isInBox({raster.linear}, origin))
    origins.push_back(std::move(origin));
  return true;
}

/// All locations are tried.
bool Witness::findInLanes(const LaneStage &lanes, const Event &event,
                          std::vector<Event> &origins) {
  const algebra::LaneMap &map = lanes.map;
  int64_t extents[] = {map.numRegisters(), map.numLanes(), map.numWarps(),
                       map.numBlocks()};
  int64_t total = 1;
  for (unsigned dim = 0; dim < algebra::numLaneDims; ++dim) {
    if (!lanes.ids[dim])
      extents[dim] = 1;
    if (__builtin_mul_overflow(total, extents[dim], &total) ||
        total > kMaxLocations)
      return false;
  }
  Event next = event;
  for (int64_t at = 0; at < total; ++at) {
    int64_t rest = at;
    for (unsigned dim = 0; dim < algebra::numLaneDims; ++dim) {
      if (lanes.ids[dim])
        next.values[*lanes.ids[dim]] = rest % extents[dim];
      rest /= extents[dim];
    }
    std::optional<Point> made = executeLanes(lanes, next.values);
    if (!made || !std::all_of(made->begin(), made->end(), [&](auto &entry) {
          return event.values.at(entry.first) == entry.second;
        }))
      continue;
    if (origins.size() >= kMaxOrigins)
      return false;
    origins.push_back(next);
  }
  return true;
}

bool Witness::findOfWriter(const AffineStage &affine, size_t which,
                           size_t number, const Event &event,
                           std::vector<Event> &origins) {
  const Writer &writer = affine.writers[which];
  std::optional<std::map<Term, Expr>> copies = copy(writer.ids, {});
  if (!copies || writer.map.size() != affine.coordinates.size())
    return false;
  Constraints constraints, boxes;
  for (const Constraint &constraint : writer.guard)
    constraints.push_back(space.substitute(constraint, *copies));
  for (size_t i = 0; i < writer.map.size(); ++i)
    constraints.push_back(equal(space.substitute(writer.map[i], *copies),
                                event.values.at(affine.coordinates[i])));
  // First what earlier stages should make, then all else, of which there may
  // be much.
  for (Term id : writer.ids) {
    if (space.kind(id) != TermKind::Coordinate)
      continue;
    Constraints range;
    addRange(range, copies->at(id), Range(space.range(id)));
    for (const Constraint &side : range)
      if (Constraint box = space.substitute(side, *copies); std::none_of(
              box.expr.terms().begin(), box.expr.terms().end(),
              [&](auto &summand) {
                return space.kind(summand.first) == TermKind::Coordinate;
              }))
        boxes.push_back(box);
  }
  std::vector<Term> ids = variablesOf(*copies, writer.ids);
  std::vector<Point> found;
  bool isAll = true;
  auto solve = [&](const Constraints &all) {
    std::vector<Point> points;
    isAll &= solveAll(all, ids, points);
    found.insert(found.end(), points.begin(), points.end());
  };
  Constraints inside = constraints;
  inside.insert(inside.end(), boxes.begin(), boxes.end());
  solve(inside);
  for (const Constraint &box : boxes) {
    Constraints outside = constraints;
    outside.push_back(negations(box).front());
    solve(outside);
    constraints.push_back(box);
  }
  for (const Point &point : found) {
    Event origin = event;
    for (Term id : writer.ids)
      if (const Expr &at = copies->at(id); !at.isConstant())
        origin.values[id] = point.at(at.terms().front().first);
    origin.writers[number] = int(which);
    origins.push_back(std::move(origin));
  }
  return isAll;
}

/// What makes a stage make what the event says; false if there may be more.
bool Witness::findOrigins(size_t number, const Event &event,
                          std::vector<Event> &origins) {
  const Stage &stage = problem.stages[number];
  if (const auto *raster = std::get_if<RasterStage>(&stage.kind))
    return findInRaster(*raster, event, origins);
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind))
    return findInLanes(*lanes, event, origins);
  std::optional<AffineStage> affine = asAffine(stage);
  bool isAll = affine.has_value();
  for (size_t which = 0; affine && which < affine->writers.size(); ++which)
    isAll &= findOfWriter(*affine, which, number, event, origins);
  return isAll;
}

/// Executes all stages that the event runs through.
bool Witness::isPossible(const Event &event) {
  for (size_t number = 0; number < problem.stages.size(); ++number) {
    std::vector<Term> outputs = outputsOf(problem.stages[number]);
    if (outputs.empty() || !event.values.count(outputs.front()))
      continue;
    std::optional<Point> made = execute(number, event);
    if (!made || !std::all_of(made->begin(), made->end(), [&](auto &entry) {
          auto known = event.values.find(entry.first);
          return known != event.values.end() && known->second == entry.second;
        }))
      return false;
  }
  return true;
}

void Witness::trace(size_t end, const Event &event) {
  if (events.size() > 1)
    return;
  for (; end > 0; --end) {
    std::vector<Term> outputs = outputsOf(problem.stages[end - 1]);
    size_t known =
        std::count_if(outputs.begin(), outputs.end(),
                      [&](Term term) { return event.values.count(term) > 0; });
    if (known == 0)
      continue;
    if (known < outputs.size()) {
      isComplete = false;
      return;
    }
    std::vector<Event> origins;
    isComplete &= findOrigins(end - 1, event, origins);
    for (const Event &origin : origins)
      trace(end - 1, origin);
    return;
  }
  if (isPossible(event))
    events.push_back(event);
  else
    isComplete = false;
}
