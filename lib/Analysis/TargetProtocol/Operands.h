//===- Operands.h - Numbers that operations of target IR have ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_OPERANDS_H
#define TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_OPERANDS_H

#include "tracea/Analysis/TargetProtocol/Values.h"

namespace mlir::tracea {

/// A constant of at most 2^31.
std::optional<int64_t> constantOf(const Symbol *symbol);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_OPERANDS_H
