//===- Checker.cpp - Decides a protocol for every trip count --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breadth first over the decisions of the trip counts; between two decisions
// there is one schedule. States of equal control are merged by the meet of
// their knowledge, which is sound because checks are monotone in it. A
// violation that such a merge may have invented is looked for again without
// merging, which also gives its run.

#include "tracea/Analysis/Protocol/Checker.h"

#include "Machine.h"

#include <chrono>
#include <deque>
#include <unordered_map>
#include <utility>

namespace tracea::analysis {

const char *propertyName(Property property) {
  switch (property) {
  case Property::Deadlock:
    return "deadlock";
  case Property::Overwrite:
    return "overwrite";
  case Property::UnfilledRead:
    return "unfilled read";
  case Property::ReadAfterRelease:
    return "read after release";
  case Property::ParityAliasing:
    return "parity aliasing";
  case Property::Bytes:
    return "bytes";
  case Property::ArrivalCount:
    return "arrival count";
  case Property::Drain:
    return "drain";
  case Property::Initialization:
    return "initialisation";
  case Property::Roles:
    return "roles";
  case Property::NamedBarrier:
    return "named barrier";
  case Property::SlotRange:
    return "slot range";
  case Property::PendingValue:
    return "pending value";
  }
  return "";
}

namespace {
using Knowledge = std::vector<uint64_t>;

/// How a state was reached.
struct Node {
  int64_t parent = -1;
  bool more = false;
};

struct Pending {
  MachineState state;
  std::string key;
  int64_t node = 0;
  int role = 0;
};

enum class Merge { Meet, Antichain };

class Search {
public:
  Search(const Protocol &protocol, const CheckOptions &options, Merge merge)
      : protocol(protocol), options(options), merge(merge),
        machine(protocol, options) {}

  CheckResult run();

private:
  bool add(MachineState &state, const std::string &key);
  /// Whether the state is still one that others have not replaced.
  bool isCurrent(const Pending &pending) const;
  CheckResult finish(Verdict verdict);
  CheckResult refute(int64_t node, int more);

