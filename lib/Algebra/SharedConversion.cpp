//===- SharedConversion.cpp - Conversions through shared memory -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/SharedConversion.h"
#include "Bits.h"
#include "tracea/Algebra/Conversion.h"
#include "tracea/Algebra/SwizzleSolver.h"
#include <algorithm>

using namespace tracea::algebra;

/// The columns of everything but registers: which lane, warp or block it is.
static void addPlaces(const LaneMap &map, F2Vectors &places) {
  for (LaneDim dim : {LaneDim::Lane, LaneDim::Warp, LaneDim::Block})
    for (uint64_t column : map.columns(dim))
      places.push_back(column);
}

Expected<SharedConversion>
tracea::algebra::planSharedConversion(const LaneMap &from, const LaneMap &to,
                                      unsigned elementBytes,
                                      const BankModel &model) {
  Expected<Conversion> conversion = Conversion::get(from, to);
  if (!conversion)
    return conversion.error();
  if (conversion->conversionClass() == ConversionClass::Cluster)
    return Error{"shared conversion: the values are held by other blocks"};
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4 &&
      elementBytes != 8)
    return Error{"shared conversion: expected elements of 1, 2, 4 or 8 bytes, "
                 "found " +
                 std::to_string(elementBytes)};
  for (const LaneMap *map : {&from, &to})
    if (map->numBits(LaneDim::Lane) > model.laneBits)
      return Error{"shared conversion: expected at most " +
                   std::to_string(model.laneBits) + " lane bits for " +
                   model.name + ", found " +
                   std::to_string(map->numBits(LaneDim::Lane))};
  unsigned elementBits = __builtin_ctz(elementBytes);
  unsigned tileBits = from.matrix().numOutputs();
  if (tileBits + elementBits > 31)
    return Error{"shared conversion: expected a tile of at most 2^31 bytes"};

  // Directions that one vector may run along: registers of both sides that no
  // lane or warp of either side shares, or the order inside of a vector would
  // depend on the lane.
  F2Vectors places;
  addPlaces(from, places);
  addPlaces(to, places);
  places = canonicalBasis(places);
  F2Vectors lead, taken = places;
  for (uint64_t x :
       intersection(from.columns(LaneDim::Reg), to.columns(LaneDim::Reg))) {
    unsigned width = elementBytes << (lead.size() + 1);
    if (!model.phasesOf(width, AccessKind::Write) ||
        !model.phasesOf(width, AccessKind::Read))
      break;
    if (inSpan(x, taken))
      continue;
    lead.push_back(x);
    taken.push_back(x);
  }
  unsigned vectorBytes = elementBytes << lead.size();

  // Coordinates of the tile: what fills the first word, then the places, then
  // the rest.
  F2Vectors others = places;
  for (unsigned i = 0; i < tileBits; ++i)
    others.push_back(bit(i));
  F2Vectors basis = lead;
  auto extend = [&](uint64_t x) {
    if (!inSpan(x, basis))
      basis.push_back(x);
  };
  for (uint64_t x : others)
    if (elementBits + basis.size() < model.wordBits)
      extend(x);
  unsigned leadBits = basis.size();
  for (uint64_t x : others)
    extend(x);
  Expected<F2Matrix> toTile = F2Matrix::get(tileBits, basis);
  if (!toTile)
    return toTile.error();
  std::optional<F2Matrix> coordinates = toTile->inverse();
  assert(coordinates && "a basis of the tile");

  unsigned chunkBytesLog = std::max(leadBits + elementBits, model.wordBits);
  unsigned chunkBits = tileBits - leadBits;
  unsigned bankBits =
      std::min(model.wordBits + model.bankBits - chunkBytesLog, chunkBits);
  std::vector<F2Vectors> spans;
  for (AccessKind kind : {AccessKind::Write, AccessKind::Read}) {
    Expected<AccessPhases> phases = model.phasesOf(vectorBytes, kind);
    if (!phases)
      return phases.error();
    F2Vectors lanes =
        (kind == AccessKind::Write ? from : to).columns(LaneDim::Lane);
    F2Vectors span;
    for (uint64_t mask : phases->lanes) {
      uint64_t x = 0;
      for (unsigned i = 0; i < lanes.size(); ++i)
        if (mask >> i & 1)
          x ^= lanes[i];
      span.push_back(coordinates->apply(x) >> leadBits);
    }
    spans.push_back(canonicalBasis(span));
  }
  Expected<Avoidance> avoidance =
      findAvoidingSubspace(spans, chunkBits, bankBits);
  if (!avoidance)
    return avoidance.error();
  if (!avoidance->subspace)
    return Error{"shared conversion: a phase of " + model.name +
                 " asks for more than all banks deliver"};
  Expected<F2Matrix> swizzle =
      mapOntoBankZero(*avoidance->subspace, chunkBits, bankBits);
  if (!swizzle)
    return swizzle.error();
  Expected<F2Matrix> both = F2Matrix::identity(leadBits).directSum(*swizzle);
  if (!both)
    return both.error();
  F2Vectors columns;
  for (uint64_t column : coordinates->columns())
    columns.push_back(both->apply(column) << elementBits);

  SharedConversion plan;
  plan.bytes = int64_t(elementBytes) << tileBits;
  plan.vectorBytes = vectorBytes;
  Expected<F2Matrix> offsets = F2Matrix::get(F2Matrix::maxBits, columns);
  if (!offsets)
    return offsets.error();
  plan.tileToBytes = *offsets;
  for (AccessKind kind : {AccessKind::Write, AccessKind::Read}) {
    F2Vectors lanes;
    for (uint64_t column :
         (kind == AccessKind::Write ? from : to).columns(LaneDim::Lane))
      lanes.push_back(plan.tileToBytes.apply(column));
    lanes.resize(model.laneBits, 0);
    Expected<F2Matrix> map = F2Matrix::get(F2Matrix::maxBits, std::move(lanes));
    if (!map)
      return map.error();
    // Proved once more on the addresses themselves.
    Expected<ConflictDegree> degree =
        conflictDegree(model, *map, vectorBytes, kind);
    if (!degree)
      return degree.error();
    assert(degree->degree == 1 && "the chosen subspace avoids both accesses");
    (kind == AccessKind::Write ? plan.write : plan.read) = *degree;
  }
  return plan;
}
