//===- Conversion.cpp - What it takes to move a tile between two lane maps
//-----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Conversion.h"
#include "F2Elimination.h"
#include <algorithm>

using namespace tracea::algebra;

static uint64_t bit(unsigned i) { return uint64_t(1) << i; }

const char *tracea::algebra::conversionClassName(ConversionClass cls) {
  switch (cls) {
  case ConversionClass::NoOp:
    return "no-op";
  case ConversionClass::RegisterMove:
    return "register move";
  case ConversionClass::RegisterSelect:
    return "register select";
  case ConversionClass::Shuffle:
    return "shuffle";
  case ConversionClass::SharedMemory:
    return "shared memory";
  case ConversionClass::Cluster:
    return "cluster";
  }
  return "?";
}

static std::string shapeText(const LaneMap &map) {
  std::string text;
  for (unsigned d = 0; d < map.rank(); ++d)
    text += (d ? "x" : "") + std::to_string(map.linearShape()[d]) + "*" +
            std::to_string(map.outer()[d]);
  return text;
}

namespace {
/// The columns of a map per input dimension, padded to common widths.
using PaddedColumns = std::array<F2Vectors, numLaneDims>;

/// The field of a location that dimension `dim` occupies.
struct Field {
  unsigned shift, width;
  uint64_t of(uint64_t location) const {
    return width ? location >> shift & (bit(width) - 1) : 0;
  }
};
} // namespace

/// The shuffles of one warp; see Conversion::shuffleRounds. `regColumns`: the
/// destination registers' coordinate columns; `lanes`: the lane field of C's
/// results; the others: C's columns.
static int64_t countRounds(const F2Vectors &regColumns, const F2Vectors &regs,
                           const F2Vectors &laneColumns,
                           const F2Vectors &uniform, Field lanes,
                           unsigned packedBits) {
  // Destination registers that repeat others cost nothing.
  F2Elimination seen;
  F2Vectors laneOfReg;
  for (unsigned i = 0; i < regColumns.size(); ++i)
    if (!seen.add(regColumns[i]))
      laneOfReg.push_back(lanes.of(regs[i]));

  // A subspace of destination registers that come from one source lane can
  // share a word. Single register bits come first: they need no byte
  // permutation.
  F2Vectors candidates, packed;
  F2Elimination relations;
  for (unsigned i = 0; i < laneOfReg.size(); ++i)
    if (!laneOfReg[i])
      candidates.push_back(bit(i));
  for (unsigned i = 0; i < laneOfReg.size(); ++i)
    if (std::optional<uint64_t> kernel = relations.add(laneOfReg[i], bit(i)))
      candidates.push_back(*kernel);
  for (uint64_t candidate : candidates)
    if (packed.size() < packedBits && !inSpan(candidate, packed))
      packed.push_back(candidate);

  // What remains after packing: a complement spanned by register bits.
  F2Elimination covered, laneSpan;
  for (uint64_t v : packed)
    covered.add(v);
  unsigned remaining = 0;
  for (unsigned i = 0; i < laneOfReg.size(); ++i)
    if (!covered.add(bit(i))) {
      ++remaining;
      laneSpan.add(laneOfReg[i]);
    }

  bool servesItself = true;
  for (unsigned i = 0; i < laneColumns.size(); ++i)
    servesItself &=
        laneSpan.solve(lanes.of(laneColumns[i]) ^ bit(i)).has_value();
  for (uint64_t column : uniform)
    servesItself &= laneSpan.solve(lanes.of(column)).has_value();
  int64_t all = int64_t(1) << remaining;
  return servesItself ? all - (all >> laneSpan.rank()) : all;
}

