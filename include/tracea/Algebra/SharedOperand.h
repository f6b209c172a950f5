//===- SharedOperand.h - Operands of wgmma in shared memory -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand in shared memory is described by a swizzle mode, the direction
// that is contiguous (K, or M/N) and two byte strides (PTX ISA, "Shared Memory
// Matrix Layout" of wgmma, canonical layouts). Here it is a linear map from the
// bits of the element coordinate to the bits of the byte offset, so that the
// writes of a copy and the reads of the unit meet in one algebra.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_SHAREDOPERAND_H
#define TRACEA_ALGEBRA_SHAREDOPERAND_H

#include "tracea/Algebra/Swizzle.h"

namespace tracea::algebra {

/// The direction of contiguous elements.
enum class MajorNess { K, MN };

struct SharedOperand {
  SwizzleMode mode = SwizzleMode::None;
  MajorNess major = MajorNess::K;
  /// 8, 16 or 32.
  unsigned elementBits = 16;
  /// Extents in elements, powers of two. `mn` is M of A or N of B.
  int64_t mn = 64, k = 16;
  /// "Leading dimension byte offset" and "stride dimension byte offset", powers
  /// of two. With T elements in 16 bytes:
  ///             leading                          stride
  ///   K  none   T elements of K to the next      8 of M/N to the next
  ///   K  W      unused: K spans at most W bytes  8 of M/N to the next
  ///   MN none   8 of K to the next               T of M/N to the next
  ///   MN W      W bytes of M/N to the next       8 of K to the next
  int64_t leadingBytes = 0, strideBytes = 0;

  /// The byte offset of element (mn, k): inputs are the bits of k, then those
  /// of mn. Fails on extents or strides that are not powers of two, on strides
  /// that overlap, on a K beyond the swizzled row, on extents smaller than the
  /// layout's atom, and on an M/N-major operand of other than 16 bits, which
  /// wgmma does not take.
  Expected<F2Matrix> toBytes() const;

  /// The 64-bit matrix descriptor for an operand at the shared-memory address
  /// `address` (PTX ISA, "Matrix Descriptor Format"): address, strides in units
  /// of 16 bytes in bits 0, 16 and 32; the mode in bits 62 and 63. Fails unless
  /// they are multiples of 16 that fit 18 bits, and unless the address is a
  /// multiple of the swizzle's period.
  Expected<uint64_t> descriptor(uint64_t address) const;
};

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_SHAREDOPERAND_H
