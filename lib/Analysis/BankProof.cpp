//===- BankProof.cpp - The accesses of a kernel and their cycles ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/BankProof.h"
#include "tracea/Analysis/Banks.h"

#include <algorithm>

using namespace tracea::analysis;
using namespace tracea::algebra;

void BankFigures::add(const TileAccessDegree &degree, int64_t count) {
  accesses += count;
  byRank += degree.byRank ? count : 0;
  worst = std::max(worst, degree.degree.degree);
}

std::string tracea::analysis::describeBanks(const BankFigures &figures,
                                            const std::string &target) {
  if (figures.accesses == 0)
    return target == "cpu" ? "the memory of a CPU has no banks"
                           : "no accesses to staged memory";
  return std::to_string(figures.accesses) +
         " accesses to staged memory take at most " +
         std::to_string(figures.worst) +
         (figures.worst == 1 ? " cycle" : " cycles") + " a phase on " + target +
         ", " + std::to_string(figures.byRank) + " by rank, " +
         std::to_string(figures.accesses - figures.byRank) +
         " by enumeration of a period";
}

Expected<BankModel> tracea::analysis::getBankModel(const std::string &target) {
  std::optional<target::TargetDescription> description = target::lookup(target);
  if (!description)
    return Error{"the target '" + target + "' is not known"};
  return mlir::tracea::getBankModel(*description);
}

Expected<std::string> tracea::analysis::decideBanks(const BankProof &proof) {
  BankFigures figures;
  if (proof.accesses.empty()) {
    return describeBanks(figures, proof.target);
  }
  if (proof.target == "cpu")
    return Error{"the memory of a CPU has no banks, but " +
                 std::to_string(proof.accesses.size()) + " accesses are given"};
  Expected<BankModel> model = getBankModel(proof.target);
  if (!model)
    return model.error();
  // All accesses together stay within some seconds.
  constexpr int64_t most = int64_t(1) << 28, mostOfOne = int64_t(1) << 22;
  int64_t limit = std::min<int64_t>(mostOfOne, most / proof.accesses.size());
  for (const BankedAccess &access : proof.accesses) {
    Expected<TileAccessDegree> degree =
        tileAccessDegree(*model, access.access, access.swizzle, limit);
    if (!degree)
      return degree.error();
    figures.add(*degree, access.count);
  }
  return describeBanks(figures, proof.target);
}
