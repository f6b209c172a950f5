//===- MovementToGeneric.h - Padding as one loop over the result -----*- C++
//-*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_MOVEMENTTOGENERIC_H
#define TRACEA_LIB_TRANSFORMS_HOST_MOVEMENTTOGENERIC_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::tracea {

/// `tensor.pad` becomes a `linalg.generic` that writes each element of the
/// result once. Bufferization alone would write the result part by part, in a
/// kernel each, which no proof can tell from a result that was left unfinished.
void populatePadToGenericPatterns(RewritePatternSet &patterns);

/// A window on a `tensor.pad`, of a pooling say, asks itself what lies beyond
/// the border, so that nothing is written with one. That is for lanes: a core
/// computes vectors of neighbours in what has a border, without branches.
/// To be applied before the patterns that take pads apart.
void populatePadIntoWindowPatterns(RewritePatternSet &patterns);

/// `tensor.concat` becomes one as well, of operands that do not lie in one
/// piece of the result. That is for lanes: a core copies runs of memory faster
/// than it chooses where each element comes from.
void populateConcatToGenericPatterns(RewritePatternSet &patterns);

/// So do insertions into what would be filled or copied whole before, those
/// that leave gaps or, unless `onlyStrided`, all.
void populateInsertToGenericPatterns(RewritePatternSet &patterns,
                                     bool onlyStrided);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_MOVEMENTTOGENERIC_H
