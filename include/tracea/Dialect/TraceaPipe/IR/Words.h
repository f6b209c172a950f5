//===- Words.h - Operands packed along k, for dot products ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dot product adds several neighbours along k to one sum. Its operands are
// staged by words: [m, k / w, w] and [k / w, n, w], w elements of a row of the
// one and of a column of the other side by side. Which element is where is said
// by the maps of the copies that stage them.
//
// Where an instruction takes its first operand unsigned, that is staged as ui8:
// integers of 8 bits in *offset form*, each held as a number greater by 128.

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_WORDS_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_WORDS_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tracea_pipe {

/// Whether integers are held in offset form.
inline bool isOffsetForm(Type element) { return element.isUnsignedInteger(8); }

/// The type of the numbers that memory of this element type holds.
inline Type getNumberType(Type element) {
  return isOffsetForm(element) ? IntegerType::get(element.getContext(), 8)
                               : element;
}

/// Elements of a word of an operand of a multiply; 1: it is no operand of a dot
/// product.
inline int64_t getWordLength(ShapedType operand) {
  return operand.getRank() == 3 ? operand.getDimSize(2) : 1;
}

/// The dimension of an operand that is its rows or columns, and the one that
/// counts steps along k.
inline unsigned getOuterDim(bool isLhs) { return isLhs ? 0 : 1; }
inline unsigned getStepDim(bool isLhs) { return isLhs ? 1 : 0; }

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_WORDS_H
