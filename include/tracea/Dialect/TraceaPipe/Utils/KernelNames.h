//===- KernelNames.h - Names for new kernels --------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_KERNELNAMES_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_KERNELNAMES_H

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::tracea_pipe {

/// The variant of kernels that are loops over elements.
inline constexpr llvm::StringLiteral kPlainLoopsVariant = "linalg";
/// The variant of such whose lanes take vectors of neighbours.
inline constexpr llvm::StringLiteral kVectorLoopsVariant = "linalg.vectors";
/// The variant of those whose lanes compute elements tile by tile.
inline constexpr llvm::StringLiteral kLaneTilesVariant = "elementwise.lanes";

/// Gives the kernels that a pass makes names of their own. Each takes a
/// constant time: the module's symbols are read once.
class KernelNames {
public:
  explicit KernelNames(Operation *module) : symbols(module) {}

  /// The first of stem_0, stem_1, … that is free; it is taken then.
  std::string take(StringRef stem);

private:
  SymbolTable symbols;
  llvm::StringMap<unsigned> next;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_KERNELNAMES_H
