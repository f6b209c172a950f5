//===- Bits.h - Single bits of a vector over F2 -----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ALGEBRA_BITS_H
#define TRACEA_LIB_ALGEBRA_BITS_H

#include <cstdint>

namespace tracea::algebra {

inline uint64_t bit(unsigned i) { return uint64_t(1) << i; }

} // namespace tracea::algebra

#endif // TRACEA_LIB_ALGEBRA_BITS_H
