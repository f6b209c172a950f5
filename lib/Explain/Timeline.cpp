//===- Timeline.cpp - One run of a protocol, step by step -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/Timeline.h"

#include <deque>
#include <functional>
#include <map>

using namespace tracea::explain;
using namespace tracea::analysis;
using tracea::algebra::Error;
using tracea::algebra::Expected;

namespace {
/// The full or the empty side of a slot.
struct Barrier {
  int pending = 0;
  int64_t expected = 0, copied = 0;
  /// Phases that have completed, and those that each role has waited for.
  int completed = 0;
  std::map<int, int> seen;
  std::map<int, int64_t> lastItem;
};

struct NamedState {
  int arrivals = 0;
  std::vector<int> waiting;
};

struct RoleRun {
  int pc = 0;
  bool hasEnded = false;
  bool isWaiting = false; // at a named barrier
  std::vector<int64_t> positions;
  std::vector<int64_t> cursors;          // of trip counts
  std::map<int, std::deque<int>> groups; // queue: columns of their end
};

class Simulator {
public:
  Simulator(const Protocol &protocol, const TimelineOptions &options)
      : protocol(protocol), options(options) {}

  Expected<Timeline> run();

private:
  enum class Outcome { Stepped, Silent, Blocked };
  bool turn(int role);
  Outcome execute(int role, const Instruction &op);
  Outcome wait(int role, const Instruction &op, Barrier &barrier, int slot);
  Outcome meet(int role, const Instruction &op);
  void arrive(const Instruction &op, Barrier &barrier, int count);
  void settle(int channel, int slot, bool full);
  Barrier &barrierOf(int channel, int slot, bool full) {
    return barriers[{channel, 2 * slot + full}];
  }
  int64_t itemOf(int role, const Instruction &op) const {
    return runs[role].positions[op.position] + op.offset;
  }
  int slotOf(int role, const Instruction &op) const {
    int64_t modulus = protocol.roles[role].positions[op.position].modulus;
    return static_cast<int>(((itemOf(role, op) % modulus) + modulus) % modulus);
  }
  void record(int role, const Instruction &op, int slot);
  void later(int column, std::function<void()> effect) {
    effects.emplace(column, std::move(effect));
  }
  void begin(TimelineSpan::Kind kind, int channel, int slot, int at);
  void end(int channel, int slot, int at);

  const Protocol &protocol;
  TimelineOptions options;
  Timeline timeline;
  std::vector<RoleRun> runs;
  std::map<std::pair<int, int>, Barrier> barriers;
  std::vector<NamedState> named;
  std::multimap<int, std::function<void()>> effects;
  std::map<std::pair<int, int>, TimelineSpan> open;
  int column = 0;
};
} // namespace

static std::string letterOf(size_t number) {
  std::string letter(1, static_cast<char>('A' + number % 26));
  return number < 26 ? letter : letter + std::to_string(number / 26);
}

/// The word that a column shows for a step; null for steps that only keep
/// books.
static const char *wordOf(Step step) {
  switch (step) {
  case Step::Acquire:
    return "acq";
  case Step::Copy:
    return "copy";
  case Step::Write:
    return "put";
  case Step::Commit:
    return "fill";
  case Step::Wait:
    return "wait";
  case Step::Read:
    return "read";
  case Step::Release:
    return "free";
  case Step::Issue:
    return "start";
  case Step::Use:
    return "use";
  case Step::WaitGroup:
    return "group";
  case Step::Sync:
    return "sync";
  case Step::Arrive:
    return "arrive";
  default:
    return nullptr;
  }
}

void Simulator::record(int role, const Instruction &op, int slot) {
  TimelineEvent event{role, column, op.step, op.channel, slot, wordOf(op.step)};
  if (slot >= 0)
    event.label +=
        " " + timeline.rings[op.channel].letter + std::to_string(slot);
  else
    event.channel = -1;
  timeline.events.push_back(std::move(event));
}

void Simulator::begin(TimelineSpan::Kind kind, int channel, int slot, int at) {
  end(channel, slot, at);
  open[{channel, slot}] = {kind, channel, slot, at, at};
}

