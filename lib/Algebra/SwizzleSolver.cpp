//===- SwizzleSolver.cpp - Conflict-free swizzles of least cost -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/SwizzleSolver.h"
#include "Bits.h"
#include "F2Elimination.h"
#include <algorithm>
#include <functional>
#include <tuple>

using namespace tracea::algebra;

bool tracea::algebra::operator<(const SwizzleCost &a, const SwizzleCost &b) {
  return std::tie(a.shifts, a.baseRegisters, a.xoredBits) <
         std::tie(b.shifts, b.baseRegisters, b.xoredBits);
}

Expected<std::vector<F2Vectors>>
tracea::algebra::chunkSubspaces(const SwizzleProblem &problem,
                                unsigned &vectorBits, unsigned &chunkBits,
                                unsigned &bankBits) {
  const BankModel &model = problem.model;
  if (std::string message = model.verify(); !message.empty())
    return Error{message};
  if (problem.offsetBits > 31)
    return Error{"swizzle: expected a tile of at most 2^31 bytes, found 2^" +
                 std::to_string(problem.offsetBits)};
  vectorBits = model.wordBits;
  for (const SwizzleAccess &access : problem.accesses) {
    // Refuses what has no degree.
    Expected<ConflictDegree> plain = conflictDegree(
        model, access.lanesToBytes, access.widthBytes, access.kind);
    if (!plain)
      return plain.error();
    for (const F2Vectors *offsets :
         {&access.lanesToBytes.columns(), &access.unrolled})
      for (uint64_t offset : *offsets)
        if (offset >> problem.offsetBits)
          return Error{"swizzle: expected offsets of " + access.name +
                       " below 2^" + std::to_string(problem.offsetBits) +
                       ", found " + std::to_string(offset)};
    while (bit(vectorBits) < access.widthBytes)
      ++vectorBits;
  }
  if (vectorBits > model.wordBits + model.bankBits)
    return Error{"swizzle: a vector of 2^" + std::to_string(vectorBits) +
                 " bytes is wider than all banks"};
  chunkBits =
      problem.offsetBits > vectorBits ? problem.offsetBits - vectorBits : 0;
  bankBits = std::min(model.wordBits + model.bankBits - vectorBits, chunkBits);

  unsigned inChunk = vectorBits - model.wordBits;
  F2Vectors wholeChunks;
  for (unsigned i = inChunk; i < inChunk + chunkBits; ++i)
    wholeChunks.push_back(bit(i));
  std::vector<F2Vectors> subspaces;
  for (const SwizzleAccess &access : problem.accesses) {
    Expected<AccessPhases> phases =
        model.phasesOf(access.widthBytes, access.kind);
    if (!phases)
      return phases.error();
    F2Vectors words;
    for (uint64_t lane : phases->lanes)
      words.push_back(access.lanesToBytes.apply(lane) >> model.wordBits);
    for (uint64_t w = 1; w << model.wordBits < access.widthBytes; w *= 2)
      words.push_back(w);
    // The words of a phase that start at the same word of their chunks.
    F2Vectors chunks = intersection(words, wholeChunks);
    for (uint64_t &x : chunks)
      x >>= inChunk;
    subspaces.push_back(chunks);
  }
  if (problem.xorOnly)
    subspaces.push_back(F2Matrix::identity(bankBits).columns());
  return subspaces;
}

namespace {
/// Solves one problem; what all candidate swizzles need of it is computed once.
class Solver {
public:
  Solver(const SwizzleProblem &problem, const SwizzleLimits &limits)
      : problem(problem), limits(limits) {}

  Expected<SwizzleAnswer> run();

private:
  /// rows[i]: the bank bits that chunk bit bankBits + i is added to.
  using Rows = F2Vectors;

  uint64_t applyRows(const Rows &rows, uint64_t chunk) const {
    uint64_t result = chunk;
    for (uint64_t high = chunk >> answer.bankBits; high; high &= high - 1)
      result ^= rows[__builtin_ctzll(high)];
    return result;
  }
  uint64_t applyToBytes(const Rows &rows, uint64_t offset) const {
    uint64_t low = offset & (bit(answer.vectorBits) - 1);
    return applyRows(rows, offset >> answer.vectorBits) << answer.vectorBits |
           low;
  }
  /// log2 of the conflict degree of an access.
  unsigned deficit(const Rows &rows, const F2Vectors &subspace) const {
    F2Elimination banks;
    for (uint64_t x : subspace)
      banks.add(applyRows(rows, x) & (bit(answer.bankBits) - 1));
    return subspace.size() - banks.rank();
  }

