//===- PadToGeneric.h - Padding as one loop over the result -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_PADTOGENERIC_H
#define TRACEA_LIB_TRANSFORMS_HOST_PADTOGENERIC_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::tracea {

/// `tensor.pad` becomes a `linalg.generic` that writes each element of the
/// result once. Bufferization alone would fill all of it and copy the source
/// over its middle: two kernels, of which the second one writes a part, which
/// no proof can tell from a result that was left unfinished.
void populatePadToGenericPatterns(RewritePatternSet &patterns);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_PADTOGENERIC_H
