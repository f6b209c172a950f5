//===- KnownRange.h - What an index is known to lie between -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_KNOWNRANGE_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_KNOWNRANGE_H

#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::tracea_pipe {

/// The least and the largest value, as signed numbers.
struct KnownRange {
  int64_t low, high;
};

/// Between which values an index lies, by the arithmetic that makes it and the
/// constant bounds of the loops that count it; nothing where that says no more
/// than its type.
std::optional<KnownRange> getKnownRange(Value index);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_KNOWNRANGE_H
