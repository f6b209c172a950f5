//===- Witness.h - Whether a fault of one stage is one of the whole -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage may claim more than the kernel needs. Here one element of the
// outputs, into which a counterexample runs, is followed back through all
// stages at given sizes: each event that writes it is found, and no other. The
// events found are executed; that there are no more is emptiness once again.
// Grids may be as large as they like.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_ANALYSIS_COVERAGE_WITNESS_H
#define TRACEA_LIB_ANALYSIS_COVERAGE_WITNESS_H

#include "Stages.h"

namespace tracea::coverage {

class Witness {
public:
  using Point = LinearSystem::Point;

  /// At `sizes`, which give all symbols a value.
  Witness(const Problem &problem, Prover &prover, const Point &sizes);

  /// The fault from end to end, if the counterexample of a stage (by number)
  /// leads to one: an element that no event writes, that two write, or that is
  /// none of the outputs.
  std::optional<Finding> confirm(const Finding &finding);

private:
  /// Values along the way of one element, and who writes in which stage.
  struct Event {
    Point values;
    std::map<size_t, int> writers;
  };
  bool start(const Finding &finding, Event &event, int &writer);
  bool advance(size_t number, int writer, Event &event);
  bool lift(size_t number, int writer, Event &event);
  std::optional<Point> execute(size_t number, const Event &event);
  static std::optional<Point> executeLanes(const LaneStage &stage,
                                           const Point &values);
  bool isPossible(const Event &event);
  void trace(size_t end, const Event &event);
  bool findOrigins(size_t number, const Event &event,
                   std::vector<Event> &origins);
  bool findInRaster(const RasterStage &raster, const Event &event,
                    std::vector<Event> &origins);
  static bool findInLanes(const LaneStage &lanes, const Event &event,
                          std::vector<Event> &origins);
  bool findOfWriter(const AffineStage &affine, size_t which, size_t number,
                    const Event &event, std::vector<Event> &origins);
  bool solveAll(const Constraints &constraints, const std::vector<Term> &ids,
                std::vector<Point> &found);
  bool completeOutputs(const Stage &stage, Event &event, bool &changed);
  bool isInBox(const std::vector<Term> &terms, const Event &event);
  std::optional<AffineStage> asAffine(const Stage &stage);
  /// Symbols and what is known as numbers, other ids as copies whose ranges
  /// name no symbols; those of coordinates have no end.
  std::optional<std::map<Term, Expr>> copy(const std::vector<Term> &ids,
                                           const Point &known);
  /// The copies of some ids, in their order.
  static std::vector<Term> variablesOf(const std::map<Term, Expr> &copies,
                                       const std::vector<Term> &ids);
  std::optional<int64_t> evaluate(const Expr &expr, const Event &event) {
    return space.evaluate(expr, event.values);
  }

  const Problem &problem;
  Prover &prover;
  Space &space;
  Point sizes;
  std::map<Term, Expr> constants;
  /// The raster that was given a number behind its last tile.
  std::optional<Term> pastRaster;
  std::vector<Event> events;
  /// Whether other events are excluded.
  bool isComplete = true;
};

} // namespace tracea::coverage

#endif // TRACEA_LIB_ANALYSIS_COVERAGE_WITNESS_H
