//===- FloatEmitter.cpp - Arithmetic as it is written on paper ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tracea;

FloatEmitter::FloatEmitter(ImplicitLocOpBuilder &builder, Type type,
                           bool scales)
    : builder(builder), type(type),
      tables(getElementTypeOrSelf(type).isF64() ? kDoubleTables
                                                : kSingleTables),
      scales(scales) {
  bool wide = getElementTypeOrSelf(type).isF64();
  fractionBits = wide ? 52 : 23;
  width = wide ? 64 : 32;
  bias = wide ? 1023 : 127;
  bitsType = builder.getIntegerType(width);
  if (auto shaped = dyn_cast<ShapedType>(type))
    bitsType = shaped.clone(bitsType);
}

Value mlir::tracea::splat(ImplicitLocOpBuilder &builder, Type type,
                          TypedAttr attribute) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
  return arith::ConstantOp::create(builder, attribute);
}

Real FloatEmitter::real(double value) {
  return {this, splat(builder, type,
                      builder.getFloatAttr(getElementTypeOrSelf(type), value))};
}

Bits FloatEmitter::bits(uint64_t value) {
  Type element = getElementTypeOrSelf(bitsType);
  return {this,
          splat(builder, bitsType,
                IntegerAttr::get(element, APInt(width, value,
                                                /*isSigned=*/false,
                                                /*implicitTrunc=*/true)))};
}

