//===- AvoidingSubspace.cpp - The decision behind the swizzle solver -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bits.h"
#include "F2Elimination.h"
#include "tracea/Algebra/SwizzleSolver.h"
#include <algorithm>

using namespace tracea::algebra;

static unsigned leadOf(uint64_t x) { return 63 - __builtin_clzll(x); }

bool Refutation::excludesEveryLayout() const { return branches.empty(); }

int64_t Refutation::size() const {
  int64_t nodes = 1;
  for (const Branch &branch : branches)
    nodes += branch.rest.size();
  return nodes;
}

static std::string tooManyNodes(int64_t nodes) {
  return "swizzle: no answer within " + std::to_string(nodes) +
         " nodes of the search";
}

namespace {
/// The search in coordinates of the sum R of all spans: outside of R nothing is
/// forbidden.
class Search {
public:
  Search(std::vector<F2Vectors> spans, unsigned dim, unsigned bankBits,
         int64_t maxNodes)
      : spans(std::move(spans)), dim(dim), bankBits(bankBits),
        need(dim - bankBits), nodesLeft(maxNodes) {}

  enum class Result { Found, Refuted, OutOfNodes };

  /// Completes `chosen` to `need` vectors, or fills `proof`.
  Result run(F2Vectors &chosen, Refutation &proof) {
    if (chosen.size() == need)
      return Result::Found;
    if (nodesLeft-- <= 0)
      return Result::OutOfNodes;
    std::vector<bool> bad = forbidden(chosen);
    // A subspace without branches is the best of proofs; at the root it says
    // more than the search does, so more is spent on it.
    proof.subspace = chosen.empty() ? coveredSubspace(bad) : F2Vectors();
    if (proof.subspace.empty())
      proof.subspace = subspaceToBranchOn(chosen, bad);
    F2Vectors elements = combinations(proof.subspace);
    std::sort(elements.begin(), elements.end());
    for (uint64_t x : elements) {
      if (!x || bad[x])
        continue;
      proof.branches.push_back({x, {}});
      chosen.push_back(x);
      Result result = run(chosen, proof.branches.back().rest);
      if (result != Result::Refuted)
        return result;
      chosen.pop_back();
    }
    return Result::Refuted;
  }

private:
  /// The vectors of T + span(chosen) for some T.
  std::vector<bool> forbidden(const F2Vectors &chosen) const {
    std::vector<bool> bad(size_t(1) << dim, false);
    for (const F2Vectors &span : spans) {
      F2Vectors all = span;
      all.insert(all.end(), chosen.begin(), chosen.end());
      for (uint64_t x : combinations(canonicalBasis(all)))
        bad[x] = true;
    }
    return bad;
  }

  /// A subspace of dimension b + 1 inside the forbidden set, if a bounded
  /// depth-first search meets one.
  F2Vectors coveredSubspace(const std::vector<bool> &bad) const {
    F2Vectors vectors, basis, elements{0};
    for (uint64_t x = 1; x < bad.size(); ++x)
      if (bad[x])
        vectors.push_back(x);
    int64_t steps = 200000;
    extendCovered(vectors, 0, bad, basis, elements, steps);
    return basis.size() == bankBits + 1 ? basis : F2Vectors();
  }
  bool extendCovered(const F2Vectors &vectors, size_t from,
                     const std::vector<bool> &bad, F2Vectors &basis,
                     F2Vectors &elements, int64_t &steps) const {
    if (basis.size() == bankBits + 1)
      return true;
    for (size_t i = from; i < vectors.size() && steps > 0; ++i) {
      uint64_t x = vectors[i];
      // Only the smallest vector of x + span(basis): the others give the same
      // subspace. It is the one without the basis' leading bits.
      bool inside = true, smallest = true;
      for (uint64_t v : basis)
        smallest &= !(x >> leadOf(v) & 1);
      if (!smallest)
        continue;
      for (uint64_t e : elements) {
        --steps;
        if (!bad[e ^ x]) {
          inside = false;
          break;
        }
      }
      if (!inside)
        continue;
      basis.push_back(x);
      size_t count = elements.size();
      for (size_t k = 0; k < count; ++k)
        elements.push_back(elements[k] ^ x);
      if (extendCovered(vectors, i + 1, bad, basis, elements, steps))
        return true;
      basis.pop_back();
      elements.resize(count);
    }
    return false;
  }