  const Protocol &protocol;
  const CheckOptions &options;
  Merge merge;
  Machine machine;
  std::vector<Node> nodes;
  std::unordered_map<std::string, std::vector<Knowledge>> seen;
  /// What is stored, roughly.
  int64_t bytes = 0;
};
} // namespace

static bool isSubset(const Knowledge &lhs, const Knowledge &rhs) {
  for (size_t i = 0; i < lhs.size(); ++i)
    if (lhs[i] & ~rhs[i])
      return false;
  return true;
}

bool Search::add(MachineState &state, const std::string &key) {
  std::vector<Knowledge> &known = seen[key];
  if (merge == Merge::Meet) {
    if (known.empty()) {
      known.push_back(state.knowledge);
      return true;
    }
    Knowledge &meet = known.front();
    bool changed = false;
    for (size_t i = 0; i < meet.size(); ++i) {
      uint64_t both = meet[i] & state.knowledge[i];
      changed |= both != meet[i];
      meet[i] = both;
    }
    state.knowledge = meet;
    return changed;
  }
  // Less knowledge is harder: only the minimal ones are explored.
  for (const Knowledge &other : known)
    if (isSubset(other, state.knowledge))
      return false;
  std::vector<Knowledge> kept;
  for (Knowledge &other : known)
    if (!isSubset(state.knowledge, other))
      kept.push_back(std::move(other));
  kept.push_back(state.knowledge);
  known = std::move(kept);
  return true;
}

bool Search::isCurrent(const Pending &pending) const {
  for (const Knowledge &known : seen.find(pending.key)->second)
    if (known == pending.state.knowledge)
      return true;
  return false;
}

CheckResult Search::finish(Verdict verdict) {
  CheckResult result;
  result.verdict = verdict;
  result.statistics.states = static_cast<int64_t>(nodes.size());
  result.statistics.steps = machine.steps;
  result.statistics.lead = machine.lead;
  if (verdict == Verdict::NotDecided)
    result.reason = machine.reason;
  if (verdict == Verdict::Refuted)
    result.finding = *machine.finding;
  return result;
}

/// Runs to the violation again and records it.
CheckResult Search::refute(int64_t node, int last) {
  CheckResult result = finish(Verdict::Refuted);
  std::vector<bool> decisions;
  if (last >= 0)
    decisions.push_back(last != 0);
  for (; node > 0; node = nodes[node].parent)
    decisions.push_back(nodes[node].more);
  Machine replay(protocol, options);
  replay.tracing = true;
  MachineState state = replay.initial();
  int role = -1;
  Machine::Stop stop = replay.run(state, role);
  while (stop == Machine::Stop::Decision && !decisions.empty()) {
    bool more = decisions.back();
    decisions.pop_back();
    stop = replay.decide(state, role, more);
  }
  if (stop == Machine::Stop::Failed)
    result.finding = *replay.finding;
  return result;
}

CheckResult Search::run() {
  if (!machine.reason.empty())
    return finish(Verdict::NotDecided);
  if (machine.staticFinding) {
    machine.finding = machine.staticFinding;
    return finish(Verdict::Refuted);
  }
  std::deque<Pending> queue;
  auto push = [&](MachineState state, int64_t parent, bool more, int role) {
    machine.forgetDead(state);
    std::string key = state.key();
    if (!add(state, key))
      return;
    bytes += static_cast<int64_t>(2 * key.size() + 2 * state.knowledge.size() *
                                                       sizeof(uint64_t));
    nodes.push_back({parent, more});
    queue.push_back({std::move(state), std::move(key),
                     static_cast<int64_t>(nodes.size()) - 1, role});
  };
  MachineState first = machine.initial();
  int role = -1;
  switch (machine.run(first, role)) {
  case Machine::Stop::NotDecided:
    return finish(Verdict::NotDecided);
  case Machine::Stop::Failed:
    nodes.emplace_back();
    return refute(0, -1);
  case Machine::Stop::Finished:
    nodes.emplace_back();
    return finish(Verdict::Proved);
  case Machine::Stop::Decision:
    push(std::move(first), -1, false, role);
    break;
  }
  while (!queue.empty()) {
    Pending pending = std::move(queue.front());
    queue.pop_front();
    if (!isCurrent(pending))
      continue;
    for (bool more : {false, true}) {
      MachineState state = pending.state;
      int decider = pending.role;
      switch (machine.decide(state, decider, more)) {
      case Machine::Stop::NotDecided:
        return finish(Verdict::NotDecided);
      case Machine::Stop::Failed:
        return refute(pending.node, more);
      case Machine::Stop::Finished:
        break;
      case Machine::Stop::Decision:
        push(std::move(state), pending.node, more, decider);
        break;
      }
      if (static_cast<int64_t>(nodes.size()) > options.maxStates) {
        machine.reason =
            "more than " + std::to_string(options.maxStates) + " states";
        return finish(Verdict::NotDecided);
      }
      if (bytes > options.maxBytes) {
        machine.reason = "the states take more than " +
                         std::to_string(options.maxBytes) + " bytes";
        return finish(Verdict::NotDecided);
      }
    }
  }
  return finish(Verdict::Proved);
}

CheckResult checkProtocol(const Protocol &protocol,
                          const CheckOptions &options) {
  auto begin = std::chrono::steady_clock::now();
  CheckResult result = Search(protocol, options, Merge::Meet).run();
  if (result.verdict == Verdict::Refuted && result.statistics.states > 0)
    result = Search(protocol, options, Merge::Antichain).run();
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - begin;
  result.statistics.milliseconds = time.count();
  return result;
}

std::string printFinding(const Protocol &protocol, const Finding &finding) {
  auto place = [&](Site site) {
    if (site < 0 || site >= static_cast<int>(protocol.sites.size()))
      return std::string();
    return " (" + protocol.sites[site] + ")";
  };
  std::string text = std::string(propertyName(finding.property)) + ": " +
                     finding.message + place(finding.site) + "\n";
  for (const Note &note : finding.notes)
    text += "  note: " + note.message + place(note.site) + "\n";
  if (!finding.trips.empty())
    text += "  trip counts: " + finding.trips + "\n";
  for (const Event &event : finding.trace)
    text += "  " + protocol.roles[event.role].name + ": " + event.text +
            place(event.site) + "\n";
  return text;
}

} // namespace tracea::analysis