  int64_t baseRegisters(const std::function<uint64_t(uint64_t)> &apply) const {
    int64_t registers = 0;
    for (const SwizzleAccess &access : problem.accesses) {
      uint64_t support = 0;
      for (uint64_t column : access.lanesToBytes.columns())
        support |= apply(column);
      F2Elimination carried;
      for (uint64_t offset : access.unrolled)
        carried.add(apply(offset) & support);
      registers += int64_t(1) << carried.rank();
    }
    return registers;
  }

  /// Calls `visit` for the row sets of exactly `shifts` distances; false when
  /// the candidates ran out.
  bool
  forEachCandidate(unsigned shifts,
                   const std::function<void(const Rows &, unsigned)> &visit);
  bool extend(unsigned shifts, unsigned distance, Rows &rows, unsigned xored,
              const std::function<void(const Rows &, unsigned)> &visit);

  void take(const Rows &rows, SwizzleCost cost);
  std::optional<Error> finish(F2Matrix chunkMap);

  const SwizzleProblem &problem;
  const SwizzleLimits &limits;
  std::vector<F2Vectors> subspaces;
  SwizzleAnswer answer;
  int64_t candidatesLeft = 0;
};
} // namespace

bool Solver::forEachCandidate(
    unsigned shifts, const std::function<void(const Rows &, unsigned)> &visit) {
  Rows rows(answer.chunkBits - answer.bankBits, 0);
  return extend(shifts, 1, rows, 0, visit);
}

bool Solver::extend(unsigned shifts, unsigned distance, Rows &rows,
                    unsigned xored,
                    const std::function<void(const Rows &, unsigned)> &visit) {
  if (shifts == 0) {
    if (candidatesLeft-- <= 0)
      return false;
    visit(rows, xored);
    return true;
  }
  for (; distance < answer.chunkBits; ++distance) {
    // Bank bits j whose source j + distance is a bit above the banks.
    uint64_t possible = 0;
    for (unsigned j = 0; j < answer.bankBits; ++j)
      if (j + distance >= answer.bankBits && j + distance < answer.chunkBits)
        possible |= bit(j);
    // Every non-empty subset, from the sparsest code to the fullest.
    for (uint64_t mask = possible & -possible; mask;
         mask = (mask - possible) & possible) {
      for (uint64_t rest = mask; rest; rest &= rest - 1) {
        unsigned j = __builtin_ctzll(rest);
        rows[j + distance - answer.bankBits] ^= bit(j);
      }
      bool more = extend(shifts - 1, distance + 1, rows,
                         xored + __builtin_popcountll(mask), visit);
      for (uint64_t rest = mask; rest; rest &= rest - 1) {
        unsigned j = __builtin_ctzll(rest);
        rows[j + distance - answer.bankBits] ^= bit(j);
      }
      if (!more)
        return false;
    }
  }
  return true;
}

void Solver::take(const Rows &rows, SwizzleCost cost) {
  answer.cost = cost;
  std::vector<SwizzleTerm> terms;
  for (unsigned i = 0; i < rows.size(); ++i)
    for (unsigned j = 0; j < answer.bankBits; ++j)
      if (rows[i] >> j & 1)
        terms.push_back(
            {answer.vectorBits + j, answer.vectorBits + answer.bankBits + i});
  std::sort(terms.begin(), terms.end(),
            [](const SwizzleTerm &a, const SwizzleTerm &b) {
              return std::tie(a.bit, a.source) < std::tie(b.bit, b.source);
            });
  answer.terms = std::move(terms);
}

std::optional<Error> Solver::finish(F2Matrix chunkMap) {
  Expected<F2Matrix> map =
      F2Matrix::identity(answer.vectorBits).directSum(chunkMap);
  if (!map)
    return map.error();
  Expected<Swizzle> swizzle = Swizzle::get(*map);
  if (!swizzle)
    return swizzle.error();
  answer.swizzle = *swizzle;
  for (const SwizzleAccess &access : problem.accesses) {
    F2Vectors columns;
    for (uint64_t column : access.lanesToBytes.columns())
      columns.push_back(answer.swizzle.apply(column));
    Expected<F2Matrix> lanes =
        F2Matrix::get(F2Matrix::maxBits, std::move(columns));
    if (!lanes)
      return lanes.error();
    Expected<ConflictDegree> degree =
        conflictDegree(problem.model, *lanes, access.widthBytes, access.kind);
    if (!degree)
      return degree.error();
    answer.degrees.push_back(*degree);
  }
  return std::nullopt;
}

