//===- F2Subspace.h - Subspaces of F2^64 by bases of bit vectors -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A vector over F2 is a uint64_t, bit i its i-th coordinate; addition is XOR.
// A subspace is given by any list of vectors that span it.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_F2SUBSPACE_H
#define TRACEA_ALGEBRA_F2SUBSPACE_H

#include <cstdint>
#include <vector>

namespace tracea::algebra {

using F2Vectors = std::vector<uint64_t>;

/// The dimension of the span.
unsigned rankOf(const F2Vectors &vectors);

/// The reduced echelon basis, sorted ascending: every leading bit occurs in one
/// basis vector only. Two lists span the same subspace iff these are equal.
F2Vectors canonicalBasis(const F2Vectors &vectors);

/// Whether `vector` lies in the span.
bool inSpan(uint64_t vector, const F2Vectors &vectors);

/// Whether both lists span the same subspace.
bool sameSpan(const F2Vectors &a, const F2Vectors &b);

/// The canonical basis of span(a) ∩ span(b).
F2Vectors intersection(const F2Vectors &a, const F2Vectors &b);

/// The canonical basis of span(a) + span(b).
F2Vectors sum(const F2Vectors &a, const F2Vectors &b);

/// All 2^n combinations of n vectors, entry i the combination that the bits of
/// i select (so duplicates appear when the vectors are dependent). n must be at
/// most 24; beyond that the result is empty.
F2Vectors combinations(const F2Vectors &vectors);

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_F2SUBSPACE_H
