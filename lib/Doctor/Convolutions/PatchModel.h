//===- PatchModel.h - What kernels with patches take ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DOCTOR_CONVOLUTIONS_PATCHMODEL_H
#define TRACEA_LIB_DOCTOR_CONVOLUTIONS_PATCHMODEL_H

#include "tracea/Doctor/Registry.h"

namespace tracea::doctor {

/// Pixels of the image that so many neighbours of the result see.
constexpr int64_t patchExtent(int64_t pixels, int64_t stride, int64_t taps,
                              int64_t dilation) {
  return (pixels - 1) * stride + (taps - 1) * dilation + 1;
}

/// The cheapest of a variant's plans, all of which fit; `none`, which its check
/// refuses, where there are none.
Plan cheapestPatch(const Variant &variant, const Problem &problem,
                   const TargetDescription &target, const Plan &none);

/// A workgroup of a convolution in groups that stages a patch of the image for
/// a tile [height, width, channels] of the result.
struct PatchWork {
  /// Cycles of a multiprocessor for its instructions, and for what it reads of
  /// shared memory.
  double issue = 0, shared = 0;
  double patchBytes = 0;
  /// Bytes of a pixel from which on memory moves at its whole rate.
  double lineBytes = 64;
  /// Its warps, and workgroups that a multiprocessor holds.
  double warps = 1, residents = 1;
};

/// Cycles of all tiles. Memory moves image and result once; workgroups that
/// begin together wait for each other's patches.
double patchCycles(const Problem &problem, const TargetDescription &target,
                   const std::vector<int64_t> &tile, const PatchWork &work);

/// Workgroups that memory and registers of a multiprocessor hold.
int64_t patchResidents(const TargetDescription &target, double stagedBytes,
                       double registers);

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_CONVOLUTIONS_PATCHMODEL_H
