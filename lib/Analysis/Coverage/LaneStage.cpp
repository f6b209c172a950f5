//===- LaneStage.cpp - Decides a stage of registers, lanes and warps ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The guard fixes bits of locations. What is left free is linear: the map is
// one to one iff its columns are independent, and onto iff their rank is the
// number of coordinate bits. Repeats of the linear part (`outer`) are registers
// of their own, one for each repeat.

#include "Stages.h"

using namespace tracea::coverage;
using namespace tracea::algebra;

namespace {
class LaneDecider {
public:
  LaneDecider(const Space &space, const LaneStage &stage)
      : space(space), stage(stage) {}

  Outcome run();

private:
  Outcome checkRanges();
  Outcome readGuard();
  Outcome unwritten();
  Outcome doubled(uint64_t kernel);
  std::vector<std::pair<std::string, int64_t>> location(uint64_t bits) const;

  const Space &space;
  const LaneStage &stage;
  /// Bits of the location, registers lowest, as in the map's matrix.
  uint64_t fixedMask = 0, fixedValue = 0;
  std::vector<unsigned> freeBits;
};
} // namespace

static int64_t extentOf(const LaneMap &map, LaneDim dim) {
  switch (dim) {
  case LaneDim::Reg:
    return map.numRegisters();
  case LaneDim::Lane:
    return map.numLanes();
  case LaneDim::Warp:
    return map.numWarps();
  case LaneDim::Block:
    return map.numBlocks();
  }
  return 0;
}

static bool isBox(const Range &range, int64_t extent) {
  return range.lower == Expr(0) && range.upper && *range.upper == Expr(extent);
}

static std::string printRange(const Space &space, const Range &range) {
  return "[" + space.str(range.lower) + ", " +
         (range.upper ? space.str(*range.upper) : "infinity") + ")";
}

Outcome LaneDecider::checkRanges() {
  for (unsigned dim = 0; dim < numLaneDims; ++dim) {
    int64_t extent = extentOf(stage.map, LaneDim(dim));
    if (!stage.ids[dim]) {
      uint64_t bits = uint64_t(extent) - 1, fixed = 0;
      for (const LaneGuard &guard : stage.guard)
        if (unsigned(guard.dim) == dim)
          fixed |= guard.mask;
      if (bits & ~fixed)
        return Outcome::notDecided(
            std::string("no id for the ") + laneDimName(LaneDim(dim)) +
            "s, of which the map has " + std::to_string(extent));
      continue;
    }
    const Range &range = space.range(*stage.ids[dim]);
    if (!isBox(range, extent))
      return Outcome::notDecided("range of '" + space.name(*stage.ids[dim]) +
                                 "': expected [0, " + std::to_string(extent) +
                                 ") as in the lane map, found " +
                                 printRange(space, range));
  }
  TileCoord shape = stage.map.tileShape();
  if (stage.coordinates.size() != shape.size())
    return Outcome::notDecided("expected " + std::to_string(shape.size()) +
                               " coordinates as in the lane map, found " +
                               std::to_string(stage.coordinates.size()));
  for (size_t i = 0; i < shape.size(); ++i)
    if (!isBox(space.range(stage.coordinates[i]), shape[i]))
      return Outcome::notDecided(
          "range of '" + space.name(stage.coordinates[i]) + "': expected [0, " +
          std::to_string(shape[i]) + ") as in the lane map, found " +
          printRange(space, space.range(stage.coordinates[i])));
  return {};
}

Outcome LaneDecider::readGuard() {
  for (const LaneGuard &guard : stage.guard) {
    unsigned shift = 0;
    for (unsigned dim = 0; dim < unsigned(guard.dim); ++dim)
      shift += stage.map.numBits(LaneDim(dim));
    unsigned bits = stage.map.numBits(guard.dim);
    uint64_t inside = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    if (guard.mask & ~inside)
      return Outcome::notDecided(std::string("the guard tests bits of the ") +
                                 laneDimName(guard.dim) +
                                 " that the lane map's linear part does not "
                                 "have");
    // A location without an id is 0.
    if ((guard.value & ~guard.mask) ||
        (guard.value && !stage.ids[unsigned(guard.dim)]))
      return Outcome::notDecided("the guard never holds");
    uint64_t mask = guard.mask << shift, value = guard.value << shift;
    if ((fixedValue ^ value) & fixedMask & mask)
      return Outcome::notDecided("the guard never holds");
    fixedMask |= mask;
    fixedValue |= value;
  }
  for (unsigned bit = 0; bit < stage.map.matrix().numInputs(); ++bit)
    if (!(fixedMask >> bit & 1))
      freeBits.push_back(bit);
  return {};
}

std::vector<std::pair<std::string, int64_t>>
LaneDecider::location(uint64_t bits) const {
  std::vector<std::pair<std::string, int64_t>> result;
  for (unsigned dim = 0; dim < numLaneDims; ++dim) {
    unsigned count = stage.map.numBits(LaneDim(dim));
    uint64_t index = bits & ((uint64_t(1) << count) - 1);
    bits >>= count;
    if (stage.ids[dim])
      result.emplace_back(space.name(*stage.ids[dim]), int64_t(index));
  }
  return result;
}

Outcome LaneDecider::doubled(uint64_t kernel) {
  Finding finding;
  finding.property = Property::Unique;
  finding.message = "one element is held in two locations that both write it";
  finding.point = location(fixedValue);
  finding.otherPoint = location(fixedValue ^ kernel);
  finding.otherWriter = 0;
  return Outcome::refuted(std::move(finding));
}

Outcome LaneDecider::unwritten() {
  F2Vectors columns;
  for (unsigned bit : freeBits)
    columns.push_back(stage.map.matrix().column(bit));
  Expected<F2Matrix> free =
      F2Matrix::get(stage.map.matrix().numOutputs(), columns);
  uint64_t offset = stage.map.matrix().apply(fixedValue);
  for (unsigned bit = 0; free && bit < free->numOutputs(); ++bit) {
    // The image is a coset; some unit vector beside it is not in it.
    uint64_t element = uint64_t(1) << bit;
    if (free->solve(element))
      continue;
    TileCoord coordinate = stage.map.unflatten(element ^ offset);
    Finding finding;
    finding.property = Property::Cover;
    finding.message = "no location that writes holds this element";
    for (size_t i = 0; i < coordinate.size(); ++i)
      finding.point.emplace_back(space.name(stage.coordinates[i]),
                                 coordinate[i]);
    return Outcome::refuted(std::move(finding));
  }
  return Outcome::notDecided("rank of the lane map");
}

Outcome LaneDecider::run() {
  if (Outcome outcome = checkRanges(); outcome.verdict != Verdict::Proved)
    return outcome;
  if (Outcome outcome = readGuard(); outcome.verdict != Verdict::Proved)
    return outcome;
  F2Vectors columns;
  for (unsigned bit : freeBits)
    columns.push_back(stage.map.matrix().column(bit));
  Expected<F2Matrix> free =
      F2Matrix::get(stage.map.matrix().numOutputs(), columns);
  if (!free)
    return Outcome::notDecided(free.message());
  if (free->rank() < free->numOutputs())
    return unwritten();
  F2Vectors kernel = free->kernel();
  if (kernel.empty())
    return {};
  uint64_t bits = 0;
  for (size_t i = 0; i < freeBits.size(); ++i)
    if (kernel[0] >> i & 1)
      bits |= uint64_t(1) << freeBits[i];
  return doubled(bits);
}

Outcome tracea::coverage::decideLanes(Prover &prover, const LaneStage &stage) {
  return LaneDecider(prover.space, stage).run();
}
