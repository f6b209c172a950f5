//===- GPULaneModel.h - What lanes' products share --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of the variants whose lanes copy blocks of both operands into a ring and
// multiply them themselves: one role.
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

/// Why a plan is none for the unit with a tile [m, n, k].
Reason checkLanePlan(const Plan &plan, UnitKind unit);
/// Why there is no room for its ring, or a part of the sum would be empty.
Reason checkRing(const Problem &problem, const TargetDescription &target,
                 const Plan &plan);

/// Adds a plan, and the same with the sum in parts where the program knows how
/// long it is and tiles leave most of the machine idle.
void addParts(const Problem &problem, const TargetDescription &target,
              const Plan &plan, std::vector<Plan> &plans);
/// Why no other kernel can stand beside those of a plan.
Reason whyPartsAlone(const Plan &plan);

/// Tiles of the grid, those of all parts.
double tilesOf(const Problem &problem, const Plan &plan);
/// Steps of k of one part.
int64_t stepsOf(const Problem &problem, const Plan &plan);

/// Cycles of the whole product from those of its computation: memory, where
/// its speed is known, is hidden for the most part. Another kernel adds parts
/// up.
double withMemory(const Problem &problem, const TargetDescription &target,
                  const Plan &plan, double compute);

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_GPULANEMODEL_H
