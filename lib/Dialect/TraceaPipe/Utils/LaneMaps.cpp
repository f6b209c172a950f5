//===- LaneMaps.cpp - Lane maps of types as algebra -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

alg::Expected<alg::LaneMap> mlir::tracea_pipe::getLaneMap(LanesAttr lanes) {
  alg::LaneBases bases;
  auto convert = [](ArrayRef<DenseI64ArrayAttr> from,
                    std::vector<alg::TileCoord> &to) {
    for (DenseI64ArrayAttr vector : from)
      to.emplace_back(vector.asArrayRef().begin(), vector.asArrayRef().end());
  };
  convert(lanes.getReg(), bases.reg);
  convert(lanes.getLane(), bases.lane);
  convert(lanes.getWarp(), bases.warp);
  alg::TileCoord linear, outer;
  for (auto [extent, repeats] :
       llvm::zip(lanes.getTileShape(), lanes.getOuter())) {
    linear.push_back(extent / repeats);
    outer.push_back(repeats);
  }
  return alg::LaneMap::get(linear, bases, outer);
}