Expected<Conversion> Conversion::get(const LaneMap &from, const LaneMap &to,
                                     unsigned elementsPerWord) {
  if (from.linearShape() != to.linearShape() || from.outer() != to.outer())
    return Error{"conversion: expected tiles of one shape (linear*outer), "
                 "found " +
                 shapeText(from) + " and " + shapeText(to)};
  if (elementsPerWord != 1 && elementsPerWord != 2 && elementsPerWord != 4)
    return Error{"conversion: expected 1, 2 or 4 elements a word, found " +
                 std::to_string(elementsPerWord)};

  Conversion result;
  PaddedColumns a, b;
  std::array<Field, numLaneDims> fields;
  unsigned inputs = 0, outputs = 0;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    a[d] = from.columns(LaneDim(d));
    b[d] = to.columns(LaneDim(d));
    if (LaneDim(d) != LaneDim::Reg) {
      size_t width = std::max(a[d].size(), b[d].size());
      a[d].resize(width, 0);
      b[d].resize(width, 0);
    }
    result.fromBits[d] = a[d].size();
    result.toBits[d] = b[d].size();
    fields[d] = {outputs, unsigned(a[d].size())};
    outputs += a[d].size();
    inputs += b[d].size();
  }
  if (inputs > F2Matrix::maxBits || outputs > F2Matrix::maxBits)
    return Error{"conversion: expected at most 64 location bits, found " +
                 std::to_string(std::max(inputs, outputs))};
  result.outerRegisters = to.numRegisters() >> to.numBits(LaneDim::Reg);

  // spans[d]: everything that dimensions 0..d of A reach.
  std::array<F2Elimination, numLaneDims> spans;
  F2Elimination reached;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    for (unsigned i = 0; i < a[d].size(); ++i)
      reached.add(a[d][i], bit(fields[d].shift + i));
    spans[d] = reached;
  }

  std::array<F2Vectors, numLaneDims> c;
  unsigned widest = 0;
  bool identity = true, registerDependsOnLane = false;
  for (unsigned d = 0; d < numLaneDims; ++d)
    for (unsigned i = 0; i < b[d].size(); ++i) {
      // A register bit that A has too stays when it means the same. Any other
      // index bit stays itself and is corrected by what differs.
      bool inA = i < a[d].size();
      bool same = inA && a[d][i] == b[d][i];
      uint64_t stay = 0, wanted = b[d][i];
      if (inA && (same || LaneDim(d) != LaneDim::Reg)) {
        stay = bit(fields[d].shift + i);
        wanted ^= a[d][i];
      }
      unsigned reach = 0;
      std::optional<uint64_t> correction;
      for (; reach < numLaneDims; ++reach)
        if ((correction = spans[reach].solve(wanted)))
          break;
      if (!correction)
        return Error{std::string("conversion: the source does not hold what ") +
                     laneDimName(LaneDim(d)) + " bit " + std::to_string(i) +
                     " of the destination wants"};
      widest = std::max(widest, reach);
      uint64_t column = stay ^ *correction;
      c[d].push_back(column);
      identity &= inA ? same : column == 0;
      if (LaneDim(d) != LaneDim::Reg && fields[0].of(column))
        registerDependsOnLane = true;
    }

  switch (LaneDim(widest)) {
  case LaneDim::Reg:
    result.cls = identity                ? ConversionClass::NoOp
                 : registerDependsOnLane ? ConversionClass::RegisterSelect
                                         : ConversionClass::RegisterMove;
    break;
  case LaneDim::Lane: {
    result.cls = ConversionClass::Shuffle;
    F2Vectors uniform = c[unsigned(LaneDim::Warp)];
    const F2Vectors &blocks = c[unsigned(LaneDim::Block)];
    uniform.insert(uniform.end(), blocks.begin(), blocks.end());
    result.rounds =
        result.outerRegisters * countRounds(b[0], c[0], c[1], uniform,
                                            fields[unsigned(LaneDim::Lane)],
                                            __builtin_ctz(elementsPerWord));
    break;
  }
  case LaneDim::Warp:
    result.cls = ConversionClass::SharedMemory;
    break;
  case LaneDim::Block:
    result.cls = ConversionClass::Cluster;
    break;
  }

  F2Vectors columns;
  for (const F2Vectors &part : c)
    columns.insert(columns.end(), part.begin(), part.end());
  Expected<F2Matrix> map = F2Matrix::get(outputs, std::move(columns));
  if (!map)
    return map.error();
  result.map = *map;
  return result;
}

std::optional<Location> Conversion::source(const Location &to) const {
  int64_t indices[] = {to.reg, to.lane, to.warp, to.block};
  int64_t repeat = 0;
  uint64_t input = 0;
  unsigned shift = 0;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    int64_t limit = int64_t(1) << toBits[d];
    if (indices[d] < 0 || indices[d] >= limit * (d ? 1 : outerRegisters))
      return std::nullopt;
    if (d == 0)
      repeat = indices[d] >> toBits[d];
    if (toBits[d])
      input |= uint64_t(indices[d] & (limit - 1)) << shift;
    shift += toBits[d];
  }
  uint64_t output = map.apply(input);
  shift = 0;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    indices[d] = Field{shift, fromBits[d]}.of(output);
    shift += fromBits[d];
  }
  return Location{indices[0] | repeat << fromBits[0], indices[1], indices[2],
                  indices[3]};
}
