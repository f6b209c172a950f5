//===- PastCaches.cpp - Results written past the caches -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/PastCaches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

/// A result of so many times the second level goes past the caches.
static constexpr int64_t kTimesSecondLevel = 8;

bool tracea_pipe::isWrittenPastCaches(MemRefType memory, int64_t l2) {
  Type element = memory.getElementType();
  if (l2 <= 0 || !memory.hasStaticShape() || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() % 32)
    return false;
  return memory.getNumElements() * (element.getIntOrFloatBitWidth() / 8) >
         kTimesSecondLevel * l2;
}

Value tracea_pipe::beginsCacheLine(ImplicitLocOpBuilder &b, Value memory,
                                   Value offset) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  int64_t bytes =
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value address = arith::AddIOp::create(
      b, memref::ExtractAlignedPointerAsIndexOp::create(b, memory),
      arith::MulIOp::create(b, offset, constant(bytes)));
  Value behind = arith::RemUIOp::create(b, address, constant(kCacheLineBytes));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, behind,
                               constant(0));
}
