//===- Banks.h - The bank model of a target ---------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_BANKS_H
#define TRACEA_ANALYSIS_BANKS_H

#include "tracea/Algebra/Banks.h"
#include "tracea/TargetInfo/TargetInfo.h"

namespace mlir::tracea {

/// What the tables say about the shared memory of a target. Fails when its
/// banks or the phases of its accesses are not known.
::tracea::algebra::Expected<::tracea::algebra::BankModel>
getBankModel(const ::tracea::target::TargetDescription &target);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_BANKS_H
