//===- Problem.h - Who writes which element -------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The index maps of a kernel, cut into stages from what runs (ids) to what is
// written (outputs). Each stage claims to be a bijection between what goes in,
// as far as its guards hold, and the box of what comes out; the box of a
// coordinate is its range. Coordinates that one stage makes are used by another
// one, each once. If every stage keeps its claim, every element of the outputs
// is written exactly once. See docs/Proofs/Coverage.md.
//
//   Space &s = problem.space;
//   Term M = s.symbol("M"), t = s.id("t", s.ceilDiv(M, 128)), i = s.id("i",
//   128); Term row = s.coordinate("row", M); Writer w{"store", {t, i},
//   {less(128 * t + i, M)}, {128 * t + i}, {}};
//   problem.stages.push_back({"tiles", AffineStage{{row}, {w}}});
//   problem.outputs = {row};
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ANALYSIS_COVERAGE_PROBLEM_H
#define TRACEA_ANALYSIS_COVERAGE_PROBLEM_H

#include "tracea/Algebra/LaneMap.h"
#include "tracea/Analysis/Coverage/Space.h"
#include <array>
#include <variant>

namespace tracea::coverage {

/// Something that writes once for each value of its ids that passes the guard.
struct Writer {
  std::string name;
  /// All that runs in parallel or in loops around the write, each within its
  /// range: ids, or coordinates of stages before.
  std::vector<Term> ids;
  std::vector<Constraint> guard;
  /// One expression in ids and symbols for each coordinate of the stage.
  std::vector<Expr> map;
  /// A hint that is not trusted: for each id an expression in the coordinates
  /// and symbols. Empty: it is derived from the map.
  std::vector<Expr> inverse;
};

/// The events (writer, ids) and the coordinates correspond one to one. Writers
/// may have ids of their own, but what another stage has made is an id of each.
/// Dimensions that have nothing in common are decided apart.
struct AffineStage {
  std::vector<Term> coordinates;
  std::vector<Writer> writers;
};

/// Only locations with (index & mask) == value write, say one of each group of
/// replicas.
struct LaneGuard {
  algebra::LaneDim dim = algebra::LaneDim::Lane;
  uint64_t mask = 0, value = 0;
};

/// Locations (register, lane, warp, block) and coordinates of a tile correspond
/// one to one, by rank over F2. A location index without a variable is 0 and
/// must have extent 1, or be fixed by the guard. Ranges are checked to be those
/// of the map.
struct LaneStage {
  algebra::LaneMap map;
  /// By LaneDim.
  std::array<std::optional<Term>, algebra::numLaneDims> ids;
  /// One for each dimension of the tile.
  std::vector<Term> coordinates;
  std::vector<LaneGuard> guard;
};

/// whole = quotient · divisor + remainder, 0 <= remainder < divisor, where the
/// divisor may be symbolic: lemmas L1 and L2. Either way is one to one, so that
/// the direction only says what is made. Ranges: remainder [0, divisor); whole
/// [0, quotient's extent · divisor). A masked join (whole below its extent)
/// allows any extent of the quotient that is enough: none,
/// ⌈extent of whole / divisor⌉ or more.
struct EuclidStage {
  enum Direction : uint8_t {
    /// quotient, remainder → whole: tiles, persistent loops.
    Join,
    /// whole → quotient, remainder: delinearization.
    Split
  };
  Direction direction = Join;
  Term whole, quotient, remainder;
  Expr divisor = 1;
  /// Join: only wholes below their extent are written.
  bool masked = false;
};

/// Grouped raster: `linear` runs over groups of `group` rows, within a group
/// over columns, within a column over the rows of the group; the last group may
/// have fewer rows. With h = group · columns, first = ⌊linear / h⌋ · group and
/// n = min(group, rows − first): row = first + (linear mod h) mod n,
/// column = ⌊(linear mod h) / n⌋. Ranges: row [0, rows), column [0, columns),
/// linear [0, rows · columns). Lemma L3.
struct RasterStage {
  Term linear, row, column;
  /// At least 1.
  Expr group = 1;
};

struct Stage {
  std::string name;
  std::variant<AffineStage, LaneStage, EuclidStage, RasterStage> kind;
};

/// A read or write whose indices must be in bounds wherever the guard holds.
struct Access {
  std::string name;
  std::vector<Term> ids;
  std::vector<Constraint> guard;
  std::vector<Expr> map;
  /// One for each dimension.
  std::vector<Range> bounds;
};

/// For all values of `forAll` in their ranges that satisfy the premises, all
/// conclusions hold: tile lists against masks, alignment, halos. With `exists`
/// there must be values of those, in their ranges, for which they hold; each
/// witness is a hint that gives one expression for each of them, and one
/// witness must do for each point (different points may use different ones).
struct Claim {
  std::string name;
  std::vector<Term> forAll;
  std::vector<Constraint> premises;
  std::vector<Constraint> conclusions;
  std::vector<Term> exists;
  std::vector<std::vector<Expr>> witnesses;
};

/// An argument as every launch brings it.
struct Argument {
  enum Kind : uint8_t {
    /// Memory that is read at most.
    Input,
    /// Memory whose elements are written, each once.
    Result,
    /// An integer, which is its only size, or another number, which has none.
    Scalar
  };
  struct Size {
    /// In symbols; without it the claim does not depend on this size.
    std::optional<Expr> value;
    /// Whether only the launch knows it.
    bool isDynamic = false;
  };
  Kind kind = Input;
  std::vector<Size> sizes;
};

struct Problem {
  std::string name;
  Space space;
  /// What holds of the symbols, besides their ranges: the first `numGranted`
  /// wherever the kernel runs at all (its grid is not empty), the others are
  /// checked at launch.
  std::vector<Constraint> assumptions;
  size_t numGranted = 0;
  std::vector<Stage> stages;
  /// The elements: coordinates that stages make and none uses. Every other
  /// coordinate that is made is used, and every id is.
  std::vector<Term> outputs;
  std::vector<Access> accesses;
  std::vector<Claim> claims;
  /// What a launch has to be like: its arguments, where the same symbol stands
  /// for the same size, and the extents of its grid. Empty: nothing is said.
  std::vector<Argument> arguments;
  std::vector<Expr> grid;
  /// The sizes that a launch brings: the extents of each buffer, as far as they
  /// are symbols, and integers; only for launch guards.
  std::vector<std::vector<Term>> buffers;
  std::vector<Term> integers;
  /// Values that the machine computes besides those of the maps and guards;
  /// only for launch guards.
  std::vector<Expr> intermediates;
};

/// What `decide` claims, in one line: "every element of row in [0, M) is
/// written exactly once; 3 accesses in bounds; …".
std::string describe(const Problem &problem);

} // namespace tracea::coverage

#endif // TRACEA_ANALYSIS_COVERAGE_PROBLEM_H
