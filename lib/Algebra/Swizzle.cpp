//===- Swizzle.cpp - Invertible linear maps on shared-memory offset bits --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Swizzle.h"
#include "Bits.h"
#include <algorithm>

using namespace tracea::algebra;

Expected<Swizzle> Swizzle::get(F2Matrix map) {
  if (!map.isInvertible())
    return Error{"swizzle: expected an invertible map, found rank " +
                 std::to_string(map.rank()) + " with " +
                 std::to_string(map.numInputs()) + " input and " +
                 std::to_string(map.numOutputs()) + " output bits"};
  return Swizzle(std::move(map));
}

Expected<Swizzle> Swizzle::xorBits(unsigned low, unsigned count,
                                   unsigned distance) {
  if (count && distance < count)
    return Error{"swizzle: expected a distance of at least the " +
                 std::to_string(count) + " bits, found " +
                 std::to_string(distance)};
  // Each is checked apart first: their sum may wrap.
  if (low > 64 || count > 64 || distance > 64 || low + count + distance > 64)
    return Error{"swizzle: expected at most 64 offset bits, found low " +
                 std::to_string(low) + " + distance " +
                 std::to_string(distance) + " + count " +
                 std::to_string(count)};
  if (count == 0)
    return Swizzle();
  F2Vectors columns = F2Matrix::identity(low + distance + count).columns();
  for (unsigned i = 0; i < count; ++i)
    columns[low + distance + i] |= bit(low + i);
  Expected<F2Matrix> map = F2Matrix::get(columns.size(), columns);
  if (!map)
    return map.error();
  return Swizzle(*map);
}

Swizzle Swizzle::mode(SwizzleMode mode) {
  unsigned count = 0;
  switch (mode) {
  case SwizzleMode::None:
    return Swizzle();
  case SwizzleMode::Bytes32:
    count = 1;
    break;
  case SwizzleMode::Bytes64:
    count = 2;
    break;
  case SwizzleMode::Bytes128:
    count = 3;
    break;
  }
  return *xorBits(/*low=*/4, count, /*distance=*/3);
}

uint64_t Swizzle::apply(uint64_t offset) const {
  if (numBits() >= 64)
    return map.apply(offset);
  uint64_t mask = bit(numBits()) - 1;
  return (offset & ~mask) | map.apply(offset & mask);
}

Swizzle Swizzle::inverse() const { return Swizzle(*map.inverse()); }

Swizzle Swizzle::extended(unsigned bits) const {
  if (bits <= numBits())
    return *this;
  return Swizzle(*map.directSum(F2Matrix::identity(bits - numBits())));
}

Swizzle Swizzle::compose(const Swizzle &inner) const {
  unsigned bits = std::max(numBits(), inner.numBits());
  return Swizzle(*extended(bits).map.compose(inner.extended(bits).map));
}

uint64_t Swizzle::period() const {
  // Bits from p on must be fixed (x = 0), and S must keep the offsets below 2^p
  // there (else XOR with a fixed bit above is not addition). Since the map is
  // invertible, each bit that is not fixed is written by some column that is
  // not, so the leading bits of these columns bound both.
  unsigned p = 0;
  for (unsigned i = 0; i < numBits(); ++i)
    if (map.column(i) != bit(i))
      p = std::max<unsigned>(p, 64 - __builtin_clzll(map.column(i)));
  return p >= 64 ? 0 : bit(p);
}

uint64_t Swizzle::preservedVectorBytes() const {
  uint64_t mixed = 0; // Low bits that some other offset bit flips.
  for (unsigned i = 0; i < numBits(); ++i)
    mixed |= map.column(i) ^ bit(i);
  // Bits below v must be fixed and not flipped by others; a bit i that flips
  // anything ends the run as well.
  unsigned v = 0;
  while (v < numBits() && map.column(v) == bit(v) && !(mixed >> v & 1))
    ++v;
  return v >= numBits() ? 0 : bit(v);
}

bool Swizzle::equals(const Swizzle &other) const {
  unsigned bits = std::max(numBits(), other.numBits());
  return extended(bits).map == other.extended(bits).map;
}
