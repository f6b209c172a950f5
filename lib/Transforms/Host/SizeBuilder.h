//===- SizeBuilder.h - Arithmetic on sizes ----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_SIZEBUILDER_H
#define TRACEA_LIB_TRANSFORMS_HOST_SIZEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace mlir::tracea {

/// Sizes of tiles: constants are folded as they are made.
class SizeBuilder {
public:
  SizeBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value value(OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  }
  OpFoldResult constant(int64_t size) { return builder.getIndexAttr(size); }
  /// Constants saturate: a product that does not fit is as good as any other
  /// beyond all memory.
  OpFoldResult mul(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MulIOp>(
        a, b,
        [](int64_t x, int64_t y) {
          int64_t product;
          return llvm::MulOverflow(x, y, product)
                     ? std::numeric_limits<int64_t>::max()
                     : product;
        },
        /*identity=*/1);
  }
  OpFoldResult add(OpFoldResult a, OpFoldResult b) {
    return apply<arith::AddIOp>(
        a, b, [](int64_t x, int64_t y) { return x + y; }, /*identity=*/0);
  }
  OpFoldResult sub(OpFoldResult a, OpFoldResult b) {
    return apply<arith::SubIOp>(a, b,
                                [](int64_t x, int64_t y) { return x - y; });
  }
  OpFoldResult min(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MinSIOp>(
        a, b, [](int64_t x, int64_t y) { return std::min(x, y); });
  }
  OpFoldResult max(OpFoldResult a, OpFoldResult b) {
    return apply<arith::MaxSIOp>(
        a, b, [](int64_t x, int64_t y) { return std::max(x, y); });
  }
  /// Of sizes that are not negative.
  OpFoldResult ceilDiv(OpFoldResult a, OpFoldResult b) {
    if (getConstantIntValue(b) == 1)
      return a;
    return apply<arith::CeilDivSIOp>(
        a, b, [](int64_t x, int64_t y) { return x / y + (x % y != 0); });
  }

private:
  template <typename OpTy>
  OpFoldResult apply(OpFoldResult a, OpFoldResult b,
                     int64_t (*fold)(int64_t, int64_t),
                     std::optional<int64_t> identity = std::nullopt) {
    std::optional<int64_t> x = getConstantIntValue(a);
    std::optional<int64_t> y = getConstantIntValue(b);
    if (x && y)
      return constant(fold(*x, *y));
    if (identity && x == identity)
      return b;
    if (identity && y == identity)
      return a;
    Value lhs = value(a), rhs = value(b);
    return OpTy::create(builder, loc, lhs, rhs).getResult();
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_SIZEBUILDER_H
