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

LanesAttr mlir::tracea_pipe::getLanesAttr(MLIRContext *context,
                                          const alg::LaneBases &bases,
                                          ArrayRef<int64_t> outer) {
  assert(bases.block.empty() && "a tile lies in one workgroup");
  auto convert = [&](const std::vector<alg::TileCoord> &from) {
    return llvm::map_to_vector(from, [&](const alg::TileCoord &vector) {
      return DenseI64ArrayAttr::get(context, vector);
    });
  };
  return LanesAttr::get(context, convert(bases.reg), convert(bases.lane),
                        convert(bases.warp), outer);
}

alg::LaneBases mlir::tracea_pipe::getLaneBases(const alg::LaneMap &map) {
  alg::LaneBases bases;
  std::pair<alg::LaneDim, std::vector<alg::TileCoord> *> lists[] = {
      {alg::LaneDim::Reg, &bases.reg},
      {alg::LaneDim::Lane, &bases.lane},
      {alg::LaneDim::Warp, &bases.warp},
      {alg::LaneDim::Block, &bases.block}};
  for (auto [dim, vectors] : lists)
    for (unsigned bit = 0; bit < map.numBits(dim); ++bit)
      vectors->push_back(map.basis(dim, bit));
  return bases;
}