void Simulator::end(int channel, int slot, int at) {
  auto found = open.find({channel, slot});
  if (found == open.end())
    return;
  found->second.end = at;
  if (found->second.end > found->second.begin)
    timeline.spans.push_back(found->second);
  open.erase(found);
}

/// Completes a phase whose arrivals and bytes are there.
void Simulator::settle(int channel, int slot, bool full) {
  Barrier &barrier = barrierOf(channel, slot, full);
  if (barrier.pending > 0 || barrier.expected != barrier.copied)
    return;
  const Channel &ring = protocol.channels[channel];
  barrier.pending = full ? ring.fullCount : ring.emptyCount;
  barrier.expected = barrier.copied = 0;
  ++barrier.completed;
  if (full)
    begin(TimelineSpan::Full, channel, slot, column);
  else
    end(channel, slot, column);
}

Simulator::Outcome Simulator::wait(int role, const Instruction &op,
                                   Barrier &barrier, int slot) {
  int64_t item = itemOf(role, op);
  auto last = barrier.lastItem.find(role);
  bool isAgain = last != barrier.lastItem.end() && last->second == item;
  int &seen = barrier.seen[role];
  if (!isAgain) {
    if (barrier.completed <= seen)
      return Outcome::Blocked;
    ++seen;
    barrier.lastItem[role] = item;
  }
  record(role, op, slot);
  if (op.step == Step::Acquire) {
    if (!isAgain && !open.count({op.channel, slot}))
      begin(TimelineSpan::Filling, op.channel, slot, column);
  } else {
    begin(TimelineSpan::Read, op.channel, slot, column);
  }
  return Outcome::Stepped;
}

void Simulator::arrive(const Instruction &op, Barrier &barrier, int count) {
  barrier.pending -= count;
  barrier.expected += op.bytes;
}

Simulator::Outcome Simulator::meet(int role, const Instruction &op) {
  NamedState &state = named[op.barrier];
  state.arrivals += protocol.roles[role].threads;
  record(role, op, -1);
  if (op.step == Step::Sync) {
    state.waiting.push_back(role);
    runs[role].isWaiting = true;
  }
  if (state.arrivals >= op.count) {
    std::vector<int> woken = std::move(state.waiting);
    state = NamedState();
    later(column + 1, [this, woken] {
      for (int other : woken)
        runs[other].isWaiting = false;
    });
  }
  return Outcome::Stepped;
}

/// Positions and trip counts are bookkeeping; all else takes a column.
Simulator::Outcome Simulator::execute(int role, const Instruction &op) {
  RoleRun &self = runs[role];
  int slot = isRingStep(op.step) ? slotOf(role, op) : -1;
  switch (op.step) {
  case Step::Start:
    self.positions[op.position] = 0;
    return Outcome::Silent;
  case Step::Move:
    self.positions[op.position] = self.positions[op.source];
    return Outcome::Silent;
  case Step::Advance:
    self.positions[op.position] = self.positions[op.source] + 1;
    return Outcome::Silent;
  case Step::Next: {
    int64_t &cursor = self.cursors[op.trip];
    if (cursor++ % (options.iterations + 1) == options.iterations)
      self.pc = op.target - 1;
    return Outcome::Silent;
  }
  case Step::Jump:
    self.pc = op.target - 1;
    return Outcome::Silent;
  case Step::Acquire:
  case Step::Wait:
    return wait(role, op, barrierOf(op.channel, slot, op.step == Step::Wait),
                slot);
  case Step::Copy:
    record(role, op, slot);
    later(column + options.latency, [this, op, slot] {
      barrierOf(op.channel, slot, true).copied += op.bytes;
      settle(op.channel, slot, true);
    });
    return Outcome::Stepped;
  case Step::Commit:
  case Step::Release: {
    record(role, op, slot);
    bool full = op.step == Step::Commit;
    later(column + 1, [this, op, slot, full] {
      arrive(op, barrierOf(op.channel, slot, full), op.count);
      settle(op.channel, slot, full);
    });
    return Outcome::Stepped;
  }
  case Step::Write:
  case Step::Read:
  case Step::Issue:
  case Step::Use:
    record(role, op, slot);
    return Outcome::Stepped;
  case Step::CloseGroup: {
    std::deque<int> &queue = self.groups[op.queue];
    int end = column + options.latency;
    queue.push_back(queue.empty() ? end : std::max(end, queue.back() + 1));
    return Outcome::Silent;
  }
  case Step::WaitGroup: {
    std::deque<int> &queue = self.groups[op.queue];
    while (!queue.empty() && queue.front() <= column)
      queue.pop_front();
    if (static_cast<int64_t>(queue.size()) > op.count)
      return Outcome::Blocked;
    record(role, op, -1);
    return Outcome::Stepped;
  }
  case Step::Sync:
  case Step::Arrive:
    return meet(role, op);
  case Step::Exit:
    self.hasEnded = true;
    return Outcome::Stepped;
  default:
    return Outcome::Silent;
  }
}

