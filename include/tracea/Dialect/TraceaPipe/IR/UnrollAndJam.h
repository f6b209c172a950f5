//===- UnrollAndJam.h - Loops whose iterations go together ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_UNROLLANDJAM_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_UNROLLANDJAM_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tracea_pipe {

/// On an `scf.for` without results: so many iterations, an integer of at least
/// two, are computed side by side, with one loop for the equal loops in them.
/// They may come in any order: none reads what another one writes. A kernel is
/// proved as it stands, one iteration after another; the lowering to vectors
/// unrolls and jams the loop.
constexpr llvm::StringLiteral kUnrollAndJamAttrName =
    "tracea_pipe.unroll_and_jam";

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_UNROLLANDJAM_H
