//===- WordShift.cpp - Sixteen bytes out of two words ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory/WordShift.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

SmallVector<Value> mlir::tracea_pipe::loadWord(Emitter &b,
                                               const Address &place) {
  Value word =
      b.load(VectorType::get(kParts, b.getI32Type()), place, kWordBytes);
  SmallVector<Value> parts;
  for (int64_t i = 0; i < kParts; ++i)
    parts.push_back(vector::ExtractOp::create(b, word, i));
  return parts;
}

SmallVector<Value> mlir::tracea_pipe::shiftWords(Emitter &b,
                                                 SmallVector<Value> parts,
                                                 Value off, int64_t bytes) {
  // Whole parts first, by powers of two.
  for (int64_t step = kParts / 2; step; step /= 2) {
    int64_t distance = step * kPartBytes;
    if (bytes > distance)
      break;
    Value isSet = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, off, b.i32(distance)), b.i32(0));
    SmallVector<Value> moved;
    for (size_t i = 0; i + step < parts.size(); ++i)
      moved.push_back(
          arith::SelectOp::create(b, isSet, parts[i + step], parts[i]));
    parts = moved;
  }
  if (bytes < kPartBytes) {
    Value bits = b.mul(arith::AndIOp::create(b, off, b.i32(kPartBytes - 1)), 8);
    for (int64_t i = 0; i < kParts; ++i)
      parts[i] = b.target.funnelShift(b, parts[i + 1], parts[i], bits);
  }
  parts.truncate(kParts);
  return parts;
}
