//===- MathExpansion.h - Functions as arithmetic ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of `math` on f32 and f64, scalars or vectors, as arithmetic without
// branches: additions, fused multiply-adds, divisions, square roots, and
// operations on the bits. All arguments are covered, infinities, zeros and
// subnormal numbers included. docs/Accuracy.md has the largest errors that were
// found: about one unit in the last place, of erfc two.

#ifndef TRACEA_CONVERSION_MATHEXPANSION_MATHEXPANSION_H
#define TRACEA_CONVERSION_MATHEXPANSION_MATHEXPANSION_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::tracea {

/// Whether there is an expansion of the operation and its type.
bool hasMathExpansion(Operation *op);

/// Expands those operations that `filter` holds for. With `scales` products
/// with powers of two are the intrinsic `llvm.ldexp`, which is an instruction
/// of some targets; the results are the same. With `widens` sine and cosine of
/// f32 are computed in f64, which the target is fast in.
void populateMathExpansionPatterns(RewritePatternSet &patterns,
                                   std::function<bool(Operation *)> filter,
                                   bool scales = false, bool widens = false);

/// Whether elements are floats of 8 bits in one of the formats that kernels
/// compute with.
bool isByteFloat(Type type);

/// Conversions from and to floats of 8 bits, rounded to nearest even, as
/// operations on their bits.
void populateByteFloatExpansionPatterns(RewritePatternSet &patterns);

} // namespace mlir::tracea

#endif // TRACEA_CONVERSION_MATHEXPANSION_MATHEXPANSION_H
