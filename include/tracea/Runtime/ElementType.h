//===- ElementType.h - The element types of tensors -------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and sizes of the element types that cross the runtime's boundary, and
// exact conversions for the floating-point formats of 16 and 8 bits.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_ELEMENTTYPE_H
#define TRACEA_RUNTIME_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string>

namespace tracea::runtime {

/// `i1` takes one byte, 0 or 1; `index` is a signed 64-bit integer. The two
/// formats of 8 bits are those of the OCP 8-bit Floating Point Specification:
/// `f8E4M3FN` has no infinities, `f8E5M2` has those of IEEE.
enum class ElementType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  I64,
  I32,
  I16,
  I8,
  I1,
  Index,
  F8E4M3FN,
  F8E5M2
};

/// The number of element types; their values are 0 … this - 1.
inline constexpr int numElementTypes = 12;

/// Size in bytes, which is also the natural alignment.
int64_t sizeOf(ElementType type);
/// "f32", "bf16", "f8E4M3FN", "index", …
const char *nameOf(ElementType type);
/// The type of that name, if there is one.
std::optional<ElementType> parseElementType(const std::string &name);
bool isFloat(ElementType type);

/// IEEE binary16, round to nearest even; NaNs stay NaNs.
float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
/// bfloat16, round to nearest even; NaNs stay NaNs.
float bfloatToFloat(uint16_t bits);
uint16_t floatToBFloat(float value);
/// Round to nearest even; NaNs stay NaNs. What rounds beyond 448 is NaN.
float f8E4M3FNToFloat(uint8_t bits);
uint8_t floatToF8E4M3FN(float value);
/// Round to nearest even; NaNs stay NaNs. What rounds beyond 57344 is infinite.
float f8E5M2ToFloat(uint8_t bits);
uint8_t floatToF8E5M2(float value);

/// The element at `pointer` as a double (64-bit integers are rounded).
double readAsDouble(ElementType type, const void *pointer);
/// Sets the element of a float type at `pointer`, by way of f32 where it has
/// fewer bits.
void writeFromDouble(ElementType type, double value, void *pointer);
/// The element at `pointer` as an argument of a kernel: integers of several
/// bits with their sign, i1 as 0 or 1, floats as their bits.
int64_t readAsSlot(ElementType type, const void *pointer);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_ELEMENTTYPE_H
