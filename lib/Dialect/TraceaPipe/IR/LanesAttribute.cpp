//===- LanesAttribute.cpp - Which lane holds which element ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a lane map is one, and what follows from its bases.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Bounds that keep extents and register counts far from overflow.
static constexpr unsigned kMaxRegisterBits = 12;
static constexpr int64_t kMaxCoordinate = int64_t(1) << 20;

/// Every coordinate below the linear extents must be a sum of basis vectors:
/// else part of the tile would live nowhere.
static LogicalResult
verifyCoverage(function_ref<InFlightDiagnostic()> emitError,
               ArrayRef<ArrayRef<DenseI64ArrayAttr>> bases, unsigned rank) {
  // Gaussian elimination over F2; each pivot is found by its leading bit.
  SmallVector<SmallVector<int64_t>> pivots;
  auto getLead = [](ArrayRef<int64_t> vector) -> std::pair<int64_t, int64_t> {
    for (auto [dim, coordinate] : llvm::enumerate(vector))
      if (coordinate)
        return {static_cast<int64_t>(dim), llvm::Log2_64(coordinate)};
    return {-1, -1};
  };
  SmallVector<int64_t> all(rank, 0);
  for (ArrayRef<DenseI64ArrayAttr> basis : bases)
    for (DenseI64ArrayAttr attr : basis) {
      SmallVector<int64_t> vector(attr.asArrayRef());
      for (auto [sum, coordinate] : llvm::zip(all, vector))
        sum |= coordinate;
      for (ArrayRef<int64_t> pivot : pivots) {
        auto [dim, bit] = getLead(pivot);
        if (vector[dim] >> bit & 1)
          for (auto [x, y] : llvm::zip(vector, pivot))
            x ^= y;
      }
      if (getLead(vector).first >= 0)
        pivots.push_back(vector);
    }
  size_t bits = 0;
  for (int64_t coordinates : all)
    bits += llvm::Log2_64_Ceil(static_cast<uint64_t>(coordinates) + 1);
  if (pivots.size() == bits)
    return success();
  return emitError() << "lane map must cover its tile: its vectors span "
                     << pivots.size() << " of " << bits << " coordinate bits";
}

LogicalResult LanesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<DenseI64ArrayAttr> reg,
                                ArrayRef<DenseI64ArrayAttr> lane,
                                ArrayRef<DenseI64ArrayAttr> warp,
                                ArrayRef<int64_t> outer) {
  for (int64_t repeat : outer)
    if (repeat < 1)
      return emitError() << "lane map repeats must be positive, found "
                         << repeat;
  if (reg.size() > kMaxRegisterBits || lane.size() > 10 || warp.size() > 10)
    return emitError() << "lane map has too many bits: at most "
                       << kMaxRegisterBits
                       << " of registers, 10 of lanes, 10 of warps";
  int64_t registers = int64_t(1) << reg.size();
  for (int64_t repeat : outer)
    if (llvm::MulOverflow(registers, repeat, registers) ||
        registers > int64_t(1) << kMaxRegisterBits)
      return emitError() << "lane map has more than "
                         << (int64_t(1) << kMaxRegisterBits)
                         << " registers, repeats included";
  for (ArrayRef<DenseI64ArrayAttr> basis : {reg, lane, warp})
    for (DenseI64ArrayAttr vector : basis) {
      if (vector.size() != static_cast<int64_t>(outer.size()))
        return emitError() << "lane map basis vectors must have one coordinate "
                              "per tile dimension ("
                           << outer.size() << "), found " << vector.size();
      for (int64_t coordinate : vector.asArrayRef())
        if (coordinate < 0 || coordinate > kMaxCoordinate)
          return emitError() << "lane map coordinates must lie in [0, "
                             << kMaxCoordinate << "], found " << coordinate;
    }
  return verifyCoverage(emitError, {reg, lane, warp}, outer.size());
}

/// Extents covered by the linear part: the next power of two above the OR of
/// all coordinates of a dimension.
static SmallVector<int64_t> getLinearShape(LanesAttr lanes) {
  SmallVector<int64_t> shape(lanes.getRank(), 1);
  for (ArrayRef<DenseI64ArrayAttr> basis :
       {lanes.getReg(), lanes.getLane(), lanes.getWarp()})
    for (DenseI64ArrayAttr vector : basis)
      for (auto [extent, coordinate] : llvm::zip(shape, vector.asArrayRef()))
        extent = std::max<int64_t>(extent, llvm::NextPowerOf2(coordinate));
  return shape;
}

SmallVector<int64_t> LanesAttr::getTileShape() const {
  SmallVector<int64_t> shape = getLinearShape(*this);
  for (auto [extent, repeat] : llvm::zip(shape, getOuter()))
    extent *= repeat;
  return shape;
}

int64_t LanesAttr::getNumRegisters() const {
  int64_t count = int64_t(1) << getReg().size();
  for (int64_t repeat : getOuter())
    count *= repeat;
  return count;
}

