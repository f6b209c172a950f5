//===- TraceaPipeBase.td - Constraints that operations share -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEBASE_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEBASE_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.td"

/// A tensor whose encoding is a lane map: it lives in registers.
def RegisterTile : Type<
    CPred<"::mlir::tracea_pipe::isRegisterTile($_self)">, "register tile",
    "::mlir::RankedTensorType">;
/// A tensor with the staged encoding (tile level).
def StagedTile : TypeConstraint<
    CPred<"::mlir::tracea_pipe::isStagedTile($_self)">, "staged tile",
    "::mlir::RankedTensorType">;
/// Anything addressable: a memref (global, or a slot) or a staged tile.
def TileSource : TypeConstraint<
    CPred<"::llvm::isa<::mlir::MemRefType>($_self) || ::mlir::tracea_pipe::isStagedTile($_self)">,
    "memref or staged tile", "::mlir::ShapedType">;
def StagedView : TypeConstraint<
    CPred<"::llvm::isa<::mlir::MemRefType>($_self) || ::mlir::tracea_pipe::isStagedTile($_self) || ::mlir::tracea_pipe::isRegisterTile($_self)">,
    "memref, staged tile or register tile", "::mlir::ShapedType">;

#endif