template <typename OpTy, typename T, typename... Ts>
static T emit(T first, Ts... rest) {
  return {first.emitter,
          OpTy::create(first.emitter->builder, first.value, rest.value...)
              .getResult()};
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Real mlir::tracea::operator+(Real a, Real b) {
  return emit<arith::AddFOp>(a, b);
}
Real mlir::tracea::operator-(Real a, Real b) {
  return emit<arith::SubFOp>(a, b);
}
Real mlir::tracea::operator*(Real a, Real b) {
  return emit<arith::MulFOp>(a, b);
}
Real mlir::tracea::operator/(Real a, Real b) {
  return emit<arith::DivFOp>(a, b);
}
Real mlir::tracea::operator-(Real a) { return emit<arith::NegFOp>(a); }
Real mlir::tracea::operator+(Real a, double b) {
  return a + a.emitter->real(b);
}
Real mlir::tracea::operator-(Real a, double b) {
  return a - a.emitter->real(b);
}
Real mlir::tracea::operator*(Real a, double b) {
  return a * a.emitter->real(b);
}
Real mlir::tracea::operator+(double a, Real b) {
  return b.emitter->real(a) + b;
}
Real mlir::tracea::operator-(double a, Real b) {
  return b.emitter->real(a) - b;
}
Real mlir::tracea::operator/(double a, Real b) {
  return b.emitter->real(a) / b;
}
Real mlir::tracea::fma(Real a, Real b, Real c) {
  return emit<math::FmaOp>(a, b, c);
}
Real mlir::tracea::fma(Real a, double b, Real c) {
  return fma(a, a.emitter->real(b), c);
}
Real mlir::tracea::abs(Real a) { return emit<math::AbsFOp>(a); }
Real mlir::tracea::sqrt(Real a) { return emit<math::SqrtOp>(a); }
Real mlir::tracea::floor(Real a) { return emit<math::FloorOp>(a); }
Real mlir::tracea::copySign(Real a, Real b) {
  return emit<math::CopySignOp>(a, b);
}

template <typename T>
static T emitSelect(Truth condition, T a, T b) {
  return {a.emitter, arith::SelectOp::create(a.emitter->builder,
                                             condition.value, a.value, b.value)
                         .getResult()};
}
Real mlir::tracea::select(Truth condition, Real a, Real b) {
  return emitSelect(condition, a, b);
}
Real mlir::tracea::select(Truth condition, Real a, double b) {
  return select(condition, a, a.emitter->real(b));
}
Real mlir::tracea::select(Truth condition, double a, Real b) {
  return select(condition, b.emitter->real(a), b);
}

static Truth compare(arith::CmpFPredicate predicate, Real a, Real b) {
  return {a.emitter,
          arith::CmpFOp::create(a.emitter->builder, predicate, a.value, b.value)
              .getResult()};
}
Truth mlir::tracea::operator<(Real a, Real b) {
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Truth mlir::tracea::operator<(Real a, double b) {
  return a < a.emitter->real(b);
}
Truth mlir::tracea::operator<=(Real a, double b) {
  return compare(arith::CmpFPredicate::OLE, a, a.emitter->real(b));
}
Truth mlir::tracea::operator>(Real a, Real b) {
  return compare(arith::CmpFPredicate::OGT, a, b);
}
Truth mlir::tracea::operator>(Real a, double b) {
  return a > a.emitter->real(b);
}
Truth mlir::tracea::operator>=(Real a, double b) {
  return compare(arith::CmpFPredicate::OGE, a, a.emitter->real(b));
}
Truth mlir::tracea::operator==(Real a, Real b) {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}
Truth mlir::tracea::operator==(Real a, double b) {
  return a == a.emitter->real(b);
}
Truth mlir::tracea::operator!=(Real a, Real b) {
  return compare(arith::CmpFPredicate::UNE, a, b);
}
Truth mlir::tracea::isNaN(Real a) {
  return compare(arith::CmpFPredicate::UNO, a, a);
}
Truth mlir::tracea::operator&(Truth a, Truth b) {
  return emit<arith::AndIOp>(a, b);
}
Truth mlir::tracea::operator|(Truth a, Truth b) {
  return emit<arith::OrIOp>(a, b);
}
Truth mlir::tracea::operator^(Truth a, Truth b) {
  return emit<arith::XOrIOp>(a, b);
}
Truth mlir::tracea::operator!(Truth a) {
  ImplicitLocOpBuilder &builder = a.emitter->builder;
  return a ^ Truth{a.emitter, splat(builder, a.value.getType(),
                                    builder.getBoolAttr(true))};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Bits mlir::tracea::asBits(Real a) {
  return {a.emitter, arith::BitcastOp::create(a.emitter->builder,
                                              a.emitter->bitsType, a.value)
                         .getResult()};
}
Real mlir::tracea::asReal(Bits a) {
  return {a.emitter,
          arith::BitcastOp::create(a.emitter->builder, a.emitter->type, a.value)
              .getResult()};
}
Real mlir::tracea::convertSigned(Bits a) {
  return {a.emitter,
          arith::SIToFPOp::create(a.emitter->builder, a.emitter->type, a.value)
              .getResult()};
}
Bits mlir::tracea::operator+(Bits a, Bits b) {
  return emit<arith::AddIOp>(a, b);
}
Bits mlir::tracea::operator+(Bits a, uint64_t b) {
  return a + a.emitter->bits(b);
}
Bits mlir::tracea::operator-(Bits a, Bits b) {
  return emit<arith::SubIOp>(a, b);
}
Bits mlir::tracea::operator*(Bits a, Bits b) {
  return emit<arith::MulIOp>(a, b);
}
Bits mlir::tracea::operator&(Bits a, uint64_t b) {
  return emit<arith::AndIOp>(a, a.emitter->bits(b));
}
Bits mlir::tracea::operator^(Bits a, Bits b) {
  return emit<arith::XOrIOp>(a, b);
}
Bits mlir::tracea::operator|(Bits a, Bits b) {
  return emit<arith::OrIOp>(a, b);
}
Bits mlir::tracea::operator|(Bits a, uint64_t b) {
  return a | a.emitter->bits(b);
}
Bits mlir::tracea::operator<<(Bits a, Bits b) {
  return emit<arith::ShLIOp>(a, b);
}
Bits mlir::tracea::operator<<(Bits a, unsigned b) {
  return a << a.emitter->bits(b);
}
Bits mlir::tracea::operator>>(Bits a, Bits b) {
  return emit<arith::ShRUIOp>(a, b);
}
Bits mlir::tracea::operator>>(Bits a, unsigned b) {
  return a >> a.emitter->bits(b);
}
Bits mlir::tracea::shiftSigned(Bits a, unsigned b) {
  return emit<arith::ShRSIOp>(a, a.emitter->bits(b));
}
Bits mlir::tracea::divideUnsigned(Bits a, uint64_t b) {
  return emit<arith::DivUIOp>(a, a.emitter->bits(b));
}
Bits mlir::tracea::multiplyHigh(Bits a, Bits b) {
  return {a.emitter,
          arith::MulUIExtendedOp::create(a.emitter->builder, a.value, b.value)
              .getHigh()};
}
Bits mlir::tracea::select(Truth condition, Bits a, Bits b) {
  return emitSelect(condition, a, b);
}
static Truth compare(arith::CmpIPredicate predicate, Bits a, Bits b) {
  return {a.emitter,
          arith::CmpIOp::create(a.emitter->builder, predicate, a.value, b.value)
              .getResult()};
}
Truth mlir::tracea::operator==(Bits a, uint64_t b) {
  return compare(arith::CmpIPredicate::eq, a, a.emitter->bits(b));
}
Truth mlir::tracea::isNegative(Bits a) {
  return compare(arith::CmpIPredicate::slt, a, a.emitter->bits(0));
}
Truth mlir::tracea::isBitSet(Bits a, unsigned bit) {
  return compare(arith::CmpIPredicate::ne, a & (uint64_t(1) << bit),
                 a.emitter->bits(0));
}

Real mlir::tracea::evaluate(ArrayRef<double> coefficients, Real x) {
  Real total = x.emitter->real(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    total = fma(total, x, x.emitter->real(coefficient));
  return total;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

Pair mlir::tracea::addOrdered(Real a, Real b) {
  Real sum = a + b;
  return {sum, b - (sum - a)};
}

Pair mlir::tracea::addExactly(Real a, Real b) {
  Real sum = a + b, ofB = sum - a, ofA = sum - ofB;
  return {sum, (a - ofA) + (b - ofB)};
}

Pair mlir::tracea::multiplyExactly(Real a, Real b) {
  Real product = a * b;
  return {product, fma(a, b, -product)};
}

Pair mlir::tracea::operator+(Pair a, Real b) {
  Pair sum = addExactly(a.high, b);
  return addOrdered(sum.high, sum.low + a.low);
}

Pair mlir::tracea::operator+(Pair a, Pair b) {
  Pair sum = addExactly(a.high, b.high);
  return addOrdered(sum.high, sum.low + (a.low + b.low));
}

Pair mlir::tracea::operator*(Pair a, Real b) {
  Pair product = multiplyExactly(a.high, b);
  return addOrdered(product.high, fma(a.low, b, product.low));
}

Pair mlir::tracea::operator*(Pair a, Pair b) {
  Pair product = multiplyExactly(a.high, b.high);
  return addOrdered(product.high,
                    fma(a.low, b.high, fma(a.high, b.low, product.low)));
}

Pair mlir::tracea::operator/(Pair a, Pair b) {
  Real quotient = a.high / b.high;
  Real rest = fma(-quotient, b.high, a.high);
  rest = fma(-quotient, b.low, rest + a.low);
  return addOrdered(quotient, rest / b.high);
}

Pair mlir::tracea::operator-(Pair a) { return {-a.high, -a.low}; }

Pair mlir::tracea::sqrt(Pair a) {
  Real root = sqrt(a.high);
  Real rest = fma(-root, root, a.high) + a.low;
  // The root of zero has no rest.
  Real low = select(root == 0, 0.0, rest / (root + root));
  return addOrdered(root, low);
}

Pair mlir::tracea::scale(Pair a, double power) {
  return {a.high * power, a.low * power};
}

Pair mlir::tracea::select(Truth condition, Pair a, Pair b) {
  return {select(condition, a.high, b.high), select(condition, a.low, b.low)};
}

Real mlir::tracea::round(Pair a) { return a.high + a.low; }

//===----------------------------------------------------------------------===//
// Powers of two
//===----------------------------------------------------------------------===//

Real mlir::tracea::powerOfTwo(Bits n) {
  return asReal((n + uint64_t(n.emitter->bias)) << n.emitter->fractionBits);
}

Real mlir::tracea::scaleByPower(Real a, Bits n) {
  FloatEmitter &e = *a.emitter;
  if (e.scales && LLVM::isCompatibleType(e.type)) {
    Type exponents = e.builder.getI32Type();
    if (auto shaped = dyn_cast<ShapedType>(e.type))
      exponents = shaped.clone(exponents);
    Value exponent = n.value;
    if (e.isDouble())
      exponent = arith::TruncIOp::create(e.builder, exponents, exponent);
    // The operation of its own has one exponent for all elements.
    return {&e, LLVM::CallIntrinsicOp::create(
                    e.builder, e.type, e.builder.getStringAttr("llvm.ldexp"),
                    ValueRange{a.value, exponent})
                    ->getResult(0)};
  }
  Bits half = shiftSigned(n, 1);
  return a * powerOfTwo(half) * powerOfTwo(n - half);
}

Split mlir::tracea::splitNormal(Real x, double low) {
  FloatEmitter &e = *x.emitter;
  // Adding the distance from `low` to 1 moves the exponent on where the
  // fraction has reached 2 low.
  uint64_t one = uint64_t(e.bias) << e.fractionBits;
  Bits bits = asBits(x);
  Bits lowBits = asBits(e.real(low));
  Bits biased = (bits + (e.bits(one) - lowBits)) >> e.fractionBits;
  Split split{{&e, {}}, {&e, {}}, {&e, {}}};
  split.exponentBits = biased - e.bits(uint64_t(e.bias));
  // The exponent as the last digits of a power of two, which is subtracted.
  uint64_t anchor = uint64_t(e.bias + e.fractionBits) << e.fractionBits;
  double anchorValue = std::ldexp(1.0, e.fractionBits) + double(e.bias);
  split.exponent = asReal(biased | anchor) - anchorValue;
  split.fraction = asReal(bits - (split.exponentBits << e.fractionBits));
  return split;
}
