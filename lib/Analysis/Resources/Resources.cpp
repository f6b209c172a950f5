//===- Resources.cpp - What a kernel needs and what a target has ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Resources/Resources.h"

#include <algorithm>
#include <cstdio>
#include <limits>

using namespace tracea::analysis;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Figures come from types and from text: sums stay at the end of 64 bits.
int64_t plus(int64_t x, int64_t y) {
  int64_t sum;
  return __builtin_add_overflow(x, y, &sum) ? kMax : sum;
}
int64_t times(int64_t x, int64_t y) {
  int64_t product;
  return __builtin_mul_overflow(x, y, &product) ? kMax : product;
}
int64_t alignTo(int64_t x, int64_t alignment) {
  if (x > kMax - alignment)
    return kMax;
  return (x + alignment - 1) / alignment * alignment;
}

std::string text(int64_t value) { return std::to_string(value); }

/// KiB with one digit, where it is not zero.
std::string kib(int64_t bytes) {
  char buffer[32];
  double value = double(bytes) / 1024;
  bool whole = bytes % 1024 == 0;
  std::snprintf(buffer, sizeof(buffer), whole ? "%.0f" : "%.1f", value);
  return buffer;
}

std::string plural(int64_t count, const char *what) {
  return text(count) + " " + what + (count == 1 ? "" : "s");
}

int64_t sizeOf(const MemoryUse &use) {
  int64_t slot = alignTo(use.bytes, use.alignment);
  return plus(times(times(slot, use.slots), use.copies),
              times(times(use.barriers, 8), use.copies));
}

int64_t warpsOf(const RoleUse &role) { return role.endWarp - role.firstWarp; }

/// "40/232/232": a figure for each team of each role.
template <typename Get>
std::string teams(const std::vector<RoleUse> &roles, Get get) {
  std::string result;
  for (const RoleUse &role : roles)
    for (int64_t team = 0; team < std::min<int64_t>(role.copies, 16); ++team)
      result += (result.empty() ? "" : "/") + text(get(role));
  return result;
}

/// Runs all checks of one kernel, in their order, and collects what they find.
class Checker {
public:
  Checker(const ResourceUse &use, const ResourceLimits &limits)
      : use(use), limits(limits) {}

  ResourceReport run() {
    if (limits.isCPU) {
      checkWorkspace();
      checkVectors();
      checkTiles();
    } else {
      checkThreads();
      checkShared();
      checkRegisters();
      checkBarriers();
    }
    report.claim = claim;
    return std::move(report);
  }

private:
  void say(const std::string &part) {
    claim += (claim.empty() ? "" : ", ") + part;
  }
  void unknown(const char *what) {
    report.undecided.push_back(std::string("the ") + what + " of '" +
                               limits.target + "' " + "is not known");
  }
  void checkWorkspace();
  void checkVectors();
  void checkTiles();
  void checkThreads();
  void checkShared();
  void checkRegisters();
  void checkRole(const RoleUse &role, int64_t given);
  int64_t drawRegisters(int64_t given,
                        std::vector<std::pair<int, std::string>> &shares);
  void checkBarriers();
  std::vector<std::pair<int, std::string>> largestMemory() const;

  const ResourceUse &use;
  const ResourceLimits &limits;
  ResourceReport report;
  std::string claim;
};

} // namespace

std::vector<std::pair<int, std::string>> Checker::largestMemory() const {
  std::vector<const MemoryUse *> sorted;
  for (const MemoryUse &item : use.memory)
    sorted.push_back(&item);
  std::sort(sorted.begin(), sorted.end(),
            [](const MemoryUse *x, const MemoryUse *y) {
              if (sizeOf(*x) != sizeOf(*y))
                return sizeOf(*x) > sizeOf(*y);
              return x < y;
            });
  std::vector<std::pair<int, std::string>> result;
  for (const MemoryUse *item : sorted) {
    if (result.size() == 3)
      break;
    std::string line = item->what + " takes " + text(sizeOf(*item)) + " bytes";
    if (item->slots > 1 || item->copies > 1) {
      line += ": ";
      if (item->copies > 1)
        line += plural(item->copies, "team") + " of ";
      line += plural(item->slots, "slot") + " of " + text(item->bytes);
    }
    result.push_back({item->site, line});
  }
  return result;
}

