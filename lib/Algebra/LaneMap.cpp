//===- LaneMap.cpp - Where the elements of a tile live -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/LaneMap.h"
#include <iomanip>
#include <sstream>

using namespace tracea::algebra;

static constexpr int64_t maxExtent = int64_t(1) << 31;
static constexpr LaneDim allDims[] = {LaneDim::Reg, LaneDim::Lane,
                                      LaneDim::Warp, LaneDim::Block};

const char *tracea::algebra::laneDimName(LaneDim dim) {
  switch (dim) {
  case LaneDim::Reg:
    return "reg";
  case LaneDim::Lane:
    return "lane";
  case LaneDim::Warp:
    return "warp";
  case LaneDim::Block:
    return "block";
  }
  return "?";
}

static const std::vector<TileCoord> &basesOf(const LaneBases &bases,
                                             LaneDim dim) {
  switch (dim) {
  case LaneDim::Lane:
    return bases.lane;
  case LaneDim::Warp:
    return bases.warp;
  case LaneDim::Block:
    return bases.block;
  case LaneDim::Reg:
    break;
  }
  return bases.reg;
}

static std::string joined(const TileCoord &values, const char *separator) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? separator : "") + std::to_string(values[i]);
  return text;
}

static std::string tuple(const TileCoord &values) {
  return "(" + joined(values, ",") + ")";
}

Expected<LaneMap> LaneMap::get(TileCoord linearShape, const LaneBases &bases,
                               TileCoord outer) {
  LaneMap map;
  unsigned rank = linearShape.size();
  if (outer.empty())
    outer.assign(rank, 1);
  if (outer.size() != rank)
    return Error{"lane map: expected " + std::to_string(rank) +
                 " outer counts, found " + std::to_string(outer.size())};
  for (unsigned d = 0; d < rank; ++d) {
    int64_t extent = linearShape[d];
    if (extent < 1 || extent > maxExtent || (extent & (extent - 1)))
      return Error{"lane map: expected a power of two as linear extent " +
                   std::to_string(d) + ", found " + std::to_string(extent)};
    if (outer[d] < 1 || outer[d] > maxExtent / extent)
      return Error{"lane map: expected an outer count in 1.." +
                   std::to_string(maxExtent / extent) + " for dimension " +
                   std::to_string(d) + ", found " + std::to_string(outer[d])};
    map.dimBits.push_back(__builtin_ctzll(extent));
  }

  // The last dimension is the lowest in the flat coordinate.
  unsigned total = 0;
  map.dimShift.assign(rank, 0);
  for (unsigned d = rank; d-- > 0;) {
    map.dimShift[d] = total;
    total += map.dimBits[d];
  }
  if (total > F2Matrix::maxBits)
    return Error{"lane map: expected at most 64 coordinate bits, found " +
                 std::to_string(total)};
  map.linearExtents = std::move(linearShape);
  map.outerCounts = std::move(outer);

  F2Vectors columns;
  for (LaneDim dim : allDims) {
    const std::vector<TileCoord> &vectors = basesOf(bases, dim);
    map.bits[unsigned(dim)] = vectors.size();
    if (vectors.size() > 31)
      return Error{std::string("lane map: expected at most 31 ") +
                   laneDimName(dim) + " bits, found " +
                   std::to_string(vectors.size())};
    for (size_t i = 0; i < vectors.size(); ++i) {
      bool fits = vectors[i].size() == rank;
      for (unsigned d = 0; fits && d < rank; ++d)
        fits = vectors[i][d] >= 0 && vectors[i][d] < map.linearExtents[d];
      if (!fits)
        return Error{std::string("lane map: expected ") + laneDimName(dim) +
                     " vector " + std::to_string(i) + " inside the shape " +
                     tuple(map.linearExtents) + ", found " + tuple(vectors[i])};
      columns.push_back(map.flatten(vectors[i]));
    }
  }
  int64_t registers = int64_t(1) << map.numBits(LaneDim::Reg);
  for (int64_t count : map.outerCounts) {
    if (count > maxExtent / registers)
      return Error{"lane map: expected at most 2^31 registers"};
    registers *= count;
  }
  Expected<F2Matrix> linear = F2Matrix::get(total, std::move(columns));
  if (!linear)
    return linear.error();
  map.linear = *linear;
  return map;
}

