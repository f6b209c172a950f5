//===- TargetPhases.h - Passes below the pipeline level ---------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_PIPELINES_TARGETPHASES_H
#define TRACEA_LIB_PIPELINES_TARGETPHASES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::tracea {

/// Canonicalization and common subexpressions.
void addCleanup(OpPassManager &manager);

/// What a CPU does in one instruction.
struct CPUArithmetic {
  /// A multiplication and an addition, rounded once.
  bool fused = true;
  /// A multiplication by a power of two, given its exponent.
  bool scaled = false;
  /// Products of tiles, in registers of their own.
  bool tiles = false;
  /// Roundings to bf16: of normal numbers at least, or of all.
  bool narrows = false, narrowsAll = false;
};

/// Kernels for a CPU, down to functions of the LLVM dialect. Of `several` the
/// threads take one each.
void addCPUTargetPhase(OpPassManager &manager, bool reference,
                       CPUArithmetic arithmetic, bool several);

/// Kernels for NVIDIA's GPUs, down to the LLVM and NVVM dialects; `verify`
/// proves their protocol again.
void addCUDATargetPhase(OpPassManager &manager, bool verify, bool requireProof);

} // namespace mlir::tracea

#endif // TRACEA_LIB_PIPELINES_TARGETPHASES_H
