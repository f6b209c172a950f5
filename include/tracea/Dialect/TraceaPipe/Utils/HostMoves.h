//===- HostMoves.h - Fills and copies that need no kernel -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every GPU's driver fills and copies pieces of memory by itself.

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_HOSTMOVES_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_HOSTMOVES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::tracea_pipe {

/// The byte that all of the filled memory is set to; nothing where elements are
/// no repetition of a byte that is known.
std::optional<uint8_t> getFillByte(linalg::FillOp op);

/// Whether `op` fills or copies memrefs in one piece, in a way that a driver
/// can do.
bool isHostMove(Operation *op);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_HOSTMOVES_H
