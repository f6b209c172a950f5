//===- Host.h - The machine that the compiler runs on -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the table entry closest to this machine's CPU and narrows it to what
// the processor and the operating system offer here.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_TARGETINFO_HOST_H
#define TRACEA_TARGETINFO_HOST_H

#include "tracea/TargetInfo/TargetInfo.h"

namespace tracea::target {

/// This machine: facts of the table, features, caches and core counts of the
/// host. An architecture with no table yields a description without a vector
/// unit whose name is the architecture.
TargetDescription detectHost();

/// Features, by LLVM's names, that this machine's processor has and its
/// operating system saves on a context switch.
std::vector<std::string> hostFeatures();

/// `name` as a user writes it: "cpu" and "host" are this machine, anything else
/// a name of the tables.
std::optional<TargetDescription> resolve(std::string_view name);

/// Entry for an x86 processor by its family and model (both with the extended
/// fields of cpuid leaf 1 added in); empty when there is none.
std::string x86EntryFor(std::string_view vendor, unsigned family,
                        unsigned model, unsigned stepping);

/// Entry for an Arm processor by the implementer and part fields of MIDR_EL1;
/// empty when there is none.
std::string armEntryFor(unsigned implementer, unsigned part);

/// Entry of the vendor's newest core whose features are all in `has`, for
/// processors that have no entry of their own; empty when there is none.
std::string x86CoreFor(std::string_view vendor,
                       const std::vector<std::string> &has);

/// The best x86-64 level whose features are all in `has`.
std::string x86LevelFor(const std::vector<std::string> &has);

} // namespace tracea::target

#endif // TRACEA_TARGETINFO_HOST_H
