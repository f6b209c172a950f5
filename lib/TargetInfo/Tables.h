//===- Tables.h - The vendors' tables ---------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_LIB_TARGETINFO_TABLES_H
#define TRACEA_LIB_TARGETINFO_TABLES_H

#include "tracea/TargetInfo/TargetInfo.h"

namespace tracea::target {

constexpr int64_t KiB = 1024;
constexpr int64_t MiB = 1024 * KiB;

// Each appends its entries.
void addX86Targets(std::vector<TargetDescription> &targets);
void addAArch64Targets(std::vector<TargetDescription> &targets);
void addNVIDIATargets(std::vector<TargetDescription> &targets);
void addAMDGPUTargets(std::vector<TargetDescription> &targets);
void addAppleTargets(std::vector<TargetDescription> &targets);

/// Sets the vector unit's shapes and peaks of a CPU from its vector facts; the
/// tables call it last and narrow() again when features fall away.
void deriveVectorFacts(TargetDescription &target);

} // namespace tracea::target

#endif // TRACEA_LIB_TARGETINFO_TABLES_H