void Checker::checkWorkspace() {
  // The layout of the vector lowering: cache lines, and room for one vector
  // past each buffer's end.
  constexpr int64_t kLine = 64;
  int64_t total = 0;
  for (const MemoryUse &item : use.memory)
    total =
        plus(total, plus(times(alignTo(item.bytes, kLine), item.slots), kLine));
  report.sharedBytes = total;
  if (total == kMax)
    report.excesses.push_back(
        {"needs a workspace beyond 2^63 bytes", -1, largestMemory()});
  else if (use.declaredWorkspace >= 0 && total > use.declaredWorkspace)
    report.excesses.push_back({"needs " + text(total) +
                                   " bytes of workspace, but declares " +
                                   text(use.declaredWorkspace),
                               -1, largestMemory()});
  int64_t bytes = std::max(total, use.declaredWorkspace);
  say(bytes > 0 ? "workspace " + kib(bytes) + " KiB" : "no workspace");
}

void Checker::checkVectors() {
  int64_t most = 0;
  for (const RoleUse &role : use.roles) {
    most = std::max(most, role.live);
    if (limits.vectorRegisters && role.live > limits.vectorRegisters)
      report.warnings.push_back(
          {role.worstSite, "keeps " + text(role.live) + " vectors alive, '" +
                               limits.target + "' has " +
                               text(limits.vectorRegisters) +
                               ": the rest is spilled"});
  }
  // Too many are slow, not wrong: nothing is left open where nobody knows.
  say(limits.vectorRegisters
          ? text(most) + " of " + text(limits.vectorRegisters) +
                " vector registers"
          : plural(most, "vector") + " alive");
}

void Checker::checkTiles() {
  int64_t most = 0;
  for (const RoleUse &role : use.roles) {
    most = std::max(most, role.tiles);
    if (role.tiles > limits.tileRegisters)
      report.excesses.push_back({"keeps " + plural(role.tiles, "tile") +
                                     " of a unit alive, '" + limits.target +
                                     "' has " + text(limits.tileRegisters),
                                 role.tileSite,
                                 {}});
  }
  if (most > 0)
    say(text(most) + " of " + text(limits.tileRegisters) + " tile registers");
}

void Checker::checkThreads() {
  int64_t warps = 0;
  for (const RoleUse &role : use.roles)
    warps = std::max(warps, role.endWarp);
  if (limits.threadsPerSubgroup == 0)
    return unknown("size of a subgroup");
  report.threads = times(warps, limits.threadsPerSubgroup);
  if (limits.threadsPerWorkgroup == 0)
    unknown("most threads of a workgroup");
  else if (report.threads > limits.threadsPerWorkgroup)
    report.excesses.push_back(
        {"needs " + text(report.threads) + " threads, '" + limits.target +
             "' has " + text(limits.threadsPerWorkgroup) + " a workgroup",
         -1,
         {}});
  for (const RoleUse &role : use.roles) {
    if (!role.usesWarpgroups)
      continue;
    int64_t warpsOfTeam = warpsOf(role) / std::max<int64_t>(role.copies, 1);
    if (!limits.hasWarpgroups)
      report.excesses.push_back({"role '" + role.name +
                                     "' needs warpgroups, '" + limits.target +
                                     "' has none",
                                 role.site,
                                 {}});
    else if (role.firstWarp % 4 || warpsOfTeam % 4)
      report.excesses.push_back(
          {"role '" + role.name + "' has teams of " +
               plural(warpsOfTeam, "warp") + " from warp " +
               text(role.firstWarp) +
               ", but its multiplies are issued by warpgroups: four warps "
               "that begin at a multiple of four",
           role.site,
           {}});
  }
  say(text(report.threads) + " threads");
}

void Checker::checkShared() {
  report.sharedBytes = getSharedBytes(use);
  if (limits.sharedPerWorkgroup == 0)
    return unknown("shared memory of a workgroup");
  if (report.sharedBytes > limits.sharedPerWorkgroup)
    report.excesses.push_back(
        {"needs " + text(report.sharedBytes) + " bytes of shared memory, '" +
             limits.target + "' has " + text(limits.sharedPerWorkgroup) +
             " a workgroup",
         -1, largestMemory()});
  std::string part = "shared " + kib(report.sharedBytes) + " of " +
                     kib(limits.sharedPerWorkgroup) + " KiB";
  if (use.residents > 1) {
    if (limits.sharedPerMultiprocessor == 0)
      return unknown("shared memory of a multiprocessor");
    int64_t share =
        limits.sharedPerMultiprocessor / use.residents - limits.sharedReserved;
    if (report.sharedBytes > share)
      report.excesses.push_back({"needs " + text(report.sharedBytes) +
                                     " bytes of shared memory; for " +
                                     text(use.residents) +
                                     " workgroups together '" + limits.target +
                                     "' has " + text(share) + " each",
                                 -1, largestMemory()});
    part = "shared " + kib(report.sharedBytes) + " of " + kib(share) + " KiB";
  }
  claim = part + (claim.empty() ? "" : ", " + claim);
}

