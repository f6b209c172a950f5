//===- NumericsMemory.h - Tensors between guard pages -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for inputs and outputs: right at a page that may not be touched, at
// an address that is aligned to its elements only, or strided. Whatever the
// tensor does not cover holds a pattern that must survive.

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSMEMORY_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSMEMORY_H

#include "Numerics.h"
#include "tracea/Runtime/Tensor.h"

namespace tracea::numerics {

/// Writes a number of the type, whose bytes need no alignment.
void encode(ElementType type, double value, uint8_t *to);

enum class Placement {
  /// The last byte before a guard page.
  End,
  /// The first byte after a guard page.
  Start,
  /// One element after a multiple of 64.
  Misaligned,
  /// Rows apart from each other, elements too, or the axes in another order.
  Strided
};

class GuardedTensor {
public:
  GuardedTensor(Random &random, ElementType type, const Shape &shape,
                Placement placement);
  ~GuardedTensor();
  GuardedTensor(GuardedTensor &&other) noexcept;
  GuardedTensor &operator=(GuardedTensor &&) = delete;

  const runtime::Tensor &tensor() const { return view; }
  /// All bytes of all elements 0xFF: NaN, or -1.
  void poison();
  void write(const HostTensor &values);
  double read(const Shape &index) const;
  /// The elements' bytes in row-major order.
  std::vector<uint8_t> bytes() const;
  /// Whether everything but the elements is as it was.
  bool surroundingsIntact() const;

private:
  uint8_t *at(const Shape &index) const;

  uint8_t *mapping = nullptr;
  int64_t mappedBytes = 0;
  uint8_t *usable = nullptr;
  int64_t usableBytes = 0;
  uint8_t *first = nullptr;
  ElementType type;
  Shape shape, strides;
  runtime::Tensor view;
};

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSMEMORY_H
