//===- NeededTerms.h - Which terms memory says a sum needs ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the operation that a kernel was made for says of the terms that its
// results need, where numbers in memory decide it: attributes of the kernel
// beside its band. `tracea-verify-coverage` compares the kernel with them.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_NEEDEDTERMS_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_NEEDEDTERMS_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// Blocks that memory lists. The element of argument `result` whose indices
/// along its dimensions `resultDims` are b, h and i needs of the terms along
/// dimension `dims[k]` of argument `operands[k]` those in the blocks of
/// `columns` terms that row [b, h, i / rows] of argument `blocks` lists, and no
/// others; an extent of one of the first two dimensions serves all b, or all h.
/// A row has n places and one more; the last place of the same row of argument
/// `counts` says how many blocks it lists.
///
///   tracea_pipe.listed = {blocks = 4 : i64, columns = 128 : i64, counts = 3 :
///     i64, dims = array<i64: 2, 2>, operands = array<i64: 1, 2>, result = 5 :
///     i64, resultDims = array<i64: 0, 1, 2>, rows = 128 : i64}
struct ListedTerms {
  static constexpr llvm::StringLiteral kAttrName = "tracea_pipe.listed";
  /// Dimensions of lists.
  static constexpr int64_t kRank = 4;

  int64_t result = 0;
  SmallVector<int64_t> resultDims;
  SmallVector<int64_t> operands, dims;
  int64_t counts = 0, blocks = 0, rows = 1, columns = 1;

  /// The dimension of terms of an argument, if it has some.
  std::optional<int64_t> getDim(int64_t operand) const;
  /// Nothing where the kernel has no such attribute, or one that is no such
  /// dictionary.
  static std::optional<ListedTerms> get(KernelOp kernel);
  void set(KernelOp kernel) const;
};

/// An end that memory says. The element of the band's result needs of the
/// band's terms the ones in front of `lengths[b]` of that argument, b being its
/// index along dimension `sequence`.
///
///   tracea_pipe.ended = {lengths = 3 : i64, sequence = 0 : i64}
struct EndedTerms {
  static constexpr llvm::StringLiteral kAttrName = "tracea_pipe.ended";

  int64_t lengths = 0, sequence = 0;

  static std::optional<EndedTerms> get(KernelOp kernel);
  void set(KernelOp kernel) const;
};

/// Whether such attributes are what they have to be, of arguments that the
/// kernel has.
LogicalResult verifyNeededTerms(KernelOp kernel);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_NEEDEDTERMS_H
