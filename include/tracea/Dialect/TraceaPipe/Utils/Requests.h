//===- Requests.h - Shares of what is asked for ahead -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core has few places for lines that are on their way. Asked for at once they
// take all of these, and what is loaded meanwhile waits; a few at a time among
// the steps of a multiply they cost nothing (a Xeon, 3136 rows of 256 bytes
// written beside loads from the second level: 182 us without requests, 160 at
// once, 81 in shares, 75 where all lies near).
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_REQUESTS_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_REQUESTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// Elements of `memory` in one line of the cache. Of elements that are not
/// numbers of bits, indices at most are expected.
int64_t getLineElements(Value memory);

/// What a `prefetch` asks for: the elements of a tile of extents `shape` at
/// `source[indices + map(t)]`, as far as `limits` go, if there are any.
struct Request {
  static Request of(PrefetchOp op);

  /// Lines of the cache that it is about, where rows begin at lines.
  int64_t countLines() const;
  /// The share `piece` of `count` in about equal ones, along the first
  /// dimension with as many parts, or that with most: lines of the last one.
  /// Without limits the last shares may ask for what lies behind the tile.
  Request getShare(ImplicitLocOpBuilder &b, Value piece, int64_t count) const;
  void emit(ImplicitLocOpBuilder &b) const;

  Value source;
  SmallVector<Value> indices, limits;
  AffineMap map;
  SmallVector<int64_t> shape;
  bool isWrite = false;
  int64_t level = 1;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_REQUESTS_H
