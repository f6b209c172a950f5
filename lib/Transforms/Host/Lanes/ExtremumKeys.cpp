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

constexpr int64_t kHalf = 32;
/// All bits but the sign of what orders elements.
constexpr int64_t kMagnitude = 0x7fffffff;

bool ExtremumKeys::areThere(Type element, int64_t extent) {
  // A number plus 1 leaves the lower half's sign alone.
  if (ShapedType::isDynamic(extent) || extent >= kMagnitude)
    return false;
  return element.isF16() || element.isBF16() || element.isF32() ||
         (element.isSignlessInteger() &&
          element.getIntOrFloatBitWidth() <= kHalf);
}

int64_t ExtremumKeys::getNone() const {
  return order.isMax ? std::numeric_limits<int64_t>::min()
                     : std::numeric_limits<int64_t>::max();
}

static Value constant(ImplicitLocOpBuilder &b, int64_t value,
                      unsigned width = 2 * kHalf) {
  return arith::ConstantIntOp::create(b, b.getIntegerType(width), value);
}

/// The bits of a float as an integer of the float's order, and back.
static Value turnNegative(ImplicitLocOpBuilder &b, Value bits) {
  Value sign = arith::ShRSIOp::create(b, bits, constant(b, kHalf - 1, kHalf));
  Value turned = arith::AndIOp::create(b, sign, constant(b, kMagnitude, kHalf));
  return arith::XOrIOp::create(b, bits, turned);
}

Value ExtremumKeys::make(OpBuilder &builder, Location loc, Value value,
                         Value index) const {
  ImplicitLocOpBuilder b(loc, builder);
  Type half = b.getIntegerType(kHalf), whole = b.getIntegerType(2 * kHalf);
  bool isFloat = isa<FloatType>(element);
  Value upper = value, isNaN;
  if (isFloat) {
    if (!element.isF32())
      upper = arith::ExtFOp::create(b, b.getF32Type(), upper);
    isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, upper, upper);
    // Zeros are equal, whatever their signs.
    Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    upper = arith::AddFOp::create(b, upper, zero);
    upper = turnNegative(b, arith::BitcastOp::create(b, half, upper));
    // Beyond the infinities.
    if (order.nanWins)
      upper = arith::SelectOp::create(
          b, isNaN, constant(b, order.isMax ? kMagnitude : ~kMagnitude, kHalf),
          upper);
  } else if (element != half) {
    upper = arith::ExtSIOp::create(b, half, upper);
  }
  Value number = arith::AddIOp::create(
      b, arith::IndexCastOp::create(b, whole, index), constant(b, 1));
  if (!isAscending())
    number = arith::XOrIOp::create(b, number, constant(b, 0xffffffff));
  Value key = arith::ShLIOp::create(b, arith::ExtSIOp::create(b, whole, upper),
                                    constant(b, kHalf));
  key = arith::OrIOp::create(b, key, number);
  if (isFloat && !order.nanWins)
    key = arith::SelectOp::create(b, isNaN, constant(b, getNone()), key);
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
  Value upper = arith::ShRSIOp::create(b, key, constant(b, kHalf));
  Value bits = arith::TruncIOp::create(b, b.getIntegerType(kHalf), upper);
  if (!isa<FloatType>(element))
    return bits.getType() == element
               ? bits
               : arith::TruncIOp::create(b, element, bits).getResult();
  Value value =
      arith::BitcastOp::create(b, b.getF32Type(), turnNegative(b, bits));
  return element.isF32()
             ? value
             : arith::TruncFOp::create(b, element, value).getResult();
}

Value ExtremumKeys::getNumber(OpBuilder &builder, Location loc,
                              Value key) const {
  ImplicitLocOpBuilder b(loc, builder);
  Value lower = arith::AndIOp::create(b, key, constant(b, 0xffffffff));
  if (!isAscending())
    lower = arith::XOrIOp::create(b, lower, constant(b, 0xffffffff));
  return arith::SubIOp::create(b, lower, constant(b, 1));
}
