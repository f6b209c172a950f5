//===- Assertions.h - What an assertion is about ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel cannot stop a run. Where an assertion in it fails it leaves two
// numbers, for which `{0}` and `{1}` stand in the assertion's text.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_ASSERTIONS_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_ASSERTIONS_H

#include "mlir/IR/Builders.h"

namespace mlir::tracea_pipe {

/// The number that an assertion is about and what it is compared with; null
/// where it compares nothing.
std::pair<Value, Value> getCompared(Value condition);

/// Such a number as an i64; zero for null.
Value getAssertedWord(OpBuilder &builder, Location loc, Value number);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_ASSERTIONS_H
