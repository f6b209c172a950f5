//===- ShapeChecks.h - Extents that the host compares -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_SHAPECHECKS_H
#define TRACEA_LIB_TRANSFORMS_HOST_SHAPECHECKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tracea {

/// Asserts before `op`, on buffers, that its operands' extents fit. The
/// verifier compares the static ones; the others are compared when the program
/// runs, for loops take their bounds from one operand and read the others
/// without looking.
void assertShapes(linalg::LinalgOp op);

/// Asserts before `cast` that its source has the extents that it states, for
/// casts that no launch reads: programs check the others where they form views.
void assertExtents(memref::CastOp cast);

/// Asserts that an element lies in its memory as far as the run knows the
/// indices before; those that data decides are checked in the kernel.
void assertIndices(memref::LoadOp load);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_SHAPECHECKS_H
