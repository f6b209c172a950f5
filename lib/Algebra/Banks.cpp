//===- Banks.cpp - The banks of shared memory and exact conflict degrees --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Banks.h"
#include <set>
#include <utility>

using namespace tracea::algebra;

static bool isPowerOfTwo(uint64_t n) { return n && !(n & (n - 1)); }

static const char *kindName(AccessKind kind) {
  return kind == AccessKind::Read ? "read" : "write";
}

const F2Vectors &AccessPhases::lanesWhen(const F2Vectors &repeats) const {
  for (uint64_t mask : pairs)
    if (inSpan(mask, repeats))
      return merged;
  return lanes;
}

Expected<AccessPhases> BankModel::phasesOf(unsigned widthBytes,
                                           AccessKind kind) const {
  unsigned width = widthBytes < wordBytes() ? wordBytes() : widthBytes;
  for (const AccessPhases &entry : phases)
    if (entry.widthBytes == width && entry.kind == kind)
      return entry;
  return Error{"bank model " + name + ": no " + std::to_string(widthBytes) +
               "-byte " + kindName(kind)};
}

std::string BankModel::verify() const {
  std::string prefix = "bank model " + name + ": ";
  if (laneBits > 10)
    return prefix + "expected at most 10 lane bits, found " +
           std::to_string(laneBits);
  if (bankBits > 16)
    return prefix + "expected at most 16 bank bits, found " +
           std::to_string(bankBits);
  if (wordBits > 6)
    return prefix + "expected words of at most 64 bytes, found 2^" +
           std::to_string(wordBits);
  std::set<std::pair<unsigned, AccessKind>> seen;
  for (const AccessPhases &entry : phases) {
    std::string access =
        std::to_string(entry.widthBytes) + "-byte " + kindName(entry.kind);
    if (!isPowerOfTwo(entry.widthBytes) || entry.widthBytes < wordBytes())
      return prefix + "expected a power of two of at least " +
             std::to_string(wordBytes()) + " bytes, found a " + access;
    if (!seen.insert({entry.widthBytes, entry.kind}).second)
      return prefix + "two entries for a " + access;
    for (const F2Vectors *masks : {&entry.lanes, &entry.pairs, &entry.merged})
      for (uint64_t mask : *masks)
        if (mask >> laneBits)
          return prefix + "a lane mask of the " + access + " exceeds " +
                 std::to_string(laneBits) + " bits: " + std::to_string(mask);
    if (rankOf(entry.lanes) != entry.lanes.size() ||
        rankOf(entry.merged) != entry.merged.size())
      return prefix + "the lane masks of the " + access + " are dependent";
    if (entry.pairs.empty())
      continue;
    for (uint64_t mask : entry.lanes)
      if (!inSpan(mask, entry.merged))
        return prefix + "merged phases of the " + access +
               " do not contain its phases";
  }
  return "";
}

/// 2^n lanes in sequence.
static F2Vectors firstLanes(unsigned n) {
  return F2Matrix::identity(n).columns();
}

/// The usual table: 4-, 8- and 16-byte accesses of consecutive lanes, with the
/// 16-byte reads apart.
static BankModel makeModel(const char *name, unsigned laneBits,
                           unsigned bankBits, unsigned firstBits,
                           F2Vectors read16) {
  BankModel model{name, laneBits, bankBits, /*wordBits=*/2, {}};
  for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
    model.phases.push_back({4, kind, firstLanes(firstBits)});
    model.phases.push_back({8, kind, firstLanes(firstBits - 1)});
    model.phases.push_back(
        {16, kind,
         kind == AccessKind::Read ? read16 : firstLanes(firstBits - 2)});
  }
  return model;
}

