//===- Accesses.h - What a kernel reads and writes --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operation that touches memory, element by element: which elements of
// which buffer, under which conditions, in terms of an IndexContext. Windows
// (views, subviews, casts) are followed to the buffer they look into.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_ACCESSES_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_ACCESSES_H

#include "Indices/IndexContext.h"

namespace mlir::tracea {

/// One operand's elements, each once.
struct TileAccess {
  Operation *op = nullptr;
  /// "reads", "writes", "reads its lhs".
  StringRef verb;
  bool isWrite = false;
  /// Asks for what will be used; does not touch it.
  bool isHint = false;
  /// Whether all of what is read goes into a result that is used.
  bool isNeeded = false;
  Value memory;
  llvm::SmallVector<cov::Expr> indices;
  /// Limits and padding, besides the scope.
  llvm::SmallVector<cov::Constraint> guard;
  /// Elements of the tile.
  llvm::SmallVector<cov::Term> ids;
  /// Of these, rows and columns of which only the first is known to be used.
  llvm::SmallVector<cov::Term> freeIds;
};

/// The accesses of `op` itself, not of what is nested in it.
std::vector<TileAccess> getAccesses(Operation *op, IndexContext &context);

/// What a multiply counts along k, of operands in memory: a step, or a place in
/// a word of a step.
cov::Expr getContracted(Operation *product, IndexContext &context);

/// Whether `op` touches memory in a way that `getAccesses` does not know.
bool hasUnknownAccess(Operation *op);

/// An element of a buffer.
struct Place {
  Value buffer;
  llvm::SmallVector<cov::Expr> indices;
  /// Bounds of the windows on the way, besides those of the buffer.
  llvm::SmallVector<std::pair<cov::Expr, cov::Expr>> windowBounds;
  /// The windows, from the access to the buffer.
  llvm::SmallVector<Operation *> windows;
  /// Why the element is not known; empty: it is.
  std::string unknown;
};

Place resolve(Value memory, ArrayRef<cov::Expr> indices, IndexContext &context);

/// The buffer that a window looks into.
Value getBuffer(Value memory);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_ACCESSES_H
