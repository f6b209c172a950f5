//===- MakeMap.h - Lane maps of tests ---------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_UNITTESTS_ALGEBRA_MAKEMAP_H
#define TRACEA_UNITTESTS_ALGEBRA_MAKEMAP_H

#include "tracea/Algebra/LaneMap.h"
#include "gtest/gtest.h"

namespace tracea::algebra {

/// The map of these bases, which has to exist.
inline LaneMap makeMap(TileCoord shape, const LaneBases &bases,
                       TileCoord outer = {}) {
  Expected<LaneMap> map = LaneMap::get(std::move(shape), bases, outer);
  EXPECT_TRUE(map) << map.message();
  return *map;
}

} // namespace tracea::algebra

#endif // TRACEA_UNITTESTS_ALGEBRA_MAKEMAP_H