void Checker::checkRole(const RoleUse &role, int64_t given) {
  int64_t cap = given;
  std::string source = "a thread is launched with " + text(given);
  if (role.budget) {
    cap = role.budget;
    source = "its budget is " + text(role.budget);
  }
  if (limits.registersPerThread && cap > limits.registersPerThread) {
    cap = limits.registersPerThread;
    source = "a thread names at most " + text(cap);
  }
  std::string who = "role '" + role.name + "'";
  if (role.live > cap)
    report.excesses.push_back({who + " keeps " + text(role.live) +
                                   " registers of tiles alive, " + source,
                               role.site,
                               {{role.worstSite, "most are live here"}}});
  else if (role.live + kRegisterMargin > cap)
    report.warnings.push_back(
        {role.worstSite, who + " keeps " + text(role.live) +
                             " registers of tiles alive, " + source +
                             ": fewer than " + text(kRegisterMargin) +
                             " are left for addresses and counters"});
  if (role.usesWarpgroups && role.accumulators + kRegisterMargin > given)
    report.excesses.push_back(
        {who + " multiplies into " + text(role.accumulators) +
             " accumulators a thread; with " + text(kRegisterMargin) +
             " other registers that needs a launch cap of " +
             text(role.accumulators + kRegisterMargin) +
             ", the register file gives " + text(given),
         role.site,
         {}});
}

/// What the budgets draw from the pool. A warpgroup moves its registers as one:
/// roles that share it have one budget, which its idle warps have as well.
int64_t
Checker::drawRegisters(int64_t given,
                       std::vector<std::pair<int, std::string>> &shares) {
  int64_t drawn = 0;
  int64_t warps = report.threads / limits.threadsPerSubgroup;
  for (int64_t begin = 0; begin < warps; begin += 4) {
    int64_t threads =
        std::min<int64_t>(4, warps - begin) * limits.threadsPerSubgroup;
    const RoleUse *owner = nullptr;
    for (const RoleUse &role : use.roles) {
      if (role.endWarp <= begin || begin + 4 <= role.firstWarp)
        continue;
      if (owner && owner->budget != role.budget)
        report.excesses.push_back(
            {"role '" + role.name + "' has a budget of " + text(role.budget) +
                 ", role '" + owner->name + "' of the same warpgroup one of " +
                 text(owner->budget) +
                 ": four warps move their registers as one",
             role.site,
             {{owner->site, "the other role is here"}}});
      if (!owner)
        owner = &role;
    }
    int64_t each = owner && owner->budget ? owner->budget : given;
    int64_t share = times(threads, each);
    drawn = plus(drawn, share);
    shares.push_back({owner ? owner->site : -1,
                      (owner ? "role '" + owner->name + "'" : "no role") +
                          " draws " + text(share) + " for warps " +
                          text(begin) + " to " + text(begin + 3) + ": " +
                          text(threads) + " threads of " + text(each)});
  }
  return drawn;
}