  /// Some subspace of dimension b + 1 beside span(chosen), with few vectors to
  /// branch on: a T extended by the vectors that add the fewest.
  F2Vectors subspaceToBranchOn(const F2Vectors &chosen,
                               const std::vector<bool> &bad) const {
    F2Vectors best;
    int64_t fewest = -1;
    for (const F2Vectors &span : spans) {
      F2Vectors subspace = span;
      int64_t branches = 0;
      while (subspace.size() <= bankBits) {
        F2Elimination taken;
        for (uint64_t v : chosen)
          taken.add(v);
        for (uint64_t v : subspace)
          taken.add(v);
        F2Vectors elements = combinations(subspace);
        // All extensions in small spaces, else those by one bit.
        bool all = dim + subspace.size() <= 16;
        uint64_t choice = 0;
        int64_t least = -1;
        for (uint64_t y = 1; y < bit(dim) && least != 0;
             y = all ? y + 1 : y * 2) {
          if (taken.solve(y))
            continue;
          int64_t open = 0;
          for (uint64_t e : elements)
            open += !bad[e ^ y];
          if (least < 0 || open < least) {
            least = open;
            choice = y;
          }
        }
        // chosen and subspace have fewer than dim dimensions together, so some
        // unit vector is beside them.
        branches += least;
        subspace.push_back(choice);
      }
      if (fewest < 0 || branches < fewest) {
        fewest = branches;
        best = subspace;
      }
    }
    return best;
  }

  std::vector<F2Vectors> spans;
  unsigned dim, bankBits;
  size_t need;
  int64_t nodesLeft;
};
} // namespace

/// Coordinates back to vectors of the space.
static uint64_t lift(uint64_t coordinates, const F2Vectors &basis) {
  uint64_t x = 0;
  for (unsigned i = 0; i < basis.size(); ++i)
    if (coordinates >> i & 1)
      x ^= basis[i];
  return x;
}

static void liftProof(Refutation &proof, const F2Vectors &basis) {
  for (uint64_t &x : proof.subspace)
    x = lift(x, basis);
  for (Refutation::Branch &branch : proof.branches) {
    branch.chosen = lift(branch.chosen, basis);
    liftProof(branch.rest, basis);
  }
}

Expected<Avoidance>
tracea::algebra::findAvoidingSubspace(const std::vector<F2Vectors> &spans,
                                      unsigned spaceBits, unsigned bankBits,
                                      int64_t maxNodes) {
  if (spaceBits > F2Matrix::maxBits || bankBits > spaceBits)
    return Error{"swizzle: expected at most 64 bits and no more bank bits than "
                 "those, found " +
                 std::to_string(spaceBits) + " and " +
                 std::to_string(bankBits)};
  F2Vectors together;
  for (const F2Vectors &span : spans)
    for (uint64_t v : span) {
      if (spaceBits < 64 && v >> spaceBits)
        return Error{"swizzle: expected vectors of " +
                     std::to_string(spaceBits) + " bits, found " +
                     std::to_string(v)};
      together.push_back(v);
    }
  F2Vectors basis = canonicalBasis(together);
  unsigned dim = basis.size();

  Avoidance answer;
  // More dimensions than bank bits: any b + 1 of them are a proof.
  for (const F2Vectors &span : spans) {
    F2Vectors own = canonicalBasis(span);
    if (own.size() > bankBits) {
      own.resize(bankBits + 1);
      answer.refutation = Refutation{own, {}};
      return answer;
    }
  }
  F2Vectors chosen;
  if (dim > bankBits) {
    if (dim > 20)
      return Error{"swizzle: expected accesses that span at most 20 "
                   "dimensions, found " +
                   std::to_string(dim)};
    std::vector<F2Vectors> coordinates;
    for (const F2Vectors &span : spans) {
      F2Vectors own;
      // The basis is reduced: leading bits are the coordinates.
      for (uint64_t v : canonicalBasis(span)) {
        uint64_t x = 0;
        for (unsigned i = 0; i < dim; ++i)
          x |= (v >> leadOf(basis[i]) & 1) << i;
        own.push_back(x);
      }
      if (!own.empty())
        coordinates.push_back(own);
    }
    Refutation proof;
    Search search(std::move(coordinates), dim, bankBits, maxNodes);
    switch (search.run(chosen, proof)) {
    case Search::Result::OutOfNodes:
      return Error{tooManyNodes(maxNodes)};
    case Search::Result::Refuted:
      liftProof(proof, basis);
      answer.refutation = std::move(proof);
      return answer;
    case Search::Result::Found:
      break;
    }
    for (uint64_t &x : chosen)
      x = lift(x, basis);
  }
  // Outside of the sum nothing is forbidden.
  uint64_t leads = 0;
  for (uint64_t v : basis)
    leads |= bit(leadOf(v));
  for (unsigned i = spaceBits; i-- > 0 && chosen.size() < spaceBits - bankBits;)
    if (!(leads >> i & 1))
      chosen.push_back(bit(i));
  answer.subspace = canonicalBasis(chosen);
  return answer;
}

