//===- Requests.cpp - Shares of what is asked for ahead -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/Requests.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tracea/Dialect/TraceaPipe/Utils/PastCaches.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

Request Request::of(PrefetchOp op) {
  return {op.getSource(),
          SmallVector<Value>(op.getIndices()),
          SmallVector<Value>(op.getLimits()),
          op.getMap(),
          SmallVector<int64_t>(op.getShape()),
          op.getWrite(),
          static_cast<int64_t>(op.getLevel())};
}

int64_t mlir::tracea_pipe::getLineElements(Value memory) {
  Type element = getElementTypeOrSelf(memory.getType());
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return std::max<int64_t>(1, kCacheLineBytes / llvm::divideCeil(bits, 8));
}

int64_t Request::countLines() const {
  int64_t lines = llvm::divideCeil(shape.back(), getLineElements(source));
  for (int64_t extent : ArrayRef(shape).drop_back())
    lines *= extent;
  return lines;
}

Request Request::getShare(ImplicitLocOpBuilder &b, Value piece,
                          int64_t count) const {
  // What a part of each dimension is.
  SmallVector<int64_t> parts(shape.size(), 1);
  parts.back() = getLineElements(source);
  auto countParts = [&](size_t dim) {
    return static_cast<int64_t>(llvm::divideCeil(shape[dim], parts[dim]));
  };
  size_t dim = 0;
  for (size_t other = 1; other < shape.size(); ++other)
    if (countParts(dim) < count && countParts(other) > countParts(dim))
      dim = other;

  Request share = *this;
  share.shape[dim] = std::min<int64_t>(
      shape[dim], llvm::divideCeil(countParts(dim), count) * parts[dim]);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto scale = [&](int64_t factor) {
    return b.createOrFold<arith::MulIOp>(piece, constant(factor));
  };
  if (!limits.empty())
    share.limits[dim] =
        b.createOrFold<arith::SubIOp>(limits[dim], scale(share.shape[dim]));
  for (auto [index, expr] : llvm::zip_equal(share.indices, map.getResults())) {
    int64_t step = getLinearForm(expr, map.getNumDims()).coefficients[dim];
    if (step != 0)
      index =
          b.createOrFold<arith::AddIOp>(index, scale(share.shape[dim] * step));
  }
  return share;
}

void Request::emit(ImplicitLocOpBuilder &b) const {
  PrefetchOp::create(b, source, indices, limits, map, shape, isWrite, level);
}
