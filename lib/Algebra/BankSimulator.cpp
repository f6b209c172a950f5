//===- BankSimulator.cpp - Bank conflicts by enumeration -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/BankSimulator.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace tracea::algebra;

/// The phases of the access once model and arguments have been found good.
static Expected<AccessPhases>
checkAccess(const BankModel &model, const std::vector<uint64_t> &addresses,
            unsigned widthBytes, AccessKind kind,
            const std::vector<bool> &active) {
  if (std::string problem = model.verify(); !problem.empty())
    return Error{problem};
  size_t lanes = model.numLanes();
  if (addresses.size() != lanes)
    return Error{"bank simulation: expected " + std::to_string(lanes) +
                 " addresses, found " + std::to_string(addresses.size())};
  if (!active.empty() && active.size() != lanes)
    return Error{"bank simulation: expected " + std::to_string(lanes) +
                 " activity flags, found " + std::to_string(active.size())};
  if (widthBytes == 0)
    return Error{"bank simulation: expected a positive width, found 0"};
  for (uint64_t address : addresses)
    if (address >> 63)
      return Error{"bank simulation: expected addresses below 2^63, found " +
                   std::to_string(address)};
  return model.phasesOf(widthBytes, kind);
}

/// The most words that one bank delivers, for each coset of `masks`.
static std::vector<int64_t> countWords(const BankModel &model,
                                       const std::vector<uint64_t> &addresses,
                                       unsigned widthBytes,
                                       const F2Vectors &masks,
                                       const std::vector<bool> &active) {
  size_t lanes = model.numLanes();
  std::vector<bool> done(lanes, false);
  std::vector<int64_t> cycles;
  for (size_t first = 0; first < lanes; ++first) {
    if (done[first])
      continue;
    // The coset of `first`, mask by mask.
    std::vector<size_t> group{first};
    for (uint64_t mask : masks)
      for (size_t i = 0, e = group.size(); i < e; ++i)
        group.push_back(group[i] ^ mask);

    std::map<uint64_t, std::set<uint64_t>> wordsOfBank;
    for (size_t lane : group) {
      done[lane] = true;
      if (!active.empty() && !active[lane])
        continue;
      uint64_t last = (addresses[lane] + widthBytes - 1) / model.wordBytes();
      for (uint64_t word = addresses[lane] / model.wordBytes(); word <= last;
           ++word)
        wordsOfBank[word % model.numBanks()].insert(word);
    }
    int64_t busiest = 0;
    for (const auto &[bank, words] : wordsOfBank)
      busiest = std::max<int64_t>(busiest, words.size());
    cycles.push_back(busiest);
  }
  return cycles;
}

Expected<std::vector<int64_t>> tracea::algebra::simulateAccess(
    const BankModel &model, const std::vector<uint64_t> &addresses,
    unsigned widthBytes, AccessKind kind, const std::vector<bool> &active) {
  Expected<AccessPhases> phases =
      checkAccess(model, addresses, widthBytes, kind, active);
  if (!phases)
    return phases.error();
  return countWords(model, addresses, widthBytes, phases->lanes, active);
}

Expected<int64_t> tracea::algebra::simulateWavefronts(
    const BankModel &model, const std::vector<uint64_t> &addresses,
    unsigned widthBytes, AccessKind kind, const std::vector<bool> &active) {
  Expected<AccessPhases> phases =
      checkAccess(model, addresses, widthBytes, kind, active);
  if (!phases)
    return phases.error();
  auto isActive = [&](size_t lane) { return active.empty() || active[lane]; };
  auto repeatsAlong = [&](uint64_t mask) {
    for (size_t lane = 0; lane < addresses.size(); ++lane)
      if (isActive(lane) && isActive(lane ^ mask) &&
          addresses[lane] != addresses[lane ^ mask])
        return false;
    return true;
  };
  F2Vectors repeats;
  for (uint64_t mask : phases->pairs)
    if (repeatsAlong(mask))
      repeats.push_back(mask);
  std::vector<int64_t> cycles = countWords(model, addresses, widthBytes,
                                           phases->lanesWhen(repeats), active);
  int64_t sum = std::accumulate(cycles.begin(), cycles.end(), int64_t(0));
  return sum ? std::max<int64_t>(sum, cycles.size()) : 0;
}
