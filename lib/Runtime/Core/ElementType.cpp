//===- ElementType.cpp - Names, sizes and conversions of narrow floats ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table for the element types, and the conversions of narrow
// floats done on the bit patterns, so that they are the same everywhere.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/ElementType.h"

#include <cstring>

namespace tracea::runtime {

namespace {
struct TypeInfo {
  const char *name;
  int64_t size;
};
constexpr TypeInfo infos[numElementTypes] = {
    {"f64", 8}, {"f32", 4},   {"f16", 2},      {"bf16", 2},
    {"i64", 8}, {"i32", 4},   {"i16", 2},      {"i8", 1},
    {"i1", 1},  {"index", 8}, {"f8E4M3FN", 1}, {"f8E5M2", 1}};

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename T>
T readAs(const void *pointer) {
  T value;
  std::memcpy(&value, pointer, sizeof value);
  return value;
}
} // namespace

int64_t sizeOf(ElementType type) { return infos[static_cast<int>(type)].size; }

const char *nameOf(ElementType type) {
  return infos[static_cast<int>(type)].name;
}

std::optional<ElementType> parseElementType(const std::string &name) {
  for (int i = 0; i < numElementTypes; ++i)
    if (name == infos[i].name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

bool isFloat(ElementType type) {
  return type == ElementType::F64 || type == ElementType::F32 ||
         type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::F8E4M3FN || type == ElementType::F8E5M2;
}

float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f;
  uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f)
    return floatOf(sign | 0x7f800000 | (fraction << 13));
  if (exponent != 0)
    return floatOf(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Zero or subnormal: fraction * 2^-24, exact in binary32.
  float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

uint16_t floatToHalf(float value) {
  uint32_t bits = bitsOf(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) // NaN: keep the top payload bits, stay quiet.
    return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
  if (magnitude >= 0x477ff000) // Rounds to 2^16 or more.
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude >= 0x38800000) { // Normal in binary16: 2^-14 and up.
    uint32_t rebased = magnitude - 0x38000000;
    uint32_t rounded = rebased + 0xfff + ((rebased >> 13) & 1);
    return static_cast<uint16_t>(sign | (rounded >> 13));
  }
  // Subnormal: adding 0.5 puts the last place of the sum at 2^-24, so that the
  // addition itself rounds to nearest even.
  uint32_t sum = bitsOf(floatOf(magnitude) + 0.5f);
  return static_cast<uint16_t>(sign | (sum - 0x3f000000));
}

float bfloatToFloat(uint16_t bits) { return floatOf(uint32_t(bits) << 16); }

uint16_t floatToBFloat(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Rounds to a format of 8 bits. `largest` is its largest finite number, and
/// the next pattern is what larger ones become.
template <int fractionBits, int bias, uint32_t largest>
static uint8_t roundToByte(float value) {
  uint32_t bits = bitsOf(value);
  uint32_t sign = (bits >> 24) & 0x80;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint8_t>(sign | 0x7f);
  constexpr uint32_t shift = 23 - fractionBits;
  if (magnitude >= uint32_t(128 - bias) << 23) { // Normal in 8 bits.
    uint32_t rebased = magnitude - (uint32_t(127 - bias) << 23);
    uint32_t rounded =
        (rebased + (1u << (shift - 1)) - 1 + ((rebased >> shift) & 1)) >> shift;
    return static_cast<uint8_t>(sign |
                                (rounded > largest ? largest + 1 : rounded));
  }
  // The sum's last place is that of the subnormal numbers.
  constexpr uint32_t unit = uint32_t(151 - bias - fractionBits) << 23;
  uint32_t sum = bitsOf(floatOf(magnitude) + floatOf(unit));
  return static_cast<uint8_t>(sign | (sum - unit));
}

float f8E4M3FNToFloat(uint8_t bits) {
  uint32_t sign = uint32_t(bits & 0x80) << 24;
  uint32_t magnitude = bits & 0x7f;
  if (magnitude == 0x7f)
    return floatOf(sign | 0x7fc00000);
  if (magnitude >= 8)
    return floatOf(sign | ((magnitude << 20) + (uint32_t(120) << 23)));
  float value = static_cast<float>(magnitude) * 0x1p-9f;
  return sign ? -value : value;
}

uint8_t floatToF8E4M3FN(float value) { return roundToByte<3, 7, 0x7e>(value); }

float f8E5M2ToFloat(uint8_t bits) {
  // Its patterns are the upper halves of those of binary16.
  return halfToFloat(static_cast<uint16_t>(uint32_t(bits) << 8));
}

uint8_t floatToF8E5M2(float value) { return roundToByte<2, 15, 0x7b>(value); }

double readAsDouble(ElementType type, const void *pointer) {
  uint16_t half;
  switch (type) {
  case ElementType::F64:
    return readAs<double>(pointer);
  case ElementType::F32:
    return readAs<float>(pointer);
  case ElementType::F16:
    std::memcpy(&half, pointer, sizeof half);
    return halfToFloat(half);
  case ElementType::BF16:
    std::memcpy(&half, pointer, sizeof half);
    return bfloatToFloat(half);
  case ElementType::I64:
  case ElementType::Index:
    return static_cast<double>(readAs<int64_t>(pointer));
  case ElementType::I32:
    return readAs<int32_t>(pointer);
  case ElementType::I16:
    return readAs<int16_t>(pointer);
  case ElementType::I8:
    return readAs<int8_t>(pointer);
  case ElementType::I1:
    return readAs<uint8_t>(pointer);
  case ElementType::F8E4M3FN:
    return f8E4M3FNToFloat(*static_cast<const uint8_t *>(pointer));
  case ElementType::F8E5M2:
    return f8E5M2ToFloat(*static_cast<const uint8_t *>(pointer));
  }
  return 0;
}

void writeFromDouble(ElementType type, double value, void *pointer) {
  auto write = [&](auto bits) { std::memcpy(pointer, &bits, sizeof bits); };
  float rounded = static_cast<float>(value);
  switch (type) {
  case ElementType::F64:
    return write(value);
  case ElementType::F32:
    return write(rounded);
  case ElementType::F16:
    return write(floatToHalf(rounded));
  case ElementType::BF16:
    return write(floatToBFloat(rounded));
  case ElementType::F8E4M3FN:
    return write(floatToF8E4M3FN(rounded));
  case ElementType::F8E5M2:
    return write(floatToF8E5M2(rounded));
  default:
    return;
  }
}

int64_t readAsSlot(ElementType type, const void *pointer) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
  case ElementType::Index:
    return readAs<int64_t>(pointer);
  case ElementType::F32:
    return readAs<uint32_t>(pointer);
  case ElementType::F16:
  case ElementType::BF16:
    return readAs<uint16_t>(pointer);
  case ElementType::I32:
    return readAs<int32_t>(pointer);
  case ElementType::I16:
    return readAs<int16_t>(pointer);
  case ElementType::I8:
    return readAs<int8_t>(pointer);
  case ElementType::I1:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return readAs<uint8_t>(pointer);
  }
  return 0;
}

} // namespace tracea::runtime
