//===- Feasible.h - Whether inequalities have a rational solution -*- C++ -*-=//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hundreds of tiny systems are decided for each kernel. A dense tableau of
// machine words decides one in microseconds; where its numbers leave 64 bits
// there is no answer, and the caller takes wider ones.

#ifndef TRACEA_LIB_ANALYSIS_NUMERICS_FEASIBLE_H
#define TRACEA_LIB_ANALYSIS_NUMERICS_FEASIBLE_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>

namespace mlir::tracea::numerics {

/// Whether some rational x has `row[0] + sum of row[i + 1] * x[i] >= 0` for
/// all rows. `system` holds them one after the other, `isNatural.size() + 1`
/// numbers each. Where `isNatural` holds, x[i] is not negative either.
std::optional<bool> isFeasible(llvm::ArrayRef<int64_t> system,
                               llvm::ArrayRef<bool> isNatural);

} // namespace mlir::tracea::numerics

#endif // TRACEA_LIB_ANALYSIS_NUMERICS_FEASIBLE_H
