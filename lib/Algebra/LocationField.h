//===- LocationField.h - Fields of packed locations -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ALGEBRA_LOCATIONFIELD_H
#define TRACEA_LIB_ALGEBRA_LOCATIONFIELD_H

#include "Bits.h"

namespace tracea::algebra {

/// The bits of a packed location that one dimension occupies.
struct Field {
  unsigned shift, width;
  uint64_t of(uint64_t location) const {
    return width ? location >> shift & (bit(width) - 1) : 0;
  }
};

} // namespace tracea::algebra

#endif // TRACEA_LIB_ALGEBRA_LOCATIONFIELD_H
