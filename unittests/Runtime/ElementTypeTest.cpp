//===- ElementTypeTest.cpp - Names and 16-bit conversions -----------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversions are compared over all 65536 patterns and at the midpoints
// between neighbours, where rounding to even shows.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/ElementType.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace tracea::runtime;

TEST(ElementType, NamesRoundTrip) {
  for (int i = 0; i < numElementTypes; ++i) {
    ElementType type = static_cast<ElementType>(i);
    EXPECT_EQ(parseElementType(nameOf(type)), type);
  }
  EXPECT_FALSE(parseElementType("f8").has_value());
  EXPECT_FALSE(parseElementType("").has_value());
  EXPECT_EQ(sizeOf(ElementType::I1), 1);
  EXPECT_EQ(sizeOf(ElementType::Index), 8);
  EXPECT_EQ(sizeOf(ElementType::BF16), 2);
  EXPECT_EQ(sizeOf(ElementType::F8E4M3FN), 1);
  EXPECT_EQ(sizeOf(ElementType::F8E5M2), 1);
}

TEST(ElementType, HalfKnownValues) {
  EXPECT_EQ(floatToHalf(1.0f), 0x3c00);
  EXPECT_EQ(floatToHalf(-2.0f), 0xc000);
  EXPECT_EQ(floatToHalf(65504.0f), 0x7bff);
  EXPECT_EQ(floatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(floatToHalf(0x1p-24f), 0x0001);
  EXPECT_EQ(floatToHalf(0x1p-25f), 0x0000); // A tie, to even.
  EXPECT_EQ(floatToHalf(0x1.8p-24f), 0x0002);
  EXPECT_EQ(floatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(halfToFloat(0x3555), 0x1.554p-2f);
  EXPECT_EQ(halfToFloat(0x8001), -0x1p-24f);
  EXPECT_TRUE(std::isinf(halfToFloat(0x7c00)));
  EXPECT_EQ(floatToHalf(std::numeric_limits<float>::infinity()), 0x7c00);
}

TEST(ElementType, AllHalvesRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    float value = halfToFloat(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(value)))) << bits;
    else
      EXPECT_EQ(floatToHalf(value), half) << bits;
  }
}

TEST(ElementType, HalfTiesGoToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    float low = halfToFloat(static_cast<uint16_t>(bits));
    float high = halfToFloat(static_cast<uint16_t>(bits + 1));
    float middle = low + (high - low) / 2; // Exact in binary32.
    EXPECT_EQ(floatToHalf(middle), bits % 2 == 0 ? bits : bits + 1) << bits;
    EXPECT_EQ(floatToHalf(std::nextafterf(middle, 0.0f)), bits) << bits;
    EXPECT_EQ(floatToHalf(std::nextafterf(middle, 1e9f)), bits + 1) << bits;
  }
}

TEST(ElementType, BFloatRoundTripsAndRounds) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = bfloatToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBFloat(value))));
    else
      EXPECT_EQ(floatToBFloat(value), bits);
  }
  EXPECT_EQ(floatToBFloat(0x1.01p0f), 0x3f80); // Tie to even.
  EXPECT_EQ(floatToBFloat(0x1.03p0f), 0x3f82);
  EXPECT_EQ(floatToBFloat(std::numeric_limits<float>::max()), 0x7f80);
}

/// The value of a pattern by its definition.
static double valueOf(uint8_t bits, int fractionBits, int bias) {
  int exponent = (bits & 0x7f) >> fractionBits;
  double fraction = std::ldexp(bits & ((1 << fractionBits) - 1), -fractionBits);
  double value = exponent ? std::ldexp(1 + fraction, exponent - bias)
                          : std::ldexp(fraction, 1 - bias);
  return bits & 0x80 ? -value : value;
}

/// Checks a format whose finite numbers have magnitudes up to `largest` as
/// patterns: every pattern, what lies halfway between two, and what is next to
/// that on either side.
static void checkBytes(float (*toFloat)(uint8_t), uint8_t (*fromFloat)(float),
                       int fractionBits, int bias, uint8_t largest) {
  for (int sign : {0, 0x80})
    for (int magnitude = 0; magnitude <= largest; ++magnitude) {
      auto bits = static_cast<uint8_t>(sign | magnitude);
      double value = valueOf(bits, fractionBits, bias);
      EXPECT_EQ(toFloat(bits), value) << int(bits);
      EXPECT_EQ(std::signbit(toFloat(bits)), sign != 0);
      EXPECT_EQ(fromFloat(toFloat(bits)), bits);
      // Past the largest one the next number would be this.
      double next = valueOf(static_cast<uint8_t>(bits + 1), fractionBits, bias);
      auto half = static_cast<float>((value + next) / 2);
      auto away = static_cast<float>(next);
      EXPECT_EQ(fromFloat(half), bits + (bits & 1)) << int(bits);
      EXPECT_EQ(fromFloat(std::nextafter(half, 0.0f)), bits);
      EXPECT_EQ(fromFloat(std::nextafter(half, 2 * away)), bits + 1);
    }
}

TEST(ElementType, BytesAreRoundedToNearestEven) {
  checkBytes(f8E4M3FNToFloat, floatToF8E4M3FN, 3, 7, 0x7e);
  checkBytes(f8E5M2ToFloat, floatToF8E5M2, 2, 15, 0x7b);
}

TEST(ElementType, BytesBeyondTheLargest) {
  float infinity = std::numeric_limits<float>::infinity();
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(floatToF8E4M3FN(464), 0x7e);
  EXPECT_EQ(floatToF8E4M3FN(465), 0x7f);
  EXPECT_EQ(floatToF8E4M3FN(-infinity), 0xff);
  EXPECT_TRUE(std::isnan(f8E4M3FNToFloat(0x7f)));
  EXPECT_TRUE(std::isnan(f8E4M3FNToFloat(0xff)));
  EXPECT_TRUE(std::isnan(f8E4M3FNToFloat(floatToF8E4M3FN(nan))));
  EXPECT_EQ(floatToF8E5M2(61439), 0x7b);
  EXPECT_EQ(floatToF8E5M2(61440), 0x7c);
  EXPECT_EQ(floatToF8E5M2(-infinity), 0xfc);
  EXPECT_EQ(f8E5M2ToFloat(0xfc), -infinity);
  EXPECT_TRUE(std::isnan(f8E5M2ToFloat(0x7d)));
  EXPECT_TRUE(std::isnan(f8E5M2ToFloat(floatToF8E5M2(nan))));
}

TEST(ElementType, ReadsAsDouble) {
  int16_t i16 = -7;
  EXPECT_EQ(readAsDouble(ElementType::I16, &i16), -7);
  int8_t i8 = -128;
  EXPECT_EQ(readAsDouble(ElementType::I8, &i8), -128);
  uint16_t half = 0xc000;
  EXPECT_EQ(readAsDouble(ElementType::F16, &half), -2);
  EXPECT_EQ(readAsDouble(ElementType::BF16, &half), -2);
  uint8_t byte = 0xc0;
  EXPECT_EQ(readAsDouble(ElementType::F8E4M3FN, &byte), -2);
  EXPECT_EQ(readAsDouble(ElementType::F8E5M2, &byte), -2);
  double f64 = 0.1;
  EXPECT_EQ(readAsDouble(ElementType::F64, &f64), 0.1);
}
