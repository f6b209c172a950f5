//===- MatrixTransfer.cpp - Fragments to and from memory by matrices ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixTransfer.h"
#include "ThreadOffsets.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

constexpr int64_t kRowBytes = 16, kWordBytes = 4, kRows = 8;

static int64_t sumSteps(ArrayRef<int64_t> steps, int64_t bits) {
  int64_t total = 0;
  for (auto [bit, bytes] : llvm::enumerate(steps))
    total += bits >> bit & 1 ? bytes : 0;
  return total;
}

std::optional<MatrixTransfer> MatrixTransfer::get(const StagedWindow &window,
                                                  RankedTensorType tile) {
  LanesAttr lanes = getLanes(tile);
  unsigned bits = tile.getElementTypeBitWidth();
  if ((bits != 8 && bits != 16 && bits != 32) ||
      lanes.getNumLanes() != kWarpSize)
    return std::nullopt;
  int64_t bytes = bits / 8, perWord = kWordBytes / bytes;
  int64_t perGroup = kMatrices * perWord;
  if ((int64_t(1) << lanes.getReg().size()) % perGroup)
    return std::nullopt;
  // Rows stay whole if they begin at multiples of 16 bytes that the swizzle
  // keeps together.
  uint64_t whole = window.layout.swizzle.preservedVectorBytes();
  if ((whole && whole < kRowBytes) || window.getTermsAlignment() % kRowBytes)
    return std::nullopt;
  auto offset = [&](int64_t reg, int64_t lane, int64_t warp = 0) {
    return window.getOffset(lanes.getCoordinate(reg, lane, warp));
  };
  int64_t origin = offset(0, 0);
  auto step = [&](int64_t reg, int64_t lane, int64_t warp = 0) {
    return offset(reg, lane, warp) - origin;
  };
  MatrixTransfer transfer;
  bool alongRows = step(0, 1) == kWordBytes && step(0, 2) == 2 * kWordBytes;
  for (int64_t reg = 1; reg < perWord; reg *= 2)
    alongRows &= step(reg, 0) == reg * bytes;
  if (alongRows) {
    transfer.laneSteps = {step(0, 4), step(0, 8), step(0, 16)};
  } else if (perWord == 2 && step(0, 4) == bytes && step(0, 8) == 2 * bytes &&
             step(0, 16) == 4 * bytes) {
    transfer.transposed = true;
    transfer.laneSteps = {step(1, 0), step(0, 1), step(0, 2)};
  } else {
    return std::nullopt;
  }
  transfer.laneSteps.push_back(step(perWord, 0));
  transfer.laneSteps.push_back(step(2 * perWord, 0));
  for (int64_t warp = 1; warp < lanes.getNumWarps(); warp *= 2)
    transfer.warpSteps.push_back(step(0, 0, warp));
  int64_t registers = lanes.getNumRegisters();
  for (int64_t reg = 0; reg < registers; reg += perGroup)
    transfer.groups.push_back(offset(reg, 0));
  // Every row must begin where these say, at a multiple of 16 bytes, and be
  // neighbours.
  for (int64_t word = 0; word < registers / perWord; ++word)
    for (int64_t warp = 0; warp < lanes.getNumWarps(); ++warp)
      for (int64_t row = 0; row < kRows; ++row) {
        int64_t first =
            transfer.groups[word / kMatrices] +
            sumSteps(transfer.laneSteps, row | word % kMatrices << 3) +
            sumSteps(transfer.warpSteps, warp);
        if (first % kRowBytes)
          return std::nullopt;
        for (int64_t column = 0; column < kRowBytes / bytes; ++column) {
          int64_t reg = word * perWord, lane;
          if (transfer.transposed) {
            reg += row & 1;
            lane = row >> 1 | column << 2;
          } else {
            reg += column % perWord;
            lane = row << 2 | column / perWord;
          }
          if (offset(reg, lane, warp) != first + bytes * column)
            return std::nullopt;
        }
      }
  return transfer;
}

SmallVector<Value> MatrixTransfer::getPointers(Emitter &b,
                                               const StagedWindow &window,
                                               Value buffer) const {
  return ThreadOffsets(b, window, buffer).get(laneSteps, warpSteps, groups);
}