Expected<SwizzleAnswer> Solver::run() {
  Expected<std::vector<F2Vectors>> found = chunkSubspaces(
      problem, answer.vectorBits, answer.chunkBits, answer.bankBits);
  if (!found)
    return found.error();
  subspaces = *found;
  Expected<Avoidance> decision = findAvoidingSubspace(
      subspaces, answer.chunkBits, answer.bankBits, limits.maxNodes);
  if (!decision)
    return decision.error();
  answer.decision = *decision;
  unsigned bankBits = answer.bankBits, chunkBits = answer.chunkBits;
  size_t accesses = problem.accesses.size();
  for (size_t i = 0; i < accesses; ++i)
    answer.degreeBounds.push_back(int64_t(1)
                                  << (subspaces[i].size() > bankBits
                                          ? subspaces[i].size() - bankBits
                                          : 0));

  // XOR swizzles by rising number of shifts. Conflict-free ones end the search
  // with the first number that has any; otherwise two shifts are the end.
  bool wantFree = answer.isConflictFree();
  Rows bestRows;
  SwizzleCost bestCost;
  int64_t bestCycles = -1;
  bool complete = true;
  candidatesLeft = limits.maxCandidates;
  unsigned lastShifts = wantFree ? chunkBits : std::min(chunkBits, 2u);
  for (unsigned shifts = 0; shifts <= lastShifts && complete; ++shifts) {
    complete = forEachCandidate(shifts, [&](const Rows &rows, unsigned xored) {
      int64_t cycles = 0;
      for (size_t i = 0; i < accesses; ++i) {
        unsigned lost = deficit(rows, subspaces[i]);
        if (wantFree && lost)
          return;
        cycles += int64_t(1) << lost;
      }
      if (bestCycles >= 0 && cycles > bestCycles)
        return;
      SwizzleCost cost{shifts, 0, xored};
      cost.baseRegisters = baseRegisters(
          [&](uint64_t offset) { return applyToBytes(rows, offset); });
      if (bestCycles < 0 || cycles < bestCycles || cost < bestCost) {
        bestCycles = cycles;
        bestCost = cost;
        bestRows = rows;
      }
    });
    if (wantFree && bestCycles >= 0)
      break;
  }
  answer.leastCost = complete;

  if (bestCycles >= 0) {
    take(bestRows, bestCost);
    F2Vectors columns = F2Matrix::identity(chunkBits).columns();
    for (unsigned i = bankBits; i < chunkBits; ++i)
      columns[i] |= bestRows[i - bankBits];
    Expected<F2Matrix> map = F2Matrix::get(chunkBits, std::move(columns));
    if (!map)
      return map.error();
    if (wantFree) {
      // The subspace that this swizzle sends to bank 0.
      std::optional<F2Matrix> inverse = map->inverse();
      assert(inverse && "an XOR swizzle is invertible");
      F2Vectors zero(inverse->columns().begin() + bankBits,
                     inverse->columns().end());
      answer.decision.subspace = canonicalBasis(zero);
    }
    if (std::optional<Error> error = finish(*map))
      return *error;
    return answer;
  }

  // Either no XOR swizzle is conflict-free, or none of few shifts is and the
  // enumeration gave up: ask for a subspace beside the bank bits.
  answer.leastCost = false;
  if (!problem.xorOnly) {
    std::vector<F2Vectors> withBanks = subspaces;
    withBanks.push_back(F2Matrix::identity(bankBits).columns());
    Expected<Avoidance> asXor =
        findAvoidingSubspace(withBanks, chunkBits, bankBits, limits.maxNodes);
    if (!asXor)
      return asXor.error();
    if (asXor->subspace)
      answer.decision.subspace = asXor->subspace;
  }
  Expected<F2Matrix> map =
      mapOntoBankZero(*answer.decision.subspace, chunkBits, bankBits);
  if (!map)
    return map.error();
  bool isXor = true;
  Rows rows;
  for (unsigned i = 0; i < chunkBits; ++i) {
    uint64_t added = map->column(i) ^ bit(i);
    isXor &= i < bankBits ? added == 0 : added < bit(bankBits);
    if (i >= bankBits)
      rows.push_back(added);
  }
  if (isXor) {
    SwizzleCost cost;
    uint64_t distances = 0;
    for (unsigned i = 0; i < rows.size(); ++i)
      for (unsigned j = 0; j < bankBits; ++j)
        if (rows[i] >> j & 1) {
          distances |= bit(bankBits + i - j);
          ++cost.xoredBits;
        }
    cost.shifts = __builtin_popcountll(distances);
    cost.baseRegisters = baseRegisters(
        [&](uint64_t offset) { return applyToBytes(rows, offset); });
    take(rows, cost);
  }
  if (std::optional<Error> error = finish(*map))
    return *error;
  if (!isXor)
    answer.cost.baseRegisters = baseRegisters(
        [&](uint64_t offset) { return answer.swizzle.apply(offset); });
  return answer;
}

