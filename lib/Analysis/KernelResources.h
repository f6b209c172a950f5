//===- KernelResources.h - What a kernel needs of its target ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_KERNELRESOURCES_H
#define TRACEA_LIB_ANALYSIS_KERNELRESOURCES_H

#include "tracea/Analysis/Resources/Resources.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {

/// The figures of a kernel and of the module's target.
struct KernelResources {
  ::tracea::analysis::ResourceUse use;
  ::tracea::analysis::ResourceLimits limits;
  /// The operations that the sites of `use` number, for diagnostics.
  SmallVector<Operation *> sites;
};

/// Fails, with the reason, when the module has no target.
FailureOr<KernelResources> collectResources(tracea_pipe::KernelOp kernel,
                                            std::string &reason);

/// The point of a region at which register tiles take most, and how much:
/// 32-bit registers of a thread, or on a CPU vectors.
struct TilePressure {
  int64_t registers = 0;
  Operation *op = nullptr;
  /// The same of tiles that the registers of a CPU's tile unit hold, and of the
  /// operands that a multiply loads into these.
  int64_t unitTiles = 0;
  Operation *unitOp = nullptr;
};

/// Whether a tile unit, and no vector, holds a register tile.
using IsUnitTile = llvm::function_ref<bool(RankedTensorType)>;

/// Live are the tiles that some later operation of the region, or of the next
/// iteration of a loop around it, still reads. A tile between elementwise
/// operations of one stretch of code passes register by register and takes no
/// place as a whole; constants, coordinates and broadcasts take none either.
TilePressure getTilePressure(Region &region, int64_t vectorBits = 0,
                             IsUnitTile isUnitTile = nullptr);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELRESOURCES_H
