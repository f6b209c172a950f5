//===- GPULaneModel.h - What lanes' products share --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of the variants whose lanes copy blocks of both operands into a ring and
// multiply them themselves: one role, one part of the sum.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_DOCTOR_GPULANEMODEL_H
#define TRACEA_LIB_DOCTOR_GPULANEMODEL_H

#include "Numbers.h"
#include "tracea/Doctor/Registry.h"

namespace tracea::doctor {

/// Warps that a workgroup may have.
constexpr int64_t kMostWarps = 32;

/// The bytes of the ring's slots.
int64_t ringBytesOf(const Problem &problem, const Plan &plan);

/// The cheapest of a variant's plans that fit; where none does, the first one,
/// of which the caller finds out why.
Plan cheapestPlan(const Variant &variant, const Problem &problem,
                  const TargetDescription &target);

/// Why a plan is none for the unit with a tile [m, n, k].
Reason checkLanePlan(const Plan &plan, UnitKind unit);
/// Why there is no room for its ring.
Reason checkRing(const Problem &problem, const TargetDescription &target,
                 const Plan &plan);

/// Tiles of the grid.
double tilesOf(const Problem &problem, const Plan &plan);

/// Cycles of the whole product from those of its computation: memory, where
/// its speed is known, is hidden for the most part.
double withMemory(const Problem &problem, const TargetDescription &target,
                  double compute);

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_GPULANEMODEL_H