Expected<SwizzleAnswer>
tracea::algebra::solveSwizzle(const SwizzleProblem &problem,
                              const SwizzleLimits &limits) {
  return Solver(problem, limits).run();
}

std::string tracea::algebra::checkSwizzle(const SwizzleProblem &problem,
                                          const SwizzleAnswer &answer) {
  unsigned vectorBits, chunkBits, bankBits;
  Expected<std::vector<F2Vectors>> subspaces =
      chunkSubspaces(problem, vectorBits, chunkBits, bankBits);
  if (!subspaces)
    return subspaces.message();
  if (vectorBits != answer.vectorBits || chunkBits != answer.chunkBits ||
      bankBits != answer.bankBits)
    return "the chunks are not those of the problem";
  const Avoidance &decision = answer.decision;
  if (decision.subspace.has_value() == decision.refutation.has_value())
    return "expected either a subspace or a refutation";

  // The swizzle itself; Swizzle guarantees that it is invertible.
  const Swizzle &swizzle = answer.swizzle;
  uint64_t vectors = swizzle.preservedVectorBytes();
  if (vectors && vectors < bit(vectorBits))
    return "the swizzle breaks vectors of " + std::to_string(bit(vectorBits)) +
           " bytes";
  uint64_t period = swizzle.period();
  if (period > bit(vectorBits + chunkBits) || period == 0)
    return "the swizzle leaves the tile";
  if (answer.terms) {
    for (unsigned i = 0; i < vectorBits + chunkBits; ++i) {
      uint64_t image = bit(i);
      for (const SwizzleTerm &term : *answer.terms)
        if (term.source == i)
          image ^= bit(term.bit);
      if (swizzle.apply(bit(i)) != image)
        return "the terms are not those of the swizzle";
    }
  }
  if (answer.degrees.size() != problem.accesses.size())
    return "expected a degree for each access";
  for (size_t i = 0; i < problem.accesses.size(); ++i) {
    const SwizzleAccess &access = problem.accesses[i];
    F2Vectors columns;
    for (uint64_t column : access.lanesToBytes.columns())
      columns.push_back(swizzle.apply(column));
    Expected<F2Matrix> lanes =
        F2Matrix::get(F2Matrix::maxBits, std::move(columns));
    if (!lanes)
      return lanes.message();
    Expected<ConflictDegree> degree =
        conflictDegree(problem.model, *lanes, access.widthBytes, access.kind);
    if (!degree)
      return degree.message();
    if (degree->degree != answer.degrees[i].degree ||
        degree->phases != answer.degrees[i].phases ||
        degree->cycles != answer.degrees[i].cycles)
      return access.name + " has degree " + std::to_string(degree->degree) +
             ", not " + std::to_string(answer.degrees[i].degree);
    if (decision.subspace && degree->degree != 1)
      return access.name + " is not free of conflicts";
  }
  if (decision.refutation)
    return isValidRefutation(*decision.refutation, *subspaces, chunkBits,
                             bankBits)
               ? ""
               : "the refutation does not prove its claim";
  if (rankOf(*decision.subspace) != chunkBits - bankBits)
    return "the subspace has the wrong dimension";
  for (const F2Vectors &span : *subspaces)
    if (!intersection(*decision.subspace, span).empty())
      return "the subspace meets an access";
  for (uint64_t x : *decision.subspace)
    if (chunkBits < 64 && x >> chunkBits)
      return "the subspace leaves the tile";
    else if (swizzle.apply(x << vectorBits) >> vectorBits & (bit(bankBits) - 1))
      return "the swizzle does not send the subspace to bank 0";
  return "";
}
