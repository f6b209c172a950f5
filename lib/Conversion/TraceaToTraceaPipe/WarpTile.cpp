//===- WarpTile.cpp - Tiles as warps multiply them ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WarpTile.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// The longest rows that are swizzled as one.
static constexpr int64_t kMostSwizzledBytes = 128;

constexpr int64_t WarpGrid::fragment[2];

WarpGrid::WarpGrid(ArrayRef<int64_t> tile, ArrayRef<int64_t> warpTile) {
  for (auto [dim, extent] : llvm::enumerate(warpTile)) {
    int64_t pieces = extent / fragment[dim];
    power[dim] = pieces & -pieces;
    outer[dim] = pieces / power[dim];
    warps[dim] = tile[dim] / extent;
  }
}

/// The lane map of an operand: that of the instruction, then registers for
/// further instructions, columns first, then warps. Along rows warps lie side
/// by side and registers repeat them, so that some rows of all warps are a
/// tile. An operand lacks one of the dimensions of the result: warps that
/// differ there hold the same.
LanesAttr WarpGrid::getLanes(MLIRContext *context, alg::MatrixOperand operand,
                             const alg::LaneMap &map) const {
  alg::LaneBases bases = getLaneBases(map);
  // The operand's dimensions that are one of the result.
  bool has[2] = {operand != alg::MatrixOperand::B,
                 operand != alg::MatrixOperand::A};
  auto add = [&](std::vector<alg::TileCoord> &list, int dim, int64_t to,
                 int64_t scale) {
    for (int64_t step = 1; step < to; step *= 2) {
      alg::TileCoord vector = {0, 0};
      if (has[dim])
        vector[dim] = step * scale;
      list.push_back(vector);
    }
  };
  if (has[1])
    add(bases.reg, 1, power[1], fragment[1]);
  if (has[0])
    add(bases.reg, 0, power[0], fragment[0] * warps[0]);
  add(bases.warp, 0, warps[0], fragment[0]);
  add(bases.warp, 1, warps[1], fragment[1] * power[1]);
  int64_t repeats[2] = {has[0] ? outer[0] : 1, has[1] ? outer[1] : 1};
  return getLanesAttr(context, bases, repeats);
}

RankedTensorType WarpGrid::getTile(alg::MatrixOperand operand,
                                   ArrayRef<int64_t> extents, Type type,
                                   Type multiplied, int64_t depth) const {
  alg::Expected<alg::LaneMap> fragment =
      alg::mmaM16N8(operand, depth ? depth : getDepth(multiplied),
                    multiplied.getIntOrFloatBitWidth());
  assert(fragment && "the depth of an instruction");
  return RankedTensorType::get(extents, type,
                               getLanes(type.getContext(), operand, *fragment));
}

RankedTensorType mlir::tracea::getWarpBlock(int64_t rows, int64_t columns,
                                            Type element, bool readsAcross) {
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t rowBytes = columns * bits / 8;
  int64_t swizzled = std::min(rowBytes & -rowBytes, kMostSwizzledBytes);
  if (swizzled < kDepthBytes || rows % 8)
    return {};
  // The low bit of a piece and what it is added to.
  SmallVector<int64_t> swizzle;
  for (int64_t bit = readsAcross ? 5 : 4, row = 7;
       int64_t(1) << (bit + 1) <= swizzled; ++bit, ++row)
    swizzle.append({bit, row});
  auto staged = StagedAttr::get(element.getContext(), swizzle,
                                rowBytes == swizzled ? 0 : swizzled * 8 / bits);
  return RankedTensorType::get({rows, columns}, element, staged);
}

LanesAttr mlir::tracea::getPartLanes(MLIRContext *context) {
  return getLanesAttr(context,
                      {{{0, 1}, {0, 2}},
                       {{0, 4}, {0, 8}, {0, 16}, {0, 32}, {0, 64}},
                       {{1, 0}, {2, 0}},
                       {}},
                      {1, 1});
}

static LanesAttr getRowLanes(LanesAttr lanes, int64_t elementBits) {
  SmallVector<DenseI64ArrayAttr> reg(lanes.getReg()), lane(lanes.getLane());
  auto isColumn = [](DenseI64ArrayAttr vector) { return vector[0] == 0; };
  // The columns of the lane's registers and of the four lanes, ascending.
  SmallVector<DenseI64ArrayAttr *> places;
  for (auto *list : {&reg, &lane})
    for (DenseI64ArrayAttr &vector : *list)
      if (isColumn(vector))
        places.push_back(&vector);
  int64_t wanted = llvm::Log2_64(128 / elementBits);
  SmallVector<DenseI64ArrayAttr> columns;
  for (DenseI64ArrayAttr *place : places)
    columns.push_back(*place);
  llvm::sort(columns, [](DenseI64ArrayAttr a, DenseI64ArrayAttr b) {
    return a[1] < b[1];
  });
  // A lane keeps `kept` columns beside one another; then come the four lanes.
  size_t inRegisters = columns.size() - 2;
  size_t kept = std::min<size_t>(wanted, inRegisters);
  SmallVector<DenseI64ArrayAttr> newReg(columns.begin(),
                                        columns.begin() + kept);
  SmallVector<DenseI64ArrayAttr> newLane(columns.begin() + kept,
                                         columns.begin() + kept + 2);
  newReg.append(columns.begin() + kept + 2, columns.end());
  for (DenseI64ArrayAttr vector : reg)
    if (!isColumn(vector))
      newReg.push_back(vector);
  for (DenseI64ArrayAttr vector : lane)
    if (!isColumn(vector))
      newLane.push_back(vector);
  return LanesAttr::get(lanes.getContext(), newReg, newLane, lanes.getWarp(),
                        lanes.getOuter());
}

Value mlir::tracea::relayoutToRows(ImplicitLocOpBuilder &b, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto side = RankedTensorType::get(
      type.getShape(), type.getElementType(),
      getRowLanes(getLanes(type), type.getElementTypeBitWidth()));
  return side == type ? tile : RelayoutOp::create(b, side, tile);
}
