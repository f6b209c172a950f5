//===- StaticChecks.cpp - What the text of the programs decides ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decided here before any run: faults that the programs have whatever happens,
// such as roles that use a ring that is not theirs, arrivals that do not match
// the count of a barrier, and more barriers or registers than there are.

#include "Machine.h"

#include <algorithm>
#include <utility>

namespace tracea::analysis {

/// Counts, roles and budgets that the text of the programs decides.
void Machine::checkStatically() {
  auto report = [&](Property property, std::string message, int role,
                    Site site) {
    if (staticFinding)
      return;
    staticFinding.emplace();
    staticFinding->property = property;
    staticFinding->message = std::move(message);
    staticFinding->role = role;
    staticFinding->site = site;
  };
  for (int role = 0; role < numRoles; ++role) {
    for (const Instruction &op : protocol.roles[role].code) {
      if (!isRingStep(op.step))
        continue;
      const Channel &ring = protocol.channels[op.channel];
      uint32_t allowed = isFillStep(op.step) ? ring.producers : ring.consumers;
      if (op.step == Step::Read) {
        allowed = ~0u;
        for (int part = 0; part < ring.parts; ++part)
          if (op.parts >> part & 1)
            allowed &= ring.readers[part];
      }
      if (!(allowed >> role & 1))
        report(Property::Roles,
               quoted(role) + " may not " + stepName(op.step) + " '" +
                   ring.name + "': it is no declared " +
                   (isFillStep(op.step)     ? "producer"
                    : op.step == Step::Read ? "reader of this part"
                                            : "consumer"),
               role, op.site);
    }
  }
  for (size_t c = 0; c < protocol.channels.size(); ++c) {
    const Channel &ring = protocol.channels[c];
    for (bool full : {true, false}) {
      int sum = 0, roles = 0;
      Site site = kNoSite;
      for (int role = 0; role < numRoles; ++role) {
        if (!((full ? ring.producers : ring.consumers) >> role & 1))
          continue;
        int arrivals = 0;
        for (const Instruction &op : protocol.roles[role].code) {
          if (op.channel != static_cast<int>(c) ||
              op.step != (full ? Step::Commit : Step::Release))
            continue;
          if (arrivals && arrivals != op.count)
            report(Property::ArrivalCount,
                   quoted(role) + " arrives " + std::to_string(arrivals) +
                       " times at one and " + std::to_string(op.count) +
                       " times at another " + stepName(op.step) + " of '" +
                       ring.name + "'",
                   role, op.site);
          arrivals = op.count;
          if (site == kNoSite)
            site = op.site;
        }
        // Of those who take turns one arrives in a phase.
        int made = arrivals ? arrivals : 1;
        if (!full && ring.inTurns && (!roles || made == sum))
          sum = made;
        else
          sum += made;
        ++roles;
      }
      int count = full ? ring.fullCount : ring.emptyCount;
      if (roles && sum != count)
        report(Property::ArrivalCount,
               std::string("the ") + (full ? "full" : "empty") +
                   " barriers of '" + ring.name + "' count " +
                   std::to_string(count) + " arrivals, but their roles make " +
                   std::to_string(sum),
               -1, site);
    }
  }
  for (size_t b = 0; b < protocol.barriers.size(); ++b) {
    int threads = 0, count = 0;
    for (const Role &role : protocol.roles) {
      bool used = false;
      for (const Instruction &op : role.code) {
        if ((op.step != Step::Sync && op.step != Step::Arrive) ||
            op.barrier != static_cast<int>(b))
          continue;
        used = true;
        count = count ? std::min(count, op.count) : op.count;
      }
      threads += used ? role.threads : 0;
    }
    if (threads > count && reason.empty())
      reason = "more roles use the named barrier '" +
               protocol.barriers[b].name +
               "' than it counts, so that the order of arrivals matters";
  }
  if (static_cast<int>(protocol.barriers.size()) > protocol.maxNamedBarriers)
    report(Property::NamedBarrier,
           std::to_string(protocol.barriers.size()) +
               " named barriers are used, the target has " +
               std::to_string(protocol.maxNamedBarriers),
           -1, kNoSite);
  if (protocol.registerFile) {
    int64_t sum = 0;
    for (const Role &role : protocol.roles)
      sum += int64_t(role.threads) * role.registers;
    if (sum > protocol.registerFile)
      report(Property::Roles,
             "the roles' budgets need " + std::to_string(sum) +
                 " registers, a workgroup has " +
                 std::to_string(protocol.registerFile),
             -1, kNoSite);
  }
}

} // namespace tracea::analysis
