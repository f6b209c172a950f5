//===- Words.h - Elements as they travel ------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_WORDS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_WORDS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tracea_pipe {

/// The type of 8, 16, 32 or 64 bits in which an element lies in memory: itself,
/// a wider integer, i64 for indices. Null when there is none.
Type getStorageType(Type elementType);
Value toStorage(ImplicitLocOpBuilder &b, Value element);
Value fromStorage(ImplicitLocOpBuilder &b, Value stored, Type elementType);

/// Elements that one 32-bit word holds; 1 for those of 64 bits.
unsigned getElementsPerWord(Type storageType);
/// 32-bit words that `count` elements take.
int64_t getNumWords(Type storageType, int64_t count);

/// Stored elements as i32 words, and back. Unused bits are 0.
SmallVector<Value> packWords(ImplicitLocOpBuilder &b, ArrayRef<Value> elements);
SmallVector<Value> unpackWords(ImplicitLocOpBuilder &b, ArrayRef<Value> words,
                               Type storageType, int64_t count);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_WORDS_H
