//===- Passes.h - Conversion passes -----------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constructors, option structs and registration of the passes that cross from
// one dialect to another.

#ifndef TRACEA_CONVERSION_PASSES_H
#define TRACEA_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::tracea {

/// Who computes functions; see `tracea-lower-math`.
enum class MathRoute { Kernel, Reference, Arithmetic };

#define GEN_PASS_DECL
#include "tracea/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tracea/Conversion/Passes.h.inc"

} // namespace mlir::tracea

#endif // TRACEA_CONVERSION_PASSES_H
