//===- Transposition.h - Transpositions and what they meet ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_LAYOUT_TRANSPOSITION_H
#define TRACEA_LIB_TRANSFORMS_LAYOUT_TRANSPOSITION_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include <functional>
#include <optional>
#include <string>

namespace mlir::tracea {

/// A copy of `source` in another order of its dimensions.
struct Transposition {
  Value source;
  /// From the dimensions of the transposed tensor to those of `source`.
  AffineMap map;
};

/// Matches `linalg.transpose` and any other way to write one.
std::optional<Transposition> matchTransposition(Operation *op);
/// The same of what gives a tensor, through casts.
std::optional<Transposition> matchTransposition(Value tensor);

/// A letter for each dimension.
StringRef getDims(ImageLayout layout);
StringRef getDims(FilterLayout layout);
/// The order of the source's dimensions, given that of the transposed tensor's.
std::string permuteDims(StringRef dims, AffineMap map);

/// Called for each transposition that is gone.
using TranspositionCounter = std::function<void()>;

/// Transpositions that become flags and layouts of what reads or makes them.
void populatePropagateTransposesPatterns(RewritePatternSet &patterns,
                                         const TranspositionCounter &count);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_LAYOUT_TRANSPOSITION_H
