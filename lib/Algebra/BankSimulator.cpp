//===- BankSimulator.cpp - Bank conflicts by enumeration -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/BankSimulator.h"
#include <algorithm>
#include <map>
#include <set>

using namespace tracea::algebra;

Expected<std::vector<int64_t>> tracea::algebra::simulateAccess(
    const BankModel &model, const std::vector<uint64_t> &addresses,
    unsigned widthBytes, AccessKind kind, const std::vector<bool> &active) {
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
  Expected<AccessPhases> phases = model.phasesOf(widthBytes, kind);
  if (!phases)
    return phases.error();

  std::vector<bool> done(lanes, false);
  std::vector<int64_t> cycles;
  for (size_t first = 0; first < lanes; ++first) {
    if (done[first])
      continue;
    // The coset of `first`, mask by mask.
    std::vector<size_t> group{first};
    for (uint64_t mask : phases->lanes)
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
