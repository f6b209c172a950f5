//===- Passes.h - Transformation passes -------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constructors, option structs and registration of the passes that stay within
// a level.

#ifndef TRACEA_TRANSFORMS_PASSES_H
#define TRACEA_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::tracea {

#define GEN_PASS_DECL
#include "tracea/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tracea/Transforms/Passes.h.inc"

} // namespace mlir::tracea

#endif // TRACEA_TRANSFORMS_PASSES_H