SmallVector<int64_t> LanesAttr::getCoordinate(int64_t reg, int64_t lane,
                                              int64_t warp) const {
  SmallVector<int64_t> linear(getRank(), 0);
  auto apply = [&](ArrayRef<DenseI64ArrayAttr> basis, int64_t index) {
    for (auto [bit, vector] : llvm::enumerate(basis))
      if (index >> bit & 1)
        for (auto [sum, coordinate] : llvm::zip(linear, vector.asArrayRef()))
          sum ^= coordinate;
  };
  apply(getReg(), reg & ((int64_t(1) << getReg().size()) - 1));
  apply(getLane(), lane);
  apply(getWarp(), warp);
  // The repeats: last dimension fastest.
  int64_t repeatIndex = reg >> getReg().size();
  SmallVector<int64_t> extents = getLinearShape(*this);
  for (int64_t dim = static_cast<int64_t>(getRank()) - 1; dim >= 0; --dim) {
    linear[dim] += extents[dim] * (repeatIndex % getOuter()[dim]);
    repeatIndex /= getOuter()[dim];
  }
  return linear;
}

std::optional<unsigned> LanesAttr::getContiguousLaneDim() const {
  if (getLane().empty())
    return std::nullopt;
  std::optional<unsigned> result;
  for (auto [bit, vector] : llvm::enumerate(getLane())) {
    int64_t nonZero = 0;
    for (auto [dim, coordinate] : llvm::enumerate(vector.asArrayRef())) {
      if (coordinate == 0)
        continue;
      ++nonZero;
      if (coordinate != int64_t(1) << bit ||
          (result && *result != static_cast<unsigned>(dim)))
        return std::nullopt;
      result = dim;
    }
    if (nonZero != 1)
      return std::nullopt;
  }
  return result;
}

bool LanesAttr::hasSeparateLanes() const {
  SmallVector<int64_t> used(getRank(), 0);
  for (DenseI64ArrayAttr vector : getReg())
    for (auto [sum, coordinate] : llvm::zip(used, vector.asArrayRef()))
      sum |= coordinate;
  // The lanes of every warp: where warps meet registers there is no sum either.
  auto isSeparate = [&](DenseI64ArrayAttr vector) {
    return llvm::all_of(llvm::zip(used, vector.asArrayRef()), [](auto pair) {
      return (std::get<0>(pair) & std::get<1>(pair)) == 0;
    });
  };
  return llvm::all_of(getLane(), isSeparate) &&
         llvm::all_of(getWarp(), isSeparate);
}

LogicalResult
LanesAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                          function_ref<InFlightDiagnostic()> emitError) const {
  // The parser asks even where it has just refused the element type.
  if (!elementType)
    return failure();
  if (!elementType.isIndex() && !elementType.isSignlessIntOrFloat())
    return emitError() << "register tile elements must be floats, signless "
                          "integers or indices, found "
                       << elementType;
  SmallVector<int64_t> covered = getTileShape();
  if (ArrayRef<int64_t>(covered) == shape)
    return success();
  InFlightDiagnostic diag = emitError() << "register tile of shape [";
  llvm::interleaveComma(shape, diag);
  diag << "], its lane map covers [";
  llvm::interleaveComma(covered, diag);
  return diag << "]";
}

LanesAttr LanesAttr::getVectorTile(MLIRContext *context,
                                   ArrayRef<int64_t> shape, int64_t lanes) {
  int64_t rank = shape.size();
  assert(rank > 0 && llvm::isPowerOf2_64(lanes) && shape.back() % lanes == 0 &&
         "the last extent must be a multiple of the lanes");
  SmallVector<DenseI64ArrayAttr> reg, lane;
  auto basis = [&](int64_t dim, int64_t coordinate) {
    SmallVector<int64_t> vector(rank, 0);
    vector[dim] = coordinate;
    return DenseI64ArrayAttr::get(context, vector);
  };
  for (int64_t step = 1; step < lanes; step *= 2)
    lane.push_back(basis(rank - 1, step));
  SmallVector<int64_t> outer(rank, 1);
  bool repeats = false;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    int64_t base = dim == rank - 1 ? lanes : 1;
    int64_t count = shape[dim] / base;
    // The power of two in `count` is linear, the odd rest is repeated. Repeats
    // vary slowest: from the first on, the slower dimensions must all repeat
    // for registers to stay in row-major order.
    int64_t power = repeats ? 1 : count & -count;
    outer[dim] = count / power;
    repeats |= outer[dim] != 1;
    for (int64_t step = 1; step < power; step *= 2)
      reg.push_back(basis(dim, base * step));
  }
  return get(context, reg, lane, {}, outer);
}

LanesAttr LanesAttr::getReduced(unsigned dim, int64_t groups) const {
  int64_t extent = getTileShape()[dim];
  int64_t linear = extent / getOuter()[dim];
  SmallVector<int64_t> outer(getOuter());
  int64_t run = linear;
  if (groups == 1) {
    outer[dim] = 1;
  } else {
    run = groups > 0 && extent % groups == 0 ? extent / groups : 0;
    if (!llvm::isPowerOf2_64(run) || linear % run)
      return {};
  }
  auto project = [&](ArrayRef<DenseI64ArrayAttr> basis, bool dropZero) {
    SmallVector<DenseI64ArrayAttr> result;
    for (DenseI64ArrayAttr vector : basis) {
      SmallVector<int64_t> coordinates(vector.asArrayRef());
      coordinates[dim] = groups == 1 ? 0 : coordinates[dim] / run;
      // One register serves a whole reduced group; lanes keep their copies.
      if (dropZero && llvm::all_of(coordinates, [](int64_t c) { return !c; }))
        continue;
      result.push_back(DenseI64ArrayAttr::get(getContext(), coordinates));
    }
    return result;
  };
  return get(getContext(), project(getReg(), true), project(getLane(), false),
             project(getWarp(), false), outer);
}
