//===- SymbolRanges.h - Bounds of expressions ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_SYMBOLRANGES_H
#define TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_SYMBOLRANGES_H

#include "tracea/Analysis/TargetProtocol/Symbols.h"

namespace mlir::tracea {

/// Shared memory of a block lies within this window of addresses.
constexpr uint64_t kWindow = 1 << 18;

inline uint64_t maskOf(unsigned bits) {
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

/// Unsigned bounds of a result that does not wrap; all values otherwise.
void setRange(Symbol &symbol);

/// The low bits that are zero for all values.
unsigned zerosOf(const Symbol &symbol);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_SYMBOLRANGES_H
