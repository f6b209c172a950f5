//===- CPUQuota.h - Processor time that a container grants ------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux's control groups limit the processor time of a process without taking
// processors from its affinity mask: threads beyond the limit are stopped for
// the rest of a period, in the midst of their work or while they spin.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_CPU_CPUQUOTA_H
#define TRACEA_RUNTIME_CPU_CPUQUOTA_H

#include <optional>
#include <string>

namespace tracea::runtime {

/// The processors whose time this process gets by its control groups and those
/// around them, rounded up, at least 1: `cpu.max` of version 2
/// (Documentation/admin-guide/cgroup-v2.rst), `cpu.cfs_quota_us` over
/// `cpu.cfs_period_us` of version 1 (scheduler/sched-bwc.rst). Nothing where
/// there is no limit, or none can be read.
///
/// `groups` is the text of /proc/self/cgroup, `mount` where the groups are
/// mounted: /sys/fs/cgroup.
std::optional<int> readCPUQuota(const std::string &groups,
                                const std::string &mount);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_CPU_CPUQUOTA_H
