//===- LaneView.h - Who holds which element of a tile -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_EXPLAIN_LANEVIEW_H
#define TRACEA_EXPLAIN_LANEVIEW_H

#include "tracea/Algebra/LaneMap.h"

namespace tracea::explain {

/// "16x64 elements: 8 registers of 32 lanes of 4 warps, each element once".
std::string describeLanes(const algebra::LaneMap &lanes);

/// The basis vectors, then a table of the last two dimensions: in each cell
/// lane and register, "5.2", before them the warp where there are several,
/// "3:5.2". Tiles beyond 32x32 are cut off, which the text says.
std::string laneText(const algebra::LaneMap &lanes);

/// The table as a drawing, coloured by lane.
std::string laneSvg(const algebra::LaneMap &lanes, const std::string &title);

} // namespace tracea::explain

#endif // TRACEA_EXPLAIN_LANEVIEW_H