TileCoord LaneMap::tileShape() const {
  TileCoord shape = linearExtents;
  for (unsigned d = 0; d < rank(); ++d)
    shape[d] *= outerCounts[d];
  return shape;
}

F2Vectors LaneMap::columns(LaneDim dim) const {
  unsigned first = 0;
  for (unsigned d = 0; d < unsigned(dim); ++d)
    first += bits[d];
  const F2Vectors &all = linear.columns();
  return F2Vectors(all.begin() + first, all.begin() + first + numBits(dim));
}

TileCoord LaneMap::basis(LaneDim dim, unsigned bit) const {
  return unflatten(columns(dim)[bit]);
}

int64_t LaneMap::numRegisters() const {
  int64_t registers = int64_t(1) << numBits(LaneDim::Reg);
  for (int64_t count : outerCounts)
    registers *= count;
  return registers;
}

uint64_t LaneMap::flatten(const TileCoord &coord) const {
  uint64_t flat = 0;
  for (unsigned d = 0; d < rank(); ++d)
    if (dimBits[d]) // A shift of 64 would be undefined.
      flat |= uint64_t(coord[d]) << dimShift[d];
  return flat;
}

TileCoord LaneMap::unflatten(uint64_t flat) const {
  TileCoord coord(rank(), 0);
  for (unsigned d = 0; d < rank(); ++d)
    if (dimBits[d])
      coord[d] = flat >> dimShift[d] & uint64_t(linearExtents[d] - 1);
  return coord;
}

std::optional<TileCoord> LaneMap::coordinate(int64_t reg, int64_t lane,
                                             int64_t warp,
                                             int64_t block) const {
  if (reg < 0 || reg >= numRegisters() || lane < 0 || lane >= numLanes() ||
      warp < 0 || warp >= numWarps() || block < 0 || block >= numBlocks())
    return std::nullopt;
  int64_t repeat = reg >> numBits(LaneDim::Reg);
  uint64_t input = 0;
  unsigned shift = 0;
  const int64_t indices[] = {reg & ((int64_t(1) << numBits(LaneDim::Reg)) - 1),
                             lane, warp, block};
  for (LaneDim dim : allDims) {
    if (numBits(dim))
      input |= uint64_t(indices[unsigned(dim)]) << shift;
    shift += numBits(dim);
  }
  TileCoord coord = unflatten(linear.apply(input));
  for (unsigned d = rank(); d-- > 0;) {
    coord[d] += repeat % outerCounts[d] * linearExtents[d];
    repeat /= outerCounts[d];
  }
  return coord;
}

std::optional<Location> LaneMap::locate(const TileCoord &coord) const {
  if (coord.size() != rank())
    return std::nullopt;
  TileCoord inner = coord;
  int64_t repeat = 0;
  for (unsigned d = 0; d < rank(); ++d) {
    if (coord[d] < 0 || coord[d] >= linearExtents[d] * outerCounts[d])
      return std::nullopt;
    inner[d] = coord[d] % linearExtents[d];
    repeat = repeat * outerCounts[d] + coord[d] / linearExtents[d];
  }
  std::optional<uint64_t> input = linear.solve(flatten(inner));
  if (!input)
    return std::nullopt;
  int64_t indices[numLaneDims];
  unsigned shift = 0;
  for (LaneDim dim : allDims) {
    uint64_t mask = (uint64_t(1) << numBits(dim)) - 1;
    indices[unsigned(dim)] = numBits(dim) ? *input >> shift & mask : 0;
    shift += numBits(dim);
  }
  return Location{indices[0] | repeat << numBits(LaneDim::Reg), indices[1],
                  indices[2], indices[3]};
}

