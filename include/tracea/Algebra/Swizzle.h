//===- Swizzle.h - Invertible linear maps on shared-memory offset bits
//-----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A swizzle permutes the byte offsets of a tile in shared memory so that the
// accesses of a kernel meet different banks. It is an invertible F2-linear map
// on the low bits of the offset; higher bits pass through unchanged.
//
// Swizzle the tile-relative offset, then add the base. Bulk copies and wgmma
// swizzle absolute address bits instead, so there the base and every stage
// stride must be multiples of period(). Never add swizzled pieces: S(x) + S(y)
// is S(x + y) only when both sums carry nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_SWIZZLE_H
#define TRACEA_ALGEBRA_SWIZZLE_H

#include "tracea/Algebra/F2Matrix.h"

namespace tracea::algebra {

/// The swizzle modes of bulk tensor copies and wgmma operands (PTX ISA, "Tensor
/// swizzling modes"), named by the row width in bytes that they permute.
enum class SwizzleMode { None = 0, Bytes32 = 32, Bytes64 = 64, Bytes128 = 128 };

class Swizzle {
public:
  /// The identity.
  Swizzle() = default;

  /// From a square invertible map on offset bits; fails otherwise.
  static Expected<Swizzle> get(F2Matrix map);
  /// Bit `low + i` of the result is bit low + i XOR bit low + i + distance of
  /// the offset, for i < count. The map acts on low + distance + count bits.
  /// Fails when distance < count with count > 0 (the XOR would read bits that
  /// it also writes), or beyond 64 bits.
  static Expected<Swizzle> xorBits(unsigned low, unsigned count,
                                   unsigned distance);
  /// Address bit 7 + i XORed into bit 4 + i for i < 1, 2, 3: 16-byte chunks
  /// stay whole, with periods of 256, 512 and 1024 bytes.
  static Swizzle mode(SwizzleMode mode);

  /// The bits that the map acts on; all others pass through.
  unsigned numBits() const { return map.numInputs(); }
  const F2Matrix &matrix() const { return map; }

  uint64_t apply(uint64_t offset) const;
  Swizzle inverse() const;
  /// this ∘ inner; the narrower map is extended by the identity.
  Swizzle compose(const Swizzle &inner) const;
  bool isIdentity() const { return map.isIdentity(); }

  /// The smallest power of two p with S(x + c) = S(x) + c for every x and every
  /// multiple c of p, in bytes; 1 for the identity. 0 stands for 2^64.
  uint64_t period() const;
  /// The largest power of two v such that aligned vectors of v bytes stay whole
  /// and in order: S(x + i) = S(x) + i for v | x and i < v. 0 stands for 2^64
  /// (the identity).
  uint64_t preservedVectorBytes() const;

  /// Equal as maps on all offsets, whatever the width of their matrices.
  friend bool operator==(const Swizzle &a, const Swizzle &b) {
    return a.equals(b);
  }
  friend bool operator!=(const Swizzle &a, const Swizzle &b) {
    return !(a == b);
  }

private:
  explicit Swizzle(F2Matrix map) : map(std::move(map)) {}
  Swizzle extended(unsigned bits) const;
  bool equals(const Swizzle &other) const;

  F2Matrix map;
};

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_SWIZZLE_H
