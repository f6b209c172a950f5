//===- DotProducts.h - The dot products of a module's target ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which unit adds up words follows from where the sums are: in vectors, or in
// the tiles of a unit that multiplies tiles, whose lane map is the unit's.

#ifndef TRACEA_ANALYSIS_DOTPRODUCTS_H
#define TRACEA_ANALYSIS_DOTPRODUCTS_H

#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/TargetInfo/DotProducts.h"

namespace mlir::tracea {

/// The instruction on a CPU's `unit` that adds up products of `operand` in
/// `accumulator` by words; null where it has none.
const ::tracea::target::DotProduct *
getDotProduct(TargetAttr target, ::tracea::target::UnitKind unit, Type operand,
              Type accumulator);

/// The type that the instruction's words hold their elements as.
Type getWordElement(MLIRContext *context,
                    const ::tracea::target::DotProduct &dot);

/// The instruction that adds up products of words of `element` in a register
/// tile with these lanes; null where the target has none.
const ::tracea::target::DotProduct *
getWordProduct(TargetAttr target, Type element, RankedTensorType sums);

/// The lane map of sums in the product's tiles: one register for each of these,
/// row by row. `shape` are whole tiles.
tracea_pipe::LanesAttr getUnitLanes(MLIRContext *context,
                                    const ::tracea::target::DotProduct &dot,
                                    ArrayRef<int64_t> shape);

/// The tiles of the unit of `target` that hold a register tile with these
/// lanes; null where vectors do.
const ::tracea::target::TileShape *getUnitTile(TargetAttr target,
                                               RankedTensorType sums);

/// Registers of the target's tile unit; 0: it has none.
int64_t getUnitRegisters(TargetAttr target);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_DOTPRODUCTS_H