/// The number of low index bits of `along` that count up tile dimension `dim`
/// while no other location bit disturbs the bits that they count through.
static unsigned contiguousBits(const LaneMap &map, LaneDim along,
                               unsigned dim) {
  unsigned run = 0;
  for (unsigned k = 1; k <= map.numBits(along); ++k) {
    TileCoord unit(map.rank(), 0);
    unit[dim] = int64_t(1) << (k - 1);
    if (map.basis(along, k - 1) != unit)
      break;
    bool undisturbed = true;
    for (LaneDim other : allDims)
      for (unsigned i = other == along ? k : 0; i < map.numBits(other); ++i)
        if (map.basis(other, i)[dim] & ((int64_t(1) << k) - 1))
          undisturbed = false;
    if (undisturbed)
      run = k;
  }
  return run;
}

int64_t LaneMap::contiguousLanes(unsigned dim) const {
  if (dim >= rank())
    return 0;
  return int64_t(1) << contiguousBits(*this, LaneDim::Lane, dim);
}

int64_t LaneMap::contiguousRegisters(unsigned dim) const {
  if (dim >= rank())
    return 0;
  unsigned run = contiguousBits(*this, LaneDim::Reg, dim);
  int64_t count = int64_t(1) << run;
  // Through the repeats when all linear registers run along the whole linear
  // extent and this dimension's repeat index is the fastest.
  if (run != numBits(LaneDim::Reg) || count != linearExtents[dim])
    return count;
  for (unsigned d = dim + 1; d < rank(); ++d)
    if (outerCounts[d] != 1)
      return count;
  return count * outerCounts[dim];
}

Expected<LaneMap> LaneMap::product(const LaneMap &high) const {
  if (high.rank() != rank())
    return Error{"product: expected tiles of rank " + std::to_string(rank()) +
                 ", found " + std::to_string(high.rank())};
  TileCoord shape(rank());
  for (unsigned d = 0; d < rank(); ++d) {
    if (outerCounts[d] != 1 || high.outerCounts[d] != 1)
      return Error{"product: expected outer counts of 1, found " +
                   tuple(outerCounts) + " and " + tuple(high.outerCounts)};
    if (dimBits[d] + high.dimBits[d] > 31)
      return Error{"product: dimension " + std::to_string(d) +
                   " would exceed 2^31"};
    shape[d] = linearExtents[d] * high.linearExtents[d];
  }
  LaneBases bases;
  std::vector<TileCoord> *results[] = {&bases.reg, &bases.lane, &bases.warp,
                                       &bases.block};
  for (LaneDim dim : allDims) {
    std::vector<TileCoord> &result = *results[unsigned(dim)];
    for (unsigned i = 0; i < numBits(dim); ++i)
      result.push_back(basis(dim, i));
    for (unsigned i = 0; i < high.numBits(dim); ++i) {
      TileCoord vector = high.basis(dim, i);
      for (unsigned d = 0; d < rank(); ++d)
        vector[d] *= linearExtents[d];
      result.push_back(vector);
    }
  }
  return get(shape, bases);
}

Expected<LaneMap> LaneMap::quotient(const LaneMap &low) const {
  if (low.rank() != rank())
    return Error{"quotient: expected a divisor of rank " +
                 std::to_string(rank()) + ", found " +
                 std::to_string(low.rank())};
  TileCoord shape(rank());
  for (unsigned d = 0; d < rank(); ++d) {
    if (outerCounts[d] != 1 || low.outerCounts[d] != 1)
      return Error{"quotient: expected outer counts of 1, found " +
                   tuple(outerCounts) + " and " + tuple(low.outerCounts)};
    if (low.linearExtents[d] > linearExtents[d])
      return Error{"quotient: expected a divisor of at most " +
                   std::to_string(linearExtents[d]) + " in dimension " +
                   std::to_string(d) + ", found " +
                   std::to_string(low.linearExtents[d])};
    shape[d] = linearExtents[d] / low.linearExtents[d];
  }
  LaneBases bases;
  std::vector<TileCoord> *results[] = {&bases.reg, &bases.lane, &bases.warp,
                                       &bases.block};
  for (LaneDim dim : allDims) {
    std::string name = laneDimName(dim);
    if (low.numBits(dim) > numBits(dim))
      return Error{"quotient: expected at most " +
                   std::to_string(numBits(dim)) + " " + name +
                   " bits in the divisor, found " +
                   std::to_string(low.numBits(dim))};
    for (unsigned i = 0; i < numBits(dim); ++i) {
      TileCoord vector = basis(dim, i);
      if (i < low.numBits(dim)) {
        if (vector != low.basis(dim, i))
          return Error{"quotient: expected " + name + " vector " +
                       std::to_string(i) + " to be that of the divisor, " +
                       tuple(low.basis(dim, i)) + ", found " + tuple(vector)};
        continue;
      }
      for (unsigned d = 0; d < rank(); ++d) {
        if (vector[d] % low.linearExtents[d])
          return Error{
              "quotient: expected " + name + " vector " + std::to_string(i) +
              " to step over whole divisors, found " + tuple(basis(dim, i))};
        vector[d] /= low.linearExtents[d];
      }
      results[unsigned(dim)]->push_back(vector);
    }
  }
  return get(shape, bases);
}

