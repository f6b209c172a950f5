//===- Passes.h - Passes of the decision level ------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DOCTOR_PASSES_H
#define TRACEA_DOCTOR_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

namespace mlir::tracea {

#define GEN_PASS_DECL
#include "tracea/Doctor/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tracea/Doctor/Passes.h.inc"

} // namespace mlir::tracea

#endif // TRACEA_DOCTOR_PASSES_H
