//===- StagedRuns.cpp - Registers that are neighbours in a buffer ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decided here: how many registers of a lane are neighbours in staged memory,
// and so move as one vector.

#include "tracea/Conversion/TraceaPipeToGPU/StagedRuns.h"
#include "tracea/Conversion/TraceaPipeToGPU/ThreadOffsets.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

std::optional<StagedRuns> StagedRuns::get(const StagedWindow &window,
                                          RankedTensorType tile,
                                          const GPUTarget &target) {
  LanesAttr lanes = getLanes(tile);
  StagedRuns result;
  result.bytes = window.layout.elementBytes;
  int64_t mostBytes = target.getMostAccessBytes();
  if (result.bytes < target.getLeastVectorElementBytes() ||
      result.bytes >= mostBytes ||
      lanes.getNumLanes() > target.getSubgroupSize() || window.dims.empty())
    return std::nullopt;
  auto offset = [&](int64_t reg, int64_t lane, int64_t warp) {
    return window.getOffset(lanes.getCoordinate(reg, lane, warp));
  };
  int64_t origin = offset(0, 0, 0);
  for (size_t bit = 0; bit < lanes.getLane().size(); ++bit)
    result.laneSteps.push_back(offset(0, int64_t(1) << bit, 0) - origin);
  for (size_t bit = 0; bit < lanes.getWarp().size(); ++bit)
    result.warpSteps.push_back(offset(0, 0, int64_t(1) << bit) - origin);
  int64_t registers = lanes.getNumRegisters();
  int64_t whole = window.layout.swizzle.preservedVectorBytes();
  // Registers in a row are neighbours for as long as their bits double.
  int64_t most = mostBytes / result.bytes;
  while (2 * result.width <= most && registers % (2 * result.width) == 0 &&
         offset(result.width, 0, 0) - origin == result.width * result.bytes)
    result.width *= 2;
  auto isAligned = [&](int64_t run) {
    auto divides = [&](int64_t distance) { return distance % run == 0; };
    if ((whole && whole < run) || !divides(window.getTermsAlignment()) ||
        !llvm::all_of(result.laneSteps, divides) ||
        !llvm::all_of(result.warpSteps, divides))
      return false;
    for (int64_t reg = 0; reg < registers; reg += run / result.bytes)
      if (!divides(offset(reg, 0, 0)))
        return false;
    return true;
  };
  while (result.width > 1 && !isAligned(result.width * result.bytes))
    result.width /= 2;
  if (result.width == 1)
    return std::nullopt;
  for (int64_t reg = 0; reg < registers; reg += result.width)
    result.runs.push_back(offset(reg, 0, 0));
  // Panels are not linear: every element must lie where its bits say.
  for (int64_t warp = 0; warp < lanes.getNumWarps(); ++warp)
    for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane) {
      int64_t thread = 0;
      for (auto [bit, step] : llvm::enumerate(result.laneSteps))
        thread += lane >> bit & 1 ? step : 0;
      for (auto [bit, step] : llvm::enumerate(result.warpSteps))
        thread += warp >> bit & 1 ? step : 0;
      for (int64_t reg = 0; reg < registers; ++reg)
        if (offset(reg, lane, warp) != thread +
                                           result.runs[reg / result.width] +
                                           reg % result.width * result.bytes)
          return std::nullopt;
    }
  return result;
}

SmallVector<Address> StagedRuns::getPlaces(Emitter &b,
                                           const StagedWindow &window,
                                           Value buffer) const {
  return ThreadOffsets(b, window, buffer).get(laneSteps, warpSteps, runs);
}

void StagedRuns::store(Emitter &b, ArrayRef<Address> places,
                       Value registers) const {
  VectorType run =
      getRunType(cast<VectorType>(registers.getType()).getElementType());
  for (auto [number, place] : llvm::enumerate(places)) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(vector::ExtractOp::create(
          b, registers, static_cast<int64_t>(number) * width + i));
    b.store(vector::FromElementsOp::create(b, run, elements), place,
            width * bytes);
  }
}

Value StagedRuns::load(Emitter &b, ArrayRef<Address> places,
                       VectorType type) const {
  SmallVector<Value> elements;
  for (const Address &place : places) {
    Value run = b.load(getRunType(type.getElementType()), place,
                       static_cast<unsigned>(width * bytes));
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(vector::ExtractOp::create(b, run, i));
  }
  return vector::FromElementsOp::create(b, type, elements);
}
