//===- Verifiers.h - Checks that operations share ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DIALECT_TRACEAPIPE_IR_VERIFIERS_H
#define TRACEA_LIB_DIALECT_TRACEAPIPE_IR_VERIFIERS_H

#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

namespace mlir::tracea_pipe::verifiers {

/// A register tile's shape must be the one that its lane map covers. Parsed
/// types were checked already; types made by passes are checked here.
LogicalResult verifyTileType(Operation *op, StringRef what, Type type);

/// Checks indices, map and limits of an access from a tile of rank `tileRank`
/// to `memory`, by a map of `numInputs` dimensions.
LogicalResult verifyAccess(Operation *op, ShapedType memory, int64_t tileRank,
                           int64_t numInputs, ValueRange indices,
                           ValueRange limits, AffineMap map);

/// The same of what `op` moves between a tile and memory, its walks and padded
/// dimensions.
LogicalResult verifyTransfer(Operation *op);

/// What a copy can convert: floats and signless integers.
LogicalResult verifyCopied(Operation *op, Type source, Type dest);

/// Shapes and element types of a product of matrices that is accumulated.
LogicalResult verifyProduct(Operation *op, ShapedType lhs, ShapedType rhs,
                            RankedTensorType acc);

/// `memory`, which `op` reads without an effect, must not be written by
/// anything that takes it or a view of it; `what` names it.
LogicalResult verifyUnchanged(Operation *op, Value memory, StringRef what);

/// The same of memory that must be an argument of the kernel.
LogicalResult verifyUnchangedArgument(Operation *op, Value memory,
                                      StringRef what);

/// What `tracea_pipe.certificates` and `tracea_pipe.remarks` of `op` hold.
LogicalResult verifyCertificates(Operation *op, Attribute value);
LogicalResult verifyRemarks(Operation *op, Attribute value);

/// Whether no two elements of the tile have one place in memory. A dimension
/// that has a memory dimension to itself cannot collide; only what is left is
/// enumerated, and taken to collide when that is too much.
bool isInjective(const TileTransfer &transfer);

/// A read or write of `operand`, if it is memory.
void addMemRefEffect(
    OpOperand &operand, bool write,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);

} // namespace mlir::tracea_pipe::verifiers

#endif // TRACEA_LIB_DIALECT_TRACEAPIPE_IR_VERIFIERS_H
