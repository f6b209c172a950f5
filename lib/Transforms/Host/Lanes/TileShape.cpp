//===- TileShape.cpp - Which lanes take which elements --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes/TileShape.h"
#include "Lanes/LaneVectors.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// Lanes of a workgroup: more than enough loads are in flight with several
/// workgroups on a multiprocessor.
constexpr int64_t kLanes = 256;
/// Those along a loop of open extent where there is another loop beside it.
constexpr int64_t kOpenLanes = 64;
/// Elements that a lane reads one by one where it reads no vectors.
constexpr int64_t kSingles = 4;
/// Bytes of neighbours that memory gives at a time.
constexpr int64_t kSegmentBytes = 64;
/// Terms of sums that few workgroups take without waiting long for each other's
/// loads, and lanes of a launch that leaves much of a machine idle.
constexpr int64_t kShortColumn = 2048, kFewLanes = 1 << 15;
/// Rows and columns of a tile that is transposed, in elements of up to 4 bytes.
constexpr int64_t kSquare = 64;

std::optional<unsigned> mlir::tracea::getColumnLoop(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

static int64_t getBytes(Value memory) {
  return getElementTypeOrSelf(memory.getType()).getIntOrFloatBitWidth() / 8;
}

/// The next power of two, from 1 to `most`, which is one.
static int64_t roundUp(int64_t count, int64_t most = kLanes) {
  return static_cast<int64_t>(
      llvm::PowerOf2Ceil(std::clamp<int64_t>(count, 1, most)));
}

TileShape::TileShape(linalg::LinalgOp op, ArrayRef<OpFoldResult> extents,
                     bool isAligned, int64_t subgroup)
    : op(op), extents(extents), isAligned(isAligned), subgroup(subgroup),
      iterators(op.getIteratorTypesArray()) {
  chooseLoops();
  if (op.getNumReductionLoops())
    chooseReduction();
  else if (isTransposed)
    chooseSquare();
  else
    chooseTile();
}

StringRef TileShape::describe() const {
  if (llvm::is_contained(iterators, utils::IteratorType::reduction))
    return "each goes through what is reduced, and they meet at the end";
  if (isTransposed)
    return "an operand's neighbours lie along another loop, so that its tile "
           "is read along that one and relaid";
  return "neighbours in the result are neighbouring lanes";
}

int64_t TileShape::getVector(int64_t bytes) const {
  return isAligned ? std::max<int64_t>(kVectorBytes / bytes, 1) : 1;
}

int64_t TileShape::getExtent(std::optional<unsigned> loop, int64_t open) const {
  if (!loop)
    return 1;
  return getConstantIntValue(extents[*loop]).value_or(open);
}

void TileShape::chooseLoops() {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  int64_t least = kVectorBytes, most = 1;
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType())) {
      least = std::min(least, getBytes(operand));
      most = std::max(most, getBytes(operand));
    }
  vector = getVector(least);
  while (vector > 1 && vector * most > kMostVectorBytes)
    vector /= 2;
  if (op.getNumReductionLoops())
    return;
  columnLoop = *getColumnLoop(result);
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    std::optional<unsigned> column = getColumnLoop(map);
    if (!column || *column == columnLoop || !map.isFunctionOfDim(columnLoop) ||
        getConstantIntValue(extents[*column]) == 1)
      continue;
    rowLoop = column;
    isTransposed = true;
    int64_t found = getVector(getBytes(input->get()));
    transposedVector = std::max(transposedVector, found);
  }
  if (!rowLoop)
    chooseRowLoop(result);
}

/// The innermost loop beside the columns that has rows for a whole workgroup,
/// or else the longest one.
void TileShape::chooseRowLoop(AffineMap result) {
  int64_t along =
      roundUp(llvm::divideCeil(getExtent(columnLoop, kLanes * vector), vector));
  int64_t longest = 0;
  for (unsigned dim = result.getNumResults(); dim-- > 0;) {
    auto loop = dyn_cast<AffineDimExpr>(result.getResult(dim));
    if (!loop || loop.getPosition() == columnLoop)
      continue;
    int64_t extent = getExtent(loop.getPosition(), kLanes);
    if (extent <= longest)
      continue;
    rowLoop = loop.getPosition();
    longest = extent;
    if (extent * along >= kLanes)
      return;
  }
}

/// Whether few lanes at a time would reduce few columns, that are short, of
/// known extents, by tiles of `columns`.
bool TileShape::isShort(int64_t columns) const {
  if (isReduced(columnLoop) || !rowLoop ||
      llvm::any_of(extents, [](OpFoldResult extent) {
        return !getConstantIntValue(extent);
      }))
    return false;
  int64_t terms = 1, tiles = 1;
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    int64_t count = *getConstantIntValue(extent);
    if (loop == columnLoop)
      count = llvm::divideCeil(count, columns);
    (isReduced(loop) ? terms : tiles) = llvm::SaturatingMultiply<uint64_t>(
        isReduced(loop) ? terms : tiles, count);
  }
  return terms <= kShortColumn && tiles < kFewLanes / kLanes;
}