/// One column of one role. Whether it did something.
bool Simulator::turn(int role) {
  RoleRun &self = runs[role];
  if (self.hasEnded)
    return false;
  const std::vector<Instruction> &code = protocol.roles[role].code;
  // More bookkeeping in one column is a loop that does nothing.
  for (int fuel = 100000; fuel > 0; --fuel) {
    if (self.isWaiting || self.pc >= static_cast<int>(code.size()))
      break;
    Outcome outcome = execute(role, code[self.pc]);
    if (outcome == Outcome::Blocked)
      break;
    ++self.pc;
    if (outcome == Outcome::Stepped)
      return true;
  }
  timeline.blocked[role].push_back(column);
  return false;
}

Expected<Timeline> Simulator::run() {
  timeline.name = protocol.name;
  timeline.iterations = options.iterations;
  for (const Channel &channel : protocol.channels)
    timeline.rings.push_back(
        {letterOf(timeline.rings.size()), channel.name, channel.slots});
  for (const Role &role : protocol.roles) {
    timeline.roles.push_back(role.name);
    for (const Instruction &op : role.code)
      if (op.slot >= 0 || op.step == Step::Set || op.step == Step::Test ||
          op.step == Step::Poll)
        return Error{"slots of lowered code are arithmetic; a timeline is "
                     "drawn of kernels at the pipeline level"};
    RoleRun self;
    self.positions.assign(role.positions.size(), 0);
    self.cursors.assign(protocol.trips.size(), 0);
    runs.push_back(std::move(self));
  }
  timeline.blocked.resize(runs.size());
  named.resize(protocol.barriers.size());
  for (size_t c = 0; c < protocol.channels.size(); ++c)
    for (int slot = 0; slot < protocol.channels[c].slots; ++slot) {
      barrierOf(c, slot, true).pending = protocol.channels[c].fullCount;
      Barrier &empty = barrierOf(c, slot, false);
      empty.pending = protocol.channels[c].emptyCount;
      empty.completed = 1;
    }
  for (column = 0; column < options.maxColumns; ++column) {
    for (auto at = effects.begin();
         at != effects.end() && at->first <= column;) {
      at->second();
      at = effects.erase(at);
    }
    bool hasMoved = false, hasEnded = true;
    for (size_t role = 0; role < runs.size(); ++role) {
      hasMoved |= turn(role);
      hasEnded &= runs[role].hasEnded;
    }
    if (hasEnded) {
      timeline.isComplete = true;
      break;
    }
    bool isPending = !effects.empty();
    for (const RoleRun &self : runs)
      for (const auto &[queue, ends] : self.groups)
        isPending |= !ends.empty() && ends.back() > column;
    if (!hasMoved && !isPending)
      return Error{"the run stops in column " + std::to_string(column) +
                   ": nobody can go on"};
  }
  int last = 0;
  for (const TimelineEvent &event : timeline.events)
    last = std::max(last, event.column + 1);
  timeline.columns = last;
  while (!open.empty())
    end(open.begin()->first.first, open.begin()->first.second, last);
  for (std::vector<int> &columns : timeline.blocked)
    while (!columns.empty() && columns.back() >= last)
      columns.pop_back();
  return std::move(timeline);
}

Expected<Timeline> tracea::explain::simulate(const Protocol &protocol,
                                             const TimelineOptions &options) {
  return Simulator(protocol, options).run();
}