/// Measured (benchmarks/gpu/wavefronts): wide reads in which lanes two by two
/// want one vector are served in half as many phases. Stores are not, nor are
/// ldmatrix and stmatrix.
static BankModel nvidiaModel() {
  BankModel model = makeModel("nvidia", 5, 5, 5, {1, 2, 4});
  for (AccessPhases &entry : model.phases) {
    entry.mergingKnown = true;
    if (entry.kind == AccessKind::Read && entry.widthBytes > 4) {
      entry.pairs = {1, 2};
      entry.merged = firstLanes(unsigned(entry.lanes.size()) + 1);
    }
  }
  return model;
}

const std::vector<BankModel> &tracea::algebra::knownBankModels() {
  // NVIDIA: CUDA C++ Programming Guide, "Shared Memory"; 8 bytes go per
  // half-warp, 16 bytes and the 8 rows of ldmatrix/stmatrix per quarter-warp.
  // AMD: published measurements of LDS phases; 16-byte reads pair lanes
  // {0..3, 20..23} and so on. Writes of gfx950 and 8-byte writes are taken to
  // run over consecutive lanes as their reads do.
  static const std::vector<BankModel> models = {
      nvidiaModel(),
      makeModel("gfx942", 6, 5, 5, {1, 2, 20}),
      makeModel("gfx950", 6, 6, 6, {1, 2, 12, 20}),
      makeModel("gfx1100", 5, 5, 5, {1, 2, 20}),
      makeModel("gfx1201", 5, 5, 5, {1, 2, 4}),
  };
  return models;
}

Expected<BankModel> tracea::algebra::bankModel(const std::string &name) {
  std::string known;
  for (const BankModel &model : knownBankModels()) {
    if (model.name == name)
      return model;
    known += (known.empty() ? "" : ", ") + model.name;
  }
  return Error{"unknown bank model '" + name + "'; known: " + known};
}

Expected<ConflictDegree>
tracea::algebra::conflictDegree(const BankModel &model,
                                const F2Matrix &lanesToBytes,
                                unsigned widthBytes, AccessKind kind) {
  if (std::string problem = model.verify(); !problem.empty())
    return Error{problem};
  if (!isPowerOfTwo(widthBytes))
    return Error{"bank conflicts: expected a power of two as width, found " +
                 std::to_string(widthBytes)};
  if (lanesToBytes.numInputs() != model.laneBits)
    return Error{"bank conflicts: expected " + std::to_string(model.laneBits) +
                 " lane bits for " + model.name + ", found " +
                 std::to_string(lanesToBytes.numInputs())};
  for (unsigned i = 0; i < lanesToBytes.numInputs(); ++i)
    if (lanesToBytes.column(i) % widthBytes)
      return Error{"bank conflicts: expected addresses that are multiples of "
                   "the width " +
                   std::to_string(widthBytes) + ", found lane bit " +
                   std::to_string(i) + " at byte " +
                   std::to_string(lanesToBytes.column(i))};
  Expected<AccessPhases> phases = model.phasesOf(widthBytes, kind);
  if (!phases)
    return phases.error();

  // Cycles of one phase, a coset of the span of `lanes`.
  auto cyclesOf = [&](const F2Vectors &lanes) {
    F2Vectors words; // Spans W.
    for (uint64_t lane : lanes)
      words.push_back(lanesToBytes.apply(lane) >> model.wordBits);
    for (uint64_t w = 1; w << model.wordBits < widthBytes; w *= 2)
      words.push_back(w);
    F2Vectors banks;
    for (uint64_t word : words)
      banks.push_back(word & (model.numBanks() - 1));
    return int64_t(1) << (rankOf(words) - rankOf(banks));
  };
  auto phasesIn = [&](const F2Vectors &lanes) {
    return int64_t(1) << (model.laneBits - lanes.size());
  };
  const F2Vectors &served = phases->lanesWhen(lanesToBytes.kernel());
  return ConflictDegree{cyclesOf(phases->lanes), phasesIn(phases->lanes),
                        cyclesOf(served) * phasesIn(served)};
}