/// Lanes along the loop whose neighbours are neighbours in the operand. If it
/// is reduced, rows are those of the result; if not, they are reduced, by warps
/// that lie below each other.
void TileShape::chooseReduction() {
  AffineMap whole;
  Value widest;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()) ||
        !op.getMatchingIndexingMap(input).isPermutation())
      continue;
    if (!whole)
      whole = op.getMatchingIndexingMap(input);
    if (!widest || getBytes(widest) < getBytes(input->get()))
      widest = input->get();
  }
  columnLoop = *getColumnLoop(whole);
  for (unsigned i = whole.getNumResults() - 1; i-- > 0;) {
    unsigned loop = whole.getDimPosition(i);
    if (isReduced(loop) != isReduced(columnLoop) && !rowLoop)
      rowLoop = loop;
  }
  // A lane adds up several vectors, of rows that are reduced or of its own.
  constexpr int64_t kVectors = 4;
  int64_t most = isReduced(columnLoop) ? kLanes : subgroup;
  int64_t open = most * vector * kVectors;
  int64_t along =
      std::min(most, roundUp(llvm::divideCeil(
                         getExtent(columnLoop, open),
                         vector * (isReduced(columnLoop) ? kVectors : 1))));
  int64_t down =
      std::min(roundUp(getExtent(rowLoop, kLanes / along)), kLanes / along);
  along = std::max(along, subgroup / down);
  threads = along * down;
  auto hasMore = [&]() {
    return getExtent(rowLoop, 0) > down * kVectors &&
           along * vector * getBytes(widest) > kSegmentBytes;
  };
  while (isShort(along * vector) && hasMore()) {
    isNarrow = true;
    along /= 2;
    down *= 2;
  }
  int64_t held = 1;
  if (isReduced(columnLoop))
    held = std::min<int64_t>(kVectors,
                             llvm::PowerOf2Ceil(llvm::divideCeil(
                                 getExtent(columnLoop, open), along * vector)));
  columns = along * vector * held;
  rows = down;
  if (!isReduced(columnLoop) && rowLoop)
    rows = std::min<int64_t>(down * kVectors, llvm::PowerOf2Ceil(getExtent(
                                                  rowLoop, down * kVectors)));
  alongColumns = makeLanes(/*fast=*/1, vector, along);
}

/// A row of lanes, or several short ones, each lane with a vector.
void TileShape::chooseTile() {
  int64_t singles = isAligned ? 1 : kSingles, run = vector * singles;
  int64_t open = (rowLoop ? kOpenLanes : kLanes) * run;
  int64_t along = roundUp(llvm::divideCeil(getExtent(columnLoop, open), run));
  int64_t down =
      std::min(roundUp(getExtent(rowLoop, kLanes / along)), kLanes / along);
  along = std::max(along, subgroup / down);
  rows = down;
  columns = along * run;
  threads = along * down;
  alongColumns = makeLanes(/*fast=*/1, vector, along);
}

/// As many rows as columns, as far as there are such.
void TileShape::chooseSquare() {
  int64_t widest = 1;
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType()))
      widest = std::max(widest, getBytes(operand));
  int64_t most = widest > 4 ? kSquare / 2 : kSquare;
  rows = roundUp(getExtent(rowLoop, most), most);
  columns = roundUp(getExtent(columnLoop, most), most);
  columns = std::max(columns, subgroup / rows);
  vector = std::min(vector, columns);
  transposedVector = std::min(transposedVector, rows);
  auto left = [&]() {
    return rows * columns / std::max(vector, transposedVector);
  };
  while (left() < subgroup) {
    vector = std::max<int64_t>(vector / 2, 1);
    transposedVector = std::max<int64_t>(transposedVector / 2, 1);
  }
  threads = std::min(kLanes, left());
  alongColumns = makeLanes(/*fast=*/1, vector, columns / vector);
  alongRows = makeLanes(/*fast=*/0, transposedVector, rows / transposedVector);
}

/// So many lanes with vectors along one dimension of the tile, then along the
/// other one; what they do not reach each of them holds.
LanesAttr TileShape::makeLanes(unsigned fast, int64_t vector,
                               int64_t lanes) const {
  alg::LaneBases bases;
  int64_t shape[2] = {rows, columns}, placed = 1;
  auto add = [&](unsigned dim, int64_t step) {
    alg::TileCoord vector = {0, 0};
    vector[dim] = step;
    if (placed == threads) {
      bases.reg.push_back(vector);
      return;
    }
    (placed < subgroup ? bases.lane : bases.warp).push_back(vector);
    placed *= 2;
  };
  for (int64_t step = 1; step < vector; step *= 2) {
    alg::TileCoord vector = {0, 0};
    vector[fast] = step;
    bases.reg.push_back(vector);
  }
  int64_t reach = vector * lanes;
  for (int64_t step = vector; step < reach; step *= 2)
    add(fast, step);
  for (int64_t step = 1; step < shape[1 - fast]; step *= 2)
    add(1 - fast, step);
  for (int64_t step = reach; step < shape[fast]; step *= 2)
    add(fast, step);
  return getLanesAttr(op->getContext(), bases, {1, 1});
}
