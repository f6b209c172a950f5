//===- GPUAttentionModel.h - What attention on GPUs shares ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of the variants that keep outputs in registers, whose plans have the fields
// of `schedule::AttentionRing`.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_DOCTOR_GPUATTENTIONMODEL_H
#define TRACEA_LIB_DOCTOR_GPUATTENTIONMODEL_H

#include "Numbers.h"
#include "tracea/Doctor/Registry.h"

namespace tracea::doctor {

/// Rows and columns that a fragment of an operand has.
constexpr int64_t kFragment = 16;

/// Why operands, or heads above `mostExtent`, are none for them.
Reason whyNotOperands(const Problem &problem, int64_t mostExtent);

/// Why a plan is none for `unit` with a tile [queries, keys].
Reason checkAttentionRing(const Problem &problem, const Plan &plan,
                          UnitKind unit);

/// The same, or why a target's warps do not multiply `element`s by fragments,
/// copies beside them.
Reason whyNotWarps(const Problem &problem, const TargetDescription &target,
                   ElementType element, int64_t mostExtent);

/// Why the register tile of a warp is none of the plan's tile.
Reason checkWarpRows(const Plan &plan);

/// Why a lane, of which `what` take registers, or a workgroup has no room.
Reason checkRoom(const TargetDescription &target, const char *what,
                 int64_t registers, int64_t mostRegisters, int64_t sharedBytes);

/// Columns of a block as warps stage it: a power of two.
int64_t stagedColumnsOf(int64_t extent);

/// Which kernels there are beside the one that visits keys; empty: none.
Reason whyOtherKernels(const Problem &problem, const Plan &plan);

/// Workgroups of the kernel that visits keys.
double workgroupsOf(const Problem &problem, const Plan &plan);

/// Cycles in which keys and values, `columns` of both as they are staged, are
/// read from memory once; 0 where its speed is not known.
double keyCyclesOf(const Problem &problem, const TargetDescription &target,
                   const Plan &plan, int64_t columns);

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_GPUATTENTIONMODEL_H
