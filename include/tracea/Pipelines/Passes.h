//===- Passes.h - Phases that depend on the target --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_PIPELINES_PASSES_H
#define TRACEA_PIPELINES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::tracea {

#define GEN_PASS_DECL
#include "tracea/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tracea/Pipelines/Passes.h.inc"

} // namespace mlir::tracea

#endif // TRACEA_PIPELINES_PASSES_H
