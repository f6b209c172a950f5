//===- GPULaunch.h - How a program launches kernels on a GPU ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TARGET_PROGRAM_GPULAUNCH_H
#define TRACEA_TARGET_PROGRAM_GPULAUNCH_H

#include "tracea/Target/Program/Export.h"

namespace mlir::tracea {

/// Completes what `exportProgram` made of a module for a GPU by what the
/// lowered kernels in `code` say of themselves: threads and shared memory, the
/// grid of each step, parameters in the order of the code, tensor maps with the
/// conditions under which the hardware can address what they describe. Those
/// become checks of the entry. Certificates of the lowered code are added.
LogicalResult exportGPULaunches(::tracea::runtime::Manifest &manifest,
                                ModuleOp code,
                                const LaunchAlternatives &alternatives);

/// Adds the code of all kernels: PTX, and a cubin unless it is empty. `chip` is
/// what both are for.
void addGPUImages(::tracea::runtime::ProgramFile &program, StringRef ptx,
                  StringRef cubin, StringRef chip);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_PROGRAM_GPULAUNCH_H
