//===- StoredDigits.h - What is left of a value in the end ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_STOREDDIGITS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_STOREDDIGITS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::tracea_pipe {

/// Bits of the significand that everything which follows from a value is
/// rounded to: a kernel may store the quotients of a row in 8 bits and their
/// divisor in 32.
class StoredDigits {
public:
  unsigned of(Value value);

private:
  DenseMap<Value, unsigned> known;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_STOREDDIGITS_H
