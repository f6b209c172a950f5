//===- HostCPU.h - What the host's processor has ----------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and features of the processor that this process runs on, by LLVM's
// names, and only as far as the operating system saves the registers.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_CPU_HOSTCPU_H
#define TRACEA_RUNTIME_CPU_HOSTCPU_H

#include "tracea/Runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracea::runtime {

struct HostCPU {
  /// "x86_64", "aarch64", or "unknown".
  std::string arch;
  std::string name;
  /// LLVM's names, sorted.
  std::vector<std::string> features;

  bool has(const std::string &feature) const;
};

/// Asks the processor (x86-64) or the kernel (AArch64).
HostCPU detectHostCPU();

/// Asks the system to let this process use these features, of which some are
/// given to those alone that ask: the registers of AMX on Linux. Once is enough
/// for all threads. Fails where the system refuses.
Status requestFeatures(const std::vector<std::string> &features);

/// The part for AArch64, from the words AT_HWCAP and AT_HWCAP2 of the auxiliary
/// vector.
std::vector<std::string> readAArch64Features(uint64_t first, uint64_t second);

/// Processors that this process may run on, and no more than its control groups
/// grant it the time of (`readCPUQuota`); at least 1.
int countUsableProcessors();

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_CPU_HOSTCPU_H
