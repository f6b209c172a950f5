//===- Resources.h - What a kernel needs and what a target has ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accounting of memory, threads, registers and barriers: plain figures of
// a kernel against plain figures of a target. Plain C++, no IR. A limit that
// the target's table does not state is never passed and never exceeded; what
// hangs on it is not decided. See docs/Proofs/Resources.md.

#ifndef TRACEA_ANALYSIS_RESOURCES_RESOURCES_H
#define TRACEA_ANALYSIS_RESOURCES_RESOURCES_H

#include "tracea/TargetInfo/TargetInfo.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracea::analysis {

/// Registers that a thread needs besides its tiles: addresses, counters,
/// descriptors, barriers. ptxas asks for as many beyond the accumulators of
/// the largest asynchronous multiply when it compiles for a launch cap.
constexpr int64_t kRegisterMargin = 26;

/// What a target has of each resource; 0 where it is not known.
struct ResourceLimits {
  std::string target;
  bool isCPU = false;
  int64_t sharedPerWorkgroup = 0;
  int64_t sharedPerMultiprocessor = 0;
  int64_t sharedReserved = 0; // taken from the multiprocessor a workgroup
  int64_t threadsPerSubgroup = 0;
  int64_t threadsPerWorkgroup = 0;
  int64_t registersPerMultiprocessor = 0;
  int64_t registersPerThread = 0;
  int64_t namedBarriers = 0;
  /// Whether warpgroups of four warps can move registers among each other.
  bool movesRegisters = false;
  /// Whether a multiply may be issued by four warps together.
  bool hasWarpgroups = false;
  int64_t vectorRegisters = 0; // CPU
  int64_t vectorBits = 0;      // CPU
  int64_t tileRegisters = 0;   // CPU: those of a unit that multiplies tiles
};

ResourceLimits getResourceLimits(const target::TargetDescription &target);

/// Staged memory of one owner: a buffer of a channel's slots, a scratch tile,
/// the trip of a tile through memory.
struct MemoryUse {
  std::string what;
  int64_t bytes = 0; // of one slot
  int64_t slots = 1;
  int64_t copies = 1; // one for each team that has its own
  int64_t alignment = 16;
  /// Barriers in memory, of eight bytes: two for each slot.
  int64_t barriers = 0;
  int site = -1; // where it is declared; not part of the model
};

/// What the threads of some warps hold.
struct RoleUse {
  std::string name;
  int64_t firstWarp = 0, endWarp = 1;
  int64_t copies = 1;
  /// Registers that the role asks for; 0: its share of what is launched with.
  int64_t budget = 0;
  /// 32-bit registers of live tiles at the worst point; vectors on a CPU.
  int64_t live = 0;
  /// Accumulators of the largest multiply of a whole warpgroup.
  int64_t accumulators = 0;
  bool usesWarpgroups = false;
  int site = -1;      // the role
  int worstSite = -1; // where most tiles are live
  /// Tiles of a unit of a CPU, operands included, at the worst point, which is
  /// `tileSite`.
  int64_t tiles = 0;
  int tileSite = -1;
};

struct ResourceUse {
  std::vector<MemoryUse> memory;
  std::vector<RoleUse> roles;
  int64_t namedBarriers = 0;
  /// Workgroups that are to share a multiprocessor.
  int64_t residents = 1;
  /// Workspace of a thread that the kernel declares; -1: it does not.
  int64_t declaredWorkspace = -1;
};

/// Something that does not fit.
struct Excess {
  std::string message;
  int site = -1;
  /// The largest contributors, most first, with their places.
  std::vector<std::pair<int, std::string>> contributors;
};

struct ResourceReport {
  std::vector<Excess> excesses;
  /// What could not be decided, and why.
  std::vector<std::string> undecided;
  /// What fits, but is known to be slow.
  std::vector<std::pair<int, std::string>> warnings;
  int64_t sharedBytes = 0;
  int64_t threads = 0;
  /// Registers that each thread is launched with; 0: not known.
  int64_t launchRegisters = 0;
  /// The claim of the certificate, one line.
  std::string claim;

  bool fits() const { return excesses.empty() && undecided.empty(); }
};

ResourceReport checkResources(const ResourceUse &use,
                              const ResourceLimits &limits);

/// Bytes of all staged memory, laid out by falling alignment, barriers last.
/// INT64_MAX when the sum does not fit.
int64_t getSharedBytes(const ResourceUse &use);

/// Registers that the threads of a workgroup are launched with, each: the
/// register file in eights. 0 when something is not known.
int64_t getLaunchRegisters(int64_t threads, const ResourceLimits &limits,
                           int64_t workgroups = 1);

/// A line from which `checkResources` can be repeated: the figures of the use
/// and the name of the target, whose limits are looked up again. On a CPU,
/// where `name` may be this machine, its registers are written too.
std::string writeModel(const ResourceUse &use, const ResourceLimits &limits);

struct ResourceModel {
  ResourceUse use;
  ResourceLimits limits;
};
/// Nothing, and the reason in `error`, for text that no `writeModel` wrote.
std::optional<ResourceModel> readResourceModel(std::string_view text,
                                               std::string &error);

} // namespace tracea::analysis

#endif // TRACEA_ANALYSIS_RESOURCES_RESOURCES_H
