//===- WordShift.h - Sixteen bytes out of two words -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_WORDSHIFT_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_WORDSHIFT_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// The widest access of a lane, and the registers that hold it.
constexpr int64_t kWordBytes = 16, kPartBytes = 4;
constexpr int64_t kParts = kWordBytes / kPartBytes;

/// The parts of a word at a place that is a multiple of its bytes.
SmallVector<Value> loadWord(Emitter &b, const Address &place);

/// The parts of the word that begins `off` (i32) bytes into the first of two
/// words, whose parts are `parts`; `off` is below a word and a multiple of
/// `bytes`, an element's.
SmallVector<Value> shiftWords(Emitter &b, SmallVector<Value> parts, Value off,
                              int64_t bytes);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_WORDSHIFT_H