LaneMap LaneMap::withoutReplicas() const {
  LaneMap result = *this;
  F2Vectors kept;
  for (LaneDim dim : allDims) {
    unsigned count = 0;
    for (uint64_t column : columns(dim))
      if (column) {
        kept.push_back(column);
        ++count;
      }
    result.bits[unsigned(dim)] = count;
  }
  Expected<F2Matrix> matrix =
      F2Matrix::get(linear.numOutputs(), std::move(kept));
  assert(matrix && "fewer columns cannot exceed the limits");
  result.linear = *matrix;
  return result;
}

bool tracea::algebra::equalUpToBroadcast(const LaneMap &a, const LaneMap &b) {
  return a.withoutReplicas() == b.withoutReplicas();
}

void LaneMap::print(std::ostream &os) const {
  os << "tile " << joined(tileShape(), "x");
  bool repeats = false;
  for (int64_t count : outerCounts)
    repeats |= count != 1;
  if (repeats)
    os << " = linear " << joined(linearExtents, "x") << " * outer "
       << joined(outerCounts, "x");
  os << '\n';
  const int64_t counts[] = {numRegisters(), numLanes(), numWarps(),
                            numBlocks()};
  for (LaneDim dim : allDims) {
    if (counts[unsigned(dim)] == 1 && dim != LaneDim::Reg &&
        dim != LaneDim::Lane)
      continue;
    std::string name = laneDimName(dim);
    name.resize(5, ' ');
    std::string count = std::to_string(counts[unsigned(dim)]);
    os << name << std::string(count.size() < 4 ? 4 - count.size() : 0, ' ')
       << count;
    for (unsigned i = 0; i < numBits(dim); ++i)
      os << (i ? " " : "  ") << tuple(basis(dim, i));
    os << '\n';
  }
}

std::string LaneMap::str() const {
  std::ostringstream os;
  print(os);
  return os.str();
}

std::ostream &tracea::algebra::operator<<(std::ostream &os,
                                          const LaneMap &map) {
  map.print(os);
  return os;
}

Expected<std::string> LaneMap::grid() const {
  constexpr int64_t maxElements = 4096;
  TileCoord shape = tileShape();
  if (rank() != 1 && rank() != 2)
    return Error{"grid: expected a tile of rank 1 or 2, found " +
                 std::to_string(rank())};
  int64_t rows = rank() == 2 ? shape[0] : 1, cols = shape.back();
  if (rows > maxElements / cols)
    return Error{"grid: expected at most " + std::to_string(maxElements) +
                 " elements, found " + joined(shape, "x")};
  std::vector<std::string> cells;
  size_t width = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col) {
      std::optional<Location> at =
          locate(rank() == 2 ? TileCoord{row, col} : TileCoord{col});
      std::string cell = "-";
      if (at) {
        cell = std::to_string(at->lane) + "." + std::to_string(at->reg);
        if (numWarps() > 1)
          cell = std::to_string(at->warp) + ":" + cell;
      }
      width = std::max(width, cell.size());
      cells.push_back(cell);
    }
  std::ostringstream os;
  for (size_t i = 0; i < cells.size(); ++i) {
    bool last = (i + 1) % cols == 0;
    os << std::setw(int(width)) << cells[i] << (last ? '\n' : ' ');
  }
  return os.str();
}
