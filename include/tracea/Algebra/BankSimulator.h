//===- BankSimulator.h - Bank conflicts by enumeration -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same question as conflictDegree, answered by going through the lanes and
// counting. It takes any addresses, not only linear ones, and inactive lanes.
// It shares with the proof nothing but the model.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_BANKSIMULATOR_H
#define TRACEA_ALGEBRA_BANKSIMULATOR_H

#include "tracea/Algebra/Banks.h"

namespace tracea::algebra {

/// The cycles of each phase, in the order of the phases' lowest lanes: the most
/// distinct words that one bank must deliver, 0 for a phase without active
/// lanes. `addresses`: the first byte of each lane's access; need not be
/// aligned. `active`: one flag per lane, empty for all. Fails when the sizes do
/// not match the model's lanes, on addresses of 2^63 and more, or when the
/// model has no such access.
Expected<std::vector<int64_t>>
simulateAccess(const BankModel &model, const std::vector<uint64_t> &addresses,
               unsigned widthBytes, AccessKind kind,
               const std::vector<bool> &active = {});

/// The cycles of the whole instruction: of its phases, merged where the model
/// merges them, but no less than there are phases, with or without active
/// lanes. 0 without active lanes. Fails as above.
Expected<int64_t> simulateWavefronts(const BankModel &model,
                                     const std::vector<uint64_t> &addresses,
                                     unsigned widthBytes, AccessKind kind,
                                     const std::vector<bool> &active = {});

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_BANKSIMULATOR_H
