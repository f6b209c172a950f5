//===- Words.cpp - Elements as they travel --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tiles/Words.h"
#include "Lanes/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

Type mlir::tracea_pipe::getStorageType(Type elementType) {
  if (elementType.isIndex())
    return IntegerType::get(elementType.getContext(), 64);
  if (!elementType.isIntOrFloat())
    return {};
  unsigned bits = elementType.getIntOrFloatBitWidth();
  if (bits > 64)
    return {};
  unsigned stored = std::max(8u, unsigned(llvm::PowerOf2Ceil(bits)));
  if (stored == bits)
    return elementType;
  if (isa<FloatType>(elementType))
    return {};
  return IntegerType::get(elementType.getContext(), stored);
}

Value mlir::tracea_pipe::toStorage(ImplicitLocOpBuilder &b, Value element) {
  Type type = element.getType(), stored = getStorageType(type);
  if (type == stored)
    return element;
  if (type.isIndex())
    return arith::IndexCastOp::create(b, stored, element);
  return arith::ExtUIOp::create(b, stored, element);
}

Value mlir::tracea_pipe::fromStorage(ImplicitLocOpBuilder &b, Value stored,
                                     Type elementType) {
  if (stored.getType() == elementType)
    return stored;
  if (elementType.isIndex())
    return arith::IndexCastOp::create(b, elementType, stored);
  return arith::TruncIOp::create(b, elementType, stored);
}

unsigned mlir::tracea_pipe::getElementsPerWord(Type storageType) {
  unsigned bits = storageType.getIntOrFloatBitWidth();
  return bits < 32 ? 32 / bits : 1;
}

int64_t mlir::tracea_pipe::getNumWords(Type storageType, int64_t count) {
  return llvm::divideCeil(count * storageType.getIntOrFloatBitWidth(), 32);
}

/// Reinterprets the bits of a value as a scalar of `type`.
static Value bitcast(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return arith::BitcastOp::create(b, type, value);
}

SmallVector<Value> mlir::tracea_pipe::packWords(ImplicitLocOpBuilder &b,
                                                ArrayRef<Value> elements) {
  Type type = elements.front().getType(), i32 = b.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  SmallVector<Value> words;
  if (bits == 64) {
    Value high = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    for (Value element : elements) {
      Value all = bitcast(b, element, b.getI64Type());
      words.push_back(arith::TruncIOp::create(b, i32, all));
      words.push_back(arith::TruncIOp::create(
          b, i32, arith::ShRUIOp::create(b, all, high)));
    }
    return words;
  }
  unsigned perWord = 32 / bits;
  for (size_t first = 0; first < elements.size(); first += perWord) {
    ArrayRef<Value> part = elements.slice(
        first, std::min<size_t>(perWord, elements.size() - first));
    Type whole = b.getIntegerType(bits * part.size());
    Value word = part.front();
    if (part.size() == 1) {
      word = bitcast(b, word, whole);
    } else {
      Value vector = vector::BitCastOp::create(b, VectorType::get(1, whole),
                                               getVector(b, type, part));
      word = vector::ExtractOp::create(b, vector, int64_t(0));
    }
    if (whole != i32)
      word = arith::ExtUIOp::create(b, i32, word);
    words.push_back(word);
  }
  return words;
}

SmallVector<Value> mlir::tracea_pipe::unpackWords(ImplicitLocOpBuilder &b,
                                                  ArrayRef<Value> words,
                                                  Type storageType,
                                                  int64_t count) {
  unsigned bits = storageType.getIntOrFloatBitWidth();
  SmallVector<Value> elements;
  if (bits == 64) {
    Type i64 = b.getI64Type();
    Value high = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    for (int64_t i = 0; i < count; ++i) {
      Value low = arith::ExtUIOp::create(b, i64, words[2 * i]);
      Value top = arith::ExtUIOp::create(b, i64, words[2 * i + 1]);
      top = arith::ShLIOp::create(b, top, high);
      elements.push_back(
          bitcast(b, arith::OrIOp::create(b, low, top), storageType));
    }
    return elements;
  }
  int64_t perWord = 32 / bits;
  for (Value word : words) {
    int64_t here = std::min<int64_t>(perWord, count - int64_t(elements.size()));
    Type whole = b.getIntegerType(unsigned(bits * here));
    if (whole != word.getType())
      word = arith::TruncIOp::create(b, whole, word);
    if (here == 1) {
      elements.push_back(bitcast(b, word, storageType));
      continue;
    }
    Value vector =
        vector::BroadcastOp::create(b, VectorType::get(1, whole), word);
    vector = vector::BitCastOp::create(b, VectorType::get(here, storageType),
                                       vector);
    llvm::append_range(elements, getElements(b, vector));
  }
  return elements;
}