static bool checkNode(const Refutation &node,
                      const std::vector<F2Vectors> &spans, unsigned spaceBits,
                      unsigned bankBits, F2Vectors &chosen) {
  F2Vectors both = chosen;
  both.insert(both.end(), node.subspace.begin(), node.subspace.end());
  if (node.subspace.size() != bankBits + 1 || node.subspace.size() > 24 ||
      rankOf(both) != chosen.size() + node.subspace.size())
    return false;
  for (uint64_t v : node.subspace)
    if (spaceBits < 64 && v >> spaceBits)
      return false;
  // T + span(chosen), ready for membership.
  std::vector<F2Elimination> forbidden;
  for (const F2Vectors &span : spans) {
    F2Elimination sum;
    for (uint64_t v : span)
      sum.add(v);
    for (uint64_t v : chosen)
      sum.add(v);
    forbidden.push_back(sum);
  }
  F2Vectors open;
  for (uint64_t x : combinations(node.subspace)) {
    bool out = x == 0;
    for (const F2Elimination &sum : forbidden)
      out = out || sum.solve(x).has_value();
    if (!out)
      open.push_back(x);
  }
  for (const Refutation::Branch &branch : node.branches) {
    F2Vectors::iterator at = std::find(open.begin(), open.end(), branch.chosen);
    if (at == open.end())
      return false;
    open.erase(at);
    chosen.push_back(branch.chosen);
    bool holds = checkNode(branch.rest, spans, spaceBits, bankBits, chosen);
    chosen.pop_back();
    if (!holds)
      return false;
  }
  return open.empty();
}

bool tracea::algebra::isValidRefutation(const Refutation &refutation,
                                        const std::vector<F2Vectors> &spans,
                                        unsigned spaceBits, unsigned bankBits) {
  F2Vectors chosen;
  return checkNode(refutation, spans, spaceBits, bankBits, chosen);
}

Expected<F2Matrix> tracea::algebra::mapOntoBankZero(const F2Vectors &subspace,
                                                    unsigned spaceBits,
                                                    unsigned bankBits) {
  F2Vectors basis = canonicalBasis(subspace);
  if (bankBits > spaceBits || spaceBits > F2Matrix::maxBits ||
      basis.size() != spaceBits - bankBits ||
      (!basis.empty() && spaceBits < 64 && basis.back() >> spaceBits))
    return Error{"swizzle: expected a subspace of dimension " +
                 std::to_string(spaceBits) + " - " + std::to_string(bankBits) +
                 ", found " + std::to_string(basis.size())};
  uint64_t bankMask = bankBits == 64 ? ~uint64_t(0) : bit(bankBits) - 1;
  F2Vectors columns = F2Matrix::identity(spaceBits).columns();
  // u = (low, high) ↦ 0 on the bank bits: what is added for a high bit is the
  // low part of the subspace's vector over it.
  F2Elimination highs;
  bool graph = true;
  for (unsigned i = 0; i < basis.size(); ++i)
    graph &= !highs.add(basis[i] & ~bankMask, bit(i)).has_value();
  if (graph) {
    for (unsigned i = bankBits; i < spaceBits; ++i) {
      uint64_t x = 0, combination = *highs.solve(bit(i));
      for (unsigned k = 0; k < basis.size(); ++k)
        if (combination >> k & 1)
          x ^= basis[k];
      columns[i] |= x & bankMask;
    }
    return F2Matrix::get(spaceBits, std::move(columns));
  }
  // Else any map that sends a complement to the bank bits.
  uint64_t leads = 0;
  for (uint64_t v : basis)
    leads |= bit(leadOf(v));
  F2Vectors source;
  for (unsigned i = 0; i < spaceBits; ++i)
    if (!(leads >> i & 1))
      source.push_back(bit(i));
  source.insert(source.end(), basis.begin(), basis.end());
  Expected<F2Matrix> from = F2Matrix::get(spaceBits, std::move(source));
  if (!from)
    return from;
  std::optional<F2Matrix> inverse = from->inverse();
  assert(inverse && "a basis and its complement span the space");
  return *inverse;
}
