//===- F2Subspace.cpp - Subspaces of F2^64 by bases of bit vectors -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/F2Subspace.h"
#include "F2Elimination.h"
#include <algorithm>

using namespace tracea::algebra;

unsigned tracea::algebra::rankOf(const F2Vectors &vectors) {
  F2Elimination elimination;
  for (uint64_t v : vectors)
    elimination.add(v);
  return elimination.rank();
}

F2Vectors tracea::algebra::canonicalBasis(const F2Vectors &vectors) {
  F2Elimination elimination;
  for (uint64_t v : vectors)
    elimination.add(v);
  F2Vectors basis; // Ascending by leading bit, hence by value.
  for (unsigned bit = 0; bit < 64; ++bit)
    if (uint64_t v = elimination.pivot(bit)) {
      // Clear the other leading bits, from the top so that none comes back.
      for (unsigned lower = bit; lower-- > 0;)
        if (v >> lower & 1)
          v ^= elimination.pivot(lower);
      basis.push_back(v);
    }
  return basis;
}

bool tracea::algebra::inSpan(uint64_t vector, const F2Vectors &vectors) {
  F2Elimination elimination;
  for (uint64_t v : vectors)
    elimination.add(v);
  return elimination.solve(vector).has_value();
}

bool tracea::algebra::sameSpan(const F2Vectors &a, const F2Vectors &b) {
  return canonicalBasis(a) == canonicalBasis(b);
}

F2Vectors tracea::algebra::intersection(const F2Vectors &a,
                                        const F2Vectors &b) {
  // x ∈ both iff x = Σ a_i = Σ b_j, that is iff (i, j) is in the kernel of
  // [A B]. Bases keep the number of columns within 64 + 64; a bit of the
  // combination is only needed for the a side.
  F2Vectors basisA = canonicalBasis(a);
  F2Elimination elimination;
  for (unsigned i = 0; i < basisA.size(); ++i)
    elimination.add(basisA[i], uint64_t(1) << i);
  F2Vectors common;
  for (uint64_t v : canonicalBasis(b))
    if (std::optional<uint64_t> relation = elimination.add(v, 0)) {
      uint64_t x = 0;
      for (unsigned i = 0; i < basisA.size(); ++i)
        if (*relation >> i & 1)
          x ^= basisA[i];
      common.push_back(x);
    }
  return canonicalBasis(common);
}

F2Vectors tracea::algebra::sum(const F2Vectors &a, const F2Vectors &b) {
  F2Vectors both = a;
  both.insert(both.end(), b.begin(), b.end());
  return canonicalBasis(both);
}

F2Vectors tracea::algebra::combinations(const F2Vectors &vectors) {
  if (vectors.size() > 24)
    return {};
  F2Vectors all{0};
  all.reserve(size_t(1) << vectors.size());
  for (uint64_t v : vectors)
    for (size_t i = 0, e = all.size(); i < e; ++i)
      all.push_back(all[i] ^ v);
  return all;
}
