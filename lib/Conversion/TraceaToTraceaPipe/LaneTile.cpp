//===- LaneTile.cpp - Tiles as lanes multiply them ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaneTile.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

constexpr int64_t LaneGrid::kLongestRun;
constexpr int64_t LaneGrid::kLanes[2];

LaneGrid::LaneGrid(ArrayRef<int64_t> tile, ArrayRef<int64_t> registers) {
  for (int dim : {0, 1}) {
    run[dim] = std::min(registers[dim], kLongestRun);
    groups[dim] = registers[dim] / run[dim];
    warps[dim] = tile[dim] / (registers[dim] * kLanes[dim]);
  }
}

LanesAttr LaneGrid::getLanes(MLIRContext *context, LaneOperand operand,
                             int64_t depth, bool isAlongK,
                             int64_t rowGroups) const {
  alg::LaneBases bases;
  // The operand's dimensions of rows, columns and k of the product; -1: none.
  int rows = operand == LaneOperand::Rhs ? -1 : 0;
  int columns = operand == LaneOperand::Lhs ? -1 : 1;
  int contracted = operand == LaneOperand::Lhs ? 1 : 0;
  auto add = [&](std::vector<alg::TileCoord> &list, int dim, int64_t step) {
    alg::TileCoord vector = {0, 0};
    if (dim >= 0)
      vector[dim] = step;
    list.push_back(vector);
  };
  auto addAll = [&](std::vector<alg::TileCoord> &list, int dim, int64_t count,
                    int64_t scale) {
    for (int64_t step = 1; step < count; step *= 2)
      add(list, dim, step * scale);
  };
  auto addRegisters = [&](int dim, int64_t count, int64_t scale) {
    if (dim >= 0)
      addAll(bases.reg, dim, count, scale);
  };
  bool hasDepth = operand != LaneOperand::Result;
  if (hasDepth && isAlongK)
    addRegisters(contracted, depth, 1);
  addRegisters(columns, run[1], 1);
  addRegisters(rows, run[0], 1);
  if (hasDepth && !isAlongK)
    addRegisters(contracted, depth, 1);
  addRegisters(columns, groups[1], getSpan(1));
  addRegisters(rows, rowGroups, getSpan(0));
  add(bases.lane, columns, run[1]);
  add(bases.lane, rows, run[0]);
  add(bases.lane, columns, 2 * run[1]);
  add(bases.lane, rows, 2 * run[0]);
  add(bases.lane, columns, 4 * run[1]);
  addAll(bases.warp, rows, warps[0], getWarpSpan(0));
  addAll(bases.warp, columns, warps[1], getWarpSpan(1));
  return getLanesAttr(context, bases, {1, 1});
}

RankedTensorType mlir::tracea::getLaneBlock(ArrayRef<int64_t> shape,
                                            Type element, int64_t apart,
                                            int64_t lanes) {
  constexpr int64_t kPieceBit = 4, kBankBits = 7;
  int64_t rowBytes = shape[1] * element.getIntOrFloatBitWidth() / 8;
  int64_t first = llvm::Log2_64(rowBytes * apart);
  int64_t last = std::min<int64_t>(first + llvm::Log2_64(lanes),
                                   llvm::Log2_64(rowBytes * shape[0]));
  SmallVector<int64_t> swizzle;
  int64_t bit = kPieceBit, end = std::min(first, kBankBits);
  for (int64_t source = std::max(first, kBankBits); source < last && bit < end;
       ++source, ++bit)
    swizzle.append({bit, source});
  auto staged = StagedAttr::get(element.getContext(), swizzle);
  return RankedTensorType::get(shape, element, staged);
}

std::optional<::tracea::target::TargetDescription>
mlir::tracea::getDescription(TargetAttr target) {
  StringRef name = target ? target.getName() : StringRef();
  return ::tracea::target::lookup(std::string_view(name.data(), name.size()));
}

bool mlir::tracea::hasAsyncCopies(TargetAttr target) {
  std::optional<::tracea::target::TargetDescription> description =
      getDescription(target);
  return !description || description->async.asyncCopy;
}
