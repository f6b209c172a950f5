//===- ExtremumKeys.cpp - An element and its number as one key ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bits of a float, read as an integer, grow with it where it is positive;
// where it is negative, those below the sign have to be turned around.

#include "Lanes/ExtremumKeys.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::tracea;

/// Bits of what orders elements of up to 32 bits, or of up to 16.
constexpr unsigned kWide = 32, kNarrow = 16;
/// All bits but the sign of 32.
constexpr int64_t kMagnitude = 0x7fffffff;

/// All bits of a number's part of a key.
static int64_t getNumberMask(unsigned half) { return (int64_t(1) << half) - 1; }

ExtremumKeys::ExtremumKeys(const ExtremumOrder &order, Type element,
                           int64_t extent)
    : order(order), element(element),
      // No number plus 1 has all bits, which those of no element may have.
      half(element.getIntOrFloatBitWidth() <= kNarrow &&
                   extent < getNumberMask(kNarrow)
               ? kNarrow
               : kWide) {}

bool ExtremumKeys::areThere(Type element, int64_t extent) {
  if (ShapedType::isDynamic(extent) || extent >= kMagnitude)
    return false;
  return element.isF16() || element.isBF16() || element.isF32() ||
         (element.isSignlessInteger() &&
          element.getIntOrFloatBitWidth() <= kWide);
}

IntegerType ExtremumKeys::getType(Builder &b) const {
  return b.getIntegerType(2 * half);
}

int64_t ExtremumKeys::getNone() const {
  if (half == kNarrow)
    return order.isMax ? std::numeric_limits<int32_t>::min()
                       : std::numeric_limits<int32_t>::max();
  return order.isMax ? std::numeric_limits<int64_t>::min()
                     : std::numeric_limits<int64_t>::max();
}

static Value constant(ImplicitLocOpBuilder &b, int64_t value, Type type) {
  return arith::ConstantIntOp::create(b, type, value);
}

/// The bits of a float as an integer of the float's order, and back. `bits` has
/// 32 of them, and may have its sign in more than one.
static Value turnNegative(ImplicitLocOpBuilder &b, Value bits,
                          int64_t magnitude) {
  Type type = bits.getType();
  Value sign = arith::ShRSIOp::create(b, bits, constant(b, kWide - 1, type));
  Value turned = arith::AndIOp::create(b, sign, constant(b, magnitude, type));
  return arith::XOrIOp::create(b, bits, turned);
}

/// What orders a float, as 32 bits: in the upper half of them where half of
/// them do. Zeros are equal, whatever their signs. `wide` is in single
/// precision.
Value ExtremumKeys::getOrder(ImplicitLocOpBuilder &b, Value wide,
                             Value isNaN) const {
  Type i32 = b.getI32Type();
  bool isNarrow = half == kNarrow;
  int64_t upperBits = isNarrow ? ~getNumberMask(kNarrow) : -1;
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  Value sum = arith::AddFOp::create(b, wide, zero), bits;
  if (isNarrow && element.isF16()) {
    Value narrow = arith::TruncFOp::create(b, element, sum);
    bits = arith::ExtSIOp::create(
        b, i32, arith::BitcastOp::create(b, b.getI16Type(), narrow));
    bits =
        arith::ShLIOp::create(b, turnNegative(b, bits, kMagnitude >> kNarrow),
                              constant(b, kNarrow, i32));
  } else {
    bits = turnNegative(b, arith::BitcastOp::create(b, i32, sum), kMagnitude);
    if (isNarrow)
      bits = arith::AndIOp::create(b, bits, constant(b, upperBits, i32));
  }
  if (!order.nanWins)
    return bits;
  // Beyond the infinities.
  int64_t beyond = (order.isMax ? kMagnitude : ~kMagnitude) & upperBits;
  return arith::SelectOp::create(b, isNaN, constant(b, beyond, i32), bits);
}

/// The same of an integer.
Value ExtremumKeys::getOrder(ImplicitLocOpBuilder &b, Value integer) const {
  Type i32 = b.getI32Type();
  if (element != i32)
    integer = arith::ExtSIOp::create(b, i32, integer);
  return half == kWide
             ? integer
             : arith::ShLIOp::create(b, integer, constant(b, kNarrow, i32));
}

Value ExtremumKeys::make(OpBuilder &builder, Location loc, Value value,
                         Value index) const {
  ImplicitLocOpBuilder b(loc, builder);
  Type type = getType(b);
  Value upper, isNaN;
  if (isa<FloatType>(element)) {
    if (!element.isF32())
      value = arith::ExtFOp::create(b, b.getF32Type(), value);
    isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
    upper = getOrder(b, value, isNaN);
  } else {
    upper = getOrder(b, value);
  }
  Value number = arith::AddIOp::create(
      b, arith::IndexCastOp::create(b, type, index), constant(b, 1, type));
  if (!isAscending())
    number = arith::XOrIOp::create(b, number,
                                   constant(b, getNumberMask(half), type));
  if (half == kWide)
    upper = arith::ShLIOp::create(b, arith::ExtSIOp::create(b, type, upper),
                                  constant(b, kWide, type));
  Value key = arith::OrIOp::create(b, upper, number);
  if (isNaN && !order.nanWins)
    key = arith::SelectOp::create(b, isNaN, constant(b, getNone(), type), key);
  return key;
}

Value ExtremumKeys::choose(OpBuilder &b, Location loc, Value x, Value y) const {
  if (order.isMax)
    return arith::MaxSIOp::create(b, loc, x, y);
  return arith::MinSIOp::create(b, loc, x, y);
}

Value ExtremumKeys::getValue(OpBuilder &builder, Location loc,
                             Value key) const {
  ImplicitLocOpBuilder b(loc, builder);
  Type i32 = b.getI32Type();
  bool isNarrow = half == kNarrow;
  Value bits = key;
  if (!isNarrow)
    bits = arith::TruncIOp::create(
        b, i32,
        arith::ShRSIOp::create(b, key, constant(b, kWide, key.getType())));
  if (isNarrow && !element.isBF16())
    bits = arith::ShRSIOp::create(b, bits, constant(b, kNarrow, i32));
  if (!isa<FloatType>(element))
    return bits.getType() == element
               ? bits
               : arith::TruncIOp::create(b, element, bits).getResult();
  if (isNarrow && element.isF16()) {
    bits = turnNegative(b, bits, kMagnitude >> kNarrow);
    return arith::BitcastOp::create(
        b, element, arith::TruncIOp::create(b, b.getI16Type(), bits));
  }
  bits = turnNegative(b, bits, kMagnitude);
  // Without the number.
  if (isNarrow)
    bits = arith::AndIOp::create(b, bits,
                                 constant(b, ~getNumberMask(kNarrow), i32));
  Value value = arith::BitcastOp::create(b, b.getF32Type(), bits);
  return element.isF32()
             ? value
             : arith::TruncFOp::create(b, element, value).getResult();
}

Value ExtremumKeys::getNumber(OpBuilder &builder, Location loc,
                              Value key) const {
  ImplicitLocOpBuilder b(loc, builder);
  Type i64 = b.getI64Type();
  Value mask = constant(b, getNumberMask(half), key.getType());
  Value lower = arith::AndIOp::create(b, key, mask);
  if (!isAscending())
    lower = arith::XOrIOp::create(b, lower, mask);
  if (half == kNarrow)
    lower = arith::ExtUIOp::create(b, i64, lower);
  return arith::SubIOp::create(b, lower, constant(b, 1, i64));
}