void Checker::checkRegisters() {
  if (limits.registersPerMultiprocessor == 0)
    return unknown("register file");
  if (limits.registersPerThread == 0)
    return unknown("most registers of a thread");
  if (report.threads == 0)
    return;
  int64_t given = getLaunchRegisters(report.threads, limits, use.residents);
  report.launchRegisters = given;
  bool hasBudgets = std::any_of(use.roles.begin(), use.roles.end(),
                                [](const RoleUse &r) { return r.budget > 0; });
  for (const RoleUse &role : use.roles)
    checkRole(role, given);
  if (!hasBudgets) {
    say("registers " +
        teams(use.roles, [](const RoleUse &r) { return r.live; }) +
        " live of " + text(given) + " a thread");
    return;
  }
  if (!limits.movesRegisters) {
    report.excesses.push_back({"has roles with register budgets, but '" +
                                   limits.target +
                                   "' cannot move registers between warps",
                               -1,
                               {}});
    return;
  }
  for (const RoleUse &role : use.roles)
    if (role.budget &&
        (role.budget % 8 || role.budget < 24 || role.budget > 256))
      report.excesses.push_back(
          {"role '" + role.name +
               "' has a budget that is no multiple of 8 from 24 to 256: " +
               text(role.budget),
           role.site,
           {}});
  // The pool that the launch leaves: overdrawing it blocks for ever.
  int64_t pool = given * report.threads;
  std::vector<std::pair<int, std::string>> shares;
  int64_t drawn = drawRegisters(given, shares);
  if (drawn > pool)
    report.excesses.push_back({"its roles draw " + text(drawn) +
                                   " registers, the launch leaves " +
                                   text(pool) + ": " + text(report.threads) +
                                   " threads of " + text(given),
                               -1, shares});
  say("registers " +
      teams(use.roles,
            [&](const RoleUse &r) { return r.budget ? r.budget : given; }) +
      " of " + text(limits.registersPerMultiprocessor) + ", " +
      teams(use.roles, [](const RoleUse &r) { return r.live; }) + " live");
}

void Checker::checkBarriers() {
  if (use.namedBarriers == 0)
    return;
  if (limits.namedBarriers == 0)
    return unknown("number of named barriers");
  if (use.namedBarriers > limits.namedBarriers)
    report.excesses.push_back(
        {"needs " + plural(use.namedBarriers, "named barrier") + ", '" +
             limits.target + "' has " + text(limits.namedBarriers),
         -1,
         {}});
  say(plural(use.namedBarriers, "named barrier"));
}

ResourceLimits
tracea::analysis::getResourceLimits(const target::TargetDescription &target) {
  ResourceLimits limits;
  limits.target = target.name;
  limits.isCPU = !target.isGPU();
  limits.sharedPerWorkgroup = target.shared.perWorkgroup;
  limits.sharedPerMultiprocessor = target.shared.perMultiprocessor;
  limits.sharedReserved = target.shared.reservedPerWorkgroup;
  limits.threadsPerSubgroup = target.occupancy.subgroupSize;
  limits.threadsPerWorkgroup = target.occupancy.maxThreadsPerWorkgroup;
  limits.registersPerMultiprocessor =
      target.occupancy.registersPerMultiprocessor;
  limits.registersPerThread = target.occupancy.maxRegistersPerThread;
  limits.namedBarriers = target.occupancy.barriersPerWorkgroup;
  limits.movesRegisters = target.async.setMaxRegisters;
  limits.hasWarpgroups = target.findUnit(target::UnitKind::WGMMA) != nullptr;
  limits.vectorRegisters = target.vector.registers;
  limits.vectorBits = target.vector.bits;
  return limits;
}

int64_t tracea::analysis::getSharedBytes(const ResourceUse &use) {
  std::vector<const MemoryUse *> sorted;
  for (const MemoryUse &item : use.memory)
    sorted.push_back(&item);
  std::sort(sorted.begin(), sorted.end(),
            [](const MemoryUse *x, const MemoryUse *y) {
              if (x->alignment != y->alignment)
                return x->alignment > y->alignment;
              return x < y;
            });
  int64_t total = 0, barriers = 0;
  for (const MemoryUse *item : sorted) {
    total = alignTo(total, item->alignment);
    total = plus(
        total, times(times(alignTo(item->bytes, item->alignment), item->slots),
                     item->copies));
    barriers = plus(barriers, times(item->barriers, item->copies));
  }
  return barriers ? plus(alignTo(total, 8), times(barriers, 8)) : total;
}

int64_t tracea::analysis::getLaunchRegisters(int64_t threads,
                                             const ResourceLimits &limits,
                                             int64_t workgroups) {
  int64_t resident = times(threads, workgroups);
  if (resident <= 0 || limits.registersPerMultiprocessor == 0)
    return 0;
  int64_t share = limits.registersPerMultiprocessor / resident / 8 * 8;
  return limits.registersPerThread ? std::min(share, limits.registersPerThread)
                                   : share;
}

ResourceReport tracea::analysis::checkResources(const ResourceUse &use,
                                                const ResourceLimits &limits) {
  return Checker(use, limits).run();
}
