//===- TargetPhases.h - Passes below the pipeline level ---------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_PIPELINES_TARGETPHASES_H
#define TRACEA_LIB_PIPELINES_TARGETPHASES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::tracea {

/// Canonicalization and common subexpressions.
void addCleanup(OpPassManager &manager);

/// Kernels for a CPU, down to functions of the LLVM dialect; `fused` where it
/// has a fused multiply-add.
void addCPUTargetPhase(OpPassManager &manager, bool reference, bool fused);

/// Kernels for NVIDIA's GPUs, down to the LLVM and NVVM dialects; `verify`
/// proves their protocol again.
void addCUDATargetPhase(OpPassManager &manager, bool verify, bool requireProof);

} // namespace mlir::tracea

#endif // TRACEA_LIB_PIPELINES_TARGETPHASES_H
