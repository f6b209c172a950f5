//===- Explorer.cpp - Every interleaving of a small protocol --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Explorer.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace tracea::analysis {
namespace {

/// Everything is a small integer in one vector; `Layout` says where.
using World = std::vector<int16_t>;

/// The worlds met so far, as fingerprints of 127 bits (hash compaction, as
/// model checkers do it): that two of a million worlds meet in one has a
/// probability of 3e-27, and a world takes 16 bytes and no allocation of its
/// own.
class SeenWorlds {
public:
  /// Whether `world` is new.
  bool insert(const World &world) {
    if (2 * (count + 1) > static_cast<int64_t>(table.size()))
      grow();
    if (!place(fingerprint(world)))
      return false;
    ++count;
    return true;
  }
  int64_t size() const { return count; }

private:
  struct Fingerprint {
    uint64_t low = 0, high = 0;
    bool operator==(const Fingerprint &other) const {
      return low == other.low && high == other.high;
    }
  };

  /// The finalizer of MurmurHash3.
  static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
  }
  static Fingerprint fingerprint(const World &world) {
    Fingerprint result{1, 2};
    for (size_t i = 0; i < world.size(); i += 4) {
      uint64_t word = 0;
      std::memcpy(&word, &world[i],
                  std::min<size_t>(4, world.size() - i) * sizeof(int16_t));
      result.low = mix(result.low ^ word);
      result.high = mix(result.high + word * 0x9e3779b97f4a7c15ull);
    }
    result.low |= 1; // zero is an empty place
    return result;
  }
  bool place(const Fingerprint &print) {
    size_t mask = table.size() - 1;
    size_t at = print.high & mask;
    for (; table[at].low; at = (at + 1) & mask)
      if (table[at] == print)
        return false;
    table[at] = print;
    return true;
  }
  void grow() {
    std::vector<Fingerprint> old(std::max<size_t>(1024, 2 * table.size()));
    old.swap(table);
    for (const Fingerprint &print : old)
      if (print.low)
        place(print);
  }

  std::vector<Fingerprint> table;
  int64_t count = 0;
};

class Explorer {
public:
  Explorer(const Protocol &protocol, const std::vector<int> &iterations)
      : protocol(protocol), iterations(iterations) {
    layOut();
  }

  Exploration run(int64_t maxStates);

private:
  int allocate(int count) {
    int begin = size;
    size += count;
    return begin;
  }
  void layOut();
  World initial() const;

  // Places. A role: pc, exited; for each queue the number of closed groups and
  // a bit set for the open and each closed group.
  int role(int r) const { return roleBase[r]; }
  int groupCount(int r, int queue) const {
    return roleBase[r] + 2 + queue * (1 + (kMaxGroups + 1) * groupWords);
  }
  int groupsOf(int r, int queue) const { return groupCount(r, queue) + 1; }
  // A position: item, slot, count, parity.
  int position(int r, int p) const { return positionBase[r] + 4 * p; }
  // A barrier: completed phases, missing arrivals, bytes missing, arrived
  // roles; then phases observed and last item waited for by each role.
  int barrier(int channel, int slot, bool full) const {
    return barrierBase[channel] + (2 * slot + !full) * barrierSize;
  }
  // A buffer: item, copies in flight, visible, roles that have not read it,
  // bytes in flight, writer that has not fenced, writer in flight.
  int buffer(int channel, int slot, int part) const {
    return bufferBase[channel] +
           (slot * protocol.channels[channel].parts + part) * bufferSize;
  }
  int bufferIndex(int place) const {
    return (place - bufferBase[0]) / bufferSize;
  }
  // A slot: roles that have released it and not waited again.
  int released(int channel, int slot) const {
    return releasedBase[channel] + slot;
  }
  /// The same for who fills: committed and not acquired again.
  int committed(int channel, int slot) const {
    return committedBase[channel] + slot;
  }
  // A named barrier: arrivals, count, waiting roles, arrived roles.
  int named(int index) const { return namedBase + 4 * index; }
  // A trip count: decisions known, iterations used; then cursors of roles.
  int trip(int index) const { return tripBase + (2 + numRoles) * index; }

  const Instruction &next(const World &world, int r) const {
    return protocol.roles[r].code[world[role(r)]];
  }
  int64_t evaluate(const World &world, int r, int index) const {
    const Expression &e = protocol.roles[r].expressions[index];
    uint64_t operands[3] = {}, result = 0;
    if (e.op == Operator::Constant)
      return e.value;
    if (e.op == Operator::Variable)
      return world[variableBase[r] + static_cast<int>(e.value)];
    for (int i = 0; i < numOperands(e.op); ++i)
      operands[i] = static_cast<uint64_t>(evaluate(world, r, e.operands[i]));
    applyOperator(e.op, e.bits, operands, result);
    return static_cast<int64_t>(result);
  }
  /// Consumers that take items in turns observe, read and release as one.
  int partyOf(int channel, int r) const {
    const Channel &ring = protocol.channels[channel];
    if (!ring.inTurns || !(ring.consumers >> r & 1))
      return r;
    int first = 0;
    while (!(ring.consumers >> first & 1))
      ++first;
    return first;
  }
  /// Of a slot: who waited for its item, plus one.
  int owner(int channel, int slot) const { return ownerBase[channel] + slot; }
  bool isOwner(const World &world, const Instruction &op, int slot,
               int r) const {
    return !protocol.channels[op.channel].inTurns ||
           world[owner(op.channel, slot)] == r + 1;
  }
  /// Waits so far of a role at one side of a ring.
  int waits(const Instruction &op, int r) const {
    return waitsBase + (2 * op.channel + (op.step == Step::Wait)) * numRoles +
           partyOf(op.channel, r);
  }
  int slotOf(const World &world, int r, const Instruction &op) const {
    if (op.slot >= 0)
      return static_cast<int>(evaluate(world, r, op.slot));
    int modulus = protocol.roles[r].positions[op.position].modulus;
    int at = world[position(r, op.position) + 1] + op.offset;
    return ((at % modulus) + modulus) % modulus;
  }
  /// The parity that the code of a wait tests for.
  int parityOf(const World &world, int r, const Instruction &op) const {
    if (op.slot >= 0)
      return static_cast<int>(evaluate(world, r, op.parity));
    const Position &walk = protocol.roles[r].positions[op.position];
    int at = world[position(r, op.position) + 1] + op.offset;
    int parity = world[position(r, op.position) + 3];
    for (; at < 0; at += walk.modulus)
      parity ^= 1;
    for (; at >= walk.modulus; at -= walk.modulus)
      parity ^= 1;
    return op.step == Step::Wait ? parity : parity ^ 1;
  }
  /// Slot and parity are all that a lowered program has of an item.
  bool sameItem(int channel, int lhs, int rhs) const {
    return (lhs - rhs) % (2 * protocol.channels[channel].slots) == 0;
  }
  bool isBlocked(const World &world, int r) const;
  /// Whether a group of `r` that is not waited for holds the bit, in any
  /// queue but one.
  bool isPending(const World &world, int r, int bit, int but = -1) const;
  bool isReading(const World &world, int r, int bufferPlace) const {
    return world[bufferPlace + 6] != r + 1 &&
           isPending(world, r, bufferIndex(bufferPlace));
  }
  bool isInOpenGroup(const World &world, int r, int queue, int bit) const {
    return world[groupsOf(r, queue) + bit / 15] >> (bit % 15) & 1;
  }
  void addToGroup(World &world, int r, int queue, int bit) const {
    int16_t &word = world[groupsOf(r, queue) + bit / 15];
    word = static_cast<int16_t>(word | 1 << (bit % 15));
  }

  bool fault(const std::string &text) {
    if (violation.empty())
      violation = text;
    return false;
  }
  bool completeIfDone(World &world, int channel, int slot, bool full);
  bool arrive(World &world, int r, const Instruction &op, int slot, bool full);
  bool hasSeen(const World &world, int channel, int slot, int party) const;
  bool startWrite(World &world, int place);
  bool land(World &world, int place);
  bool execute(World &world, int r);
  bool finish(const World &world);
  void expand(const World &world);
  void push(World world);

  const Protocol &protocol;
  const std::vector<int> &iterations;
  int numRoles = 0, size = 0, barrierSize = 0, bufferSize = 7;
  int numBuffers = 0, groupWords = 0;
  std::vector<int> roleBase, positionBase, barrierBase, bufferBase,
      releasedBase, committedBase, initializedBase, ownerBase;
  std::vector<std::pair<int, int>> bufferOwner;
  std::vector<int> variableBase;
  int waitsBase = 0;
  int namedBase = 0, tripBase = 0, bitsBase = 0;
  std::vector<int> queues;
  static constexpr int kMaxDecisions = 48;
  /// Runs with more pending groups are given up.
  static constexpr int kMaxGroups = 5;
  bool gaveUp = false;

  std::string violation;
  std::vector<World> stack;
  SeenWorlds seen;
};

void Explorer::layOut() {
  numRoles = static_cast<int>(protocol.roles.size());
  for (const Channel &channel : protocol.channels)
    numBuffers += channel.slots * channel.parts;
  size_t values = 0;
  for (const Role &role : protocol.roles)
    values = std::max(values, role.values.size());
  groupWords = (numBuffers + static_cast<int>(values) + 14) / 15;
  for (const Role &role : protocol.roles) {
    queues.push_back(0);
    for (const Instruction &op : role.code)
      queues.back() = std::max(queues.back(), op.queue + 1);
    roleBase.push_back(
        allocate(2 + queues.back() * (1 + (kMaxGroups + 1) * groupWords)));
    positionBase.push_back(
        allocate(4 * static_cast<int>(role.positions.size())));
    variableBase.push_back(allocate(static_cast<int>(role.variables.size())));
  }
  barrierSize = 4 + 2 * numRoles;
  for (size_t c = 0; c < protocol.channels.size(); ++c) {
    const Channel &channel = protocol.channels[c];
    barrierBase.push_back(allocate(2 * channel.slots * barrierSize));
    releasedBase.push_back(allocate(channel.slots));
    committedBase.push_back(allocate(channel.slots));
    ownerBase.push_back(allocate(channel.slots));
    initializedBase.push_back(allocate(1));
  }
  for (size_t c = 0; c < protocol.channels.size(); ++c) {
    const Channel &channel = protocol.channels[c];
    bufferBase.push_back(allocate(channel.slots * channel.parts * bufferSize));
    for (int slot = 0; slot < channel.slots; ++slot)
      for (int part = 0; part < channel.parts; ++part)
        bufferOwner.push_back({static_cast<int>(c), slot});
  }
  waitsBase =
      allocate(2 * static_cast<int>(protocol.channels.size()) * numRoles);
  namedBase = allocate(4 * static_cast<int>(protocol.barriers.size()));
  tripBase = allocate((2 + numRoles) * static_cast<int>(protocol.trips.size()));
  bitsBase = allocate(kMaxDecisions * static_cast<int>(protocol.trips.size()));
}

World Explorer::initial() const {
  World world(size, 0);
  for (int r = 0; r < numRoles; ++r)
    for (size_t p = 0; p < protocol.roles[r].positions.size(); ++p)
      world[position(r, static_cast<int>(p)) + 3] =
          static_cast<int16_t>(protocol.roles[r].positions[p].parity);
  for (int r = 0; r < numRoles; ++r)
    for (size_t v = 0; v < protocol.roles[r].variables.size(); ++v)
      world[variableBase[r] + static_cast<int>(v)] =
          static_cast<int16_t>(protocol.roles[r].variables[v].initial);
  for (size_t c = 0; c < protocol.channels.size(); ++c) {
    const Channel &channel = protocol.channels[c];
    int index = static_cast<int>(c);
    world[initializedBase[c]] = channel.initialized;
    for (int slot = 0; slot < channel.slots; ++slot) {
      int full = barrier(index, slot, true);
      int empty = barrier(index, slot, false);
      world[full + 1] = static_cast<int16_t>(channel.fullCount);
      world[empty + 1] = static_cast<int16_t>(channel.emptyCount);
      for (int r = 0; r < numRoles; ++r) {
        // Nobody has seen that the slot starts empty.
        world[empty + 4 + r] = -1;
        world[full + 4 + numRoles + r] = -1000;
        world[empty + 4 + numRoles + r] = -1000;
      }
      for (int part = 0; part < channel.parts; ++part)
        world[buffer(index, slot, part)] = -1000;
    }
  }
  return world;
}

bool Explorer::isPending(const World &world, int r, int bit, int but) const {
  for (int queue = 0; queue < queues[r]; ++queue)
    for (int g = 0; g <= kMaxGroups; ++g)
      if (queue != but &&
          (world[groupsOf(r, queue) + g * groupWords + bit / 15] >> (bit % 15) &
           1))
        return true;
  return false;
}

bool Explorer::isBlocked(const World &world, int r) const {
  if (world[role(r) + 1])
    return true;
  const Instruction &op = next(world, r);
  if (op.step == Step::Wait || op.step == Step::Acquire) {
    int slot = slotOf(world, r, op);
    if (slot >= protocol.channels[op.channel].slots ||
        !world[initializedBase[op.channel]])
      return false; // To fail there.
    int phases = world[barrier(op.channel, slot, op.step == Step::Wait)];
    return (phases & 1) == parityOf(world, r, op);
  }
  return op.step == Step::Sync && (world[named(op.barrier) + 2] >> r & 1);
}

bool Explorer::completeIfDone(World &world, int channel, int slot, bool full) {
  int b = barrier(channel, slot, full);
  if (world[b + 1] || world[b + 2])
    return true;
  const Channel &ring = protocol.channels[channel];
  uint32_t observers = full ? ring.consumers : ring.producers;
  for (int r = 0; r < numRoles; ++r)
    if ((observers >> r & 1) && world[b + 4 + partyOf(channel, r)] != world[b])
      return fault("lapped");
  ++world[b];
  world[b + 1] = static_cast<int16_t>(full ? ring.fullCount : ring.emptyCount);
  world[b + 3] = 0;
  return true;
}

bool Explorer::arrive(World &world, int r, const Instruction &op, int slot,
                      bool full) {
  int b = barrier(op.channel, slot, full);
  if (world[b + 3] >> r & 1)
    return fault("arrives twice");
  if (world[b + 1] < op.count)
    return fault("too many arrivals");
  world[b + 3] = static_cast<int16_t>(world[b + 3] | 1 << r);
  world[b + 1] = static_cast<int16_t>(world[b + 1] - op.count);
  world[b + 2] = static_cast<int16_t>(world[b + 2] + op.bytes);
  return completeIfDone(world, op.channel, slot, full);
}

/// Whether a party has waited for the phase of a slot that is complete.
bool Explorer::hasSeen(const World &world, int channel, int slot,
                       int party) const {
  int b = barrier(channel, slot, true);
  return world[b] > 0 && world[b + 4 + party] == world[b];
}

bool Explorer::startWrite(World &world, int place) {
  if (world[place + 1] || world[place + 6])
    return fault("overwrites a copy in flight");
  if (world[place + 3])
    return fault("overwrites what is not read");
  for (int r = 0; r < numRoles; ++r)
    if (isReading(world, r, place))
      return fault("overwrites what is being read");
  return true;
}

bool Explorer::land(World &world, int place) {
  auto [channel, slot] = bufferOwner[bufferIndex(place)];
  world[place + 1] = 0;
  world[place + 2] = 1;
  int b = barrier(channel, slot, true);
  world[b + 2] = static_cast<int16_t>(world[b + 2] - world[place + 4]);
  world[place + 4] = 0;
  return completeIfDone(world, channel, slot, true);
}

bool Explorer::execute(World &world, int r) {
  const Instruction &op = next(world, r);
  int16_t &pc = world[role(r)];
  int slot = -1, item = 0;
  const Channel *ring = nullptr;
  switch (op.step) {
  case Step::Acquire:
  case Step::Copy:
  case Step::Write:
  case Step::Commit:
  case Step::Wait:
  case Step::Read:
  case Step::Release:
    ring = &protocol.channels[op.channel];
    slot = slotOf(world, r, op);
    if (slot >= ring->slots)
      return fault("slot out of range");
    if (!world[initializedBase[op.channel]])
      return fault("not initialised");
    if (op.slot < 0)
      item = world[position(r, op.position)] + op.offset;
    else if (op.step == Step::Wait || op.step == Step::Acquire)
      item = world[waits(op, r)];
    else
      item = world[barrier(op.channel, slot, op.step == Step::Read) + 4 +
                   numRoles + partyOf(op.channel, r)];
    break;
  default:
    break;
  }
  ++pc;
  switch (op.step) {
  case Step::Initialize:
    if (world[initializedBase[op.channel]])
      return fault("initialised twice");
    world[initializedBase[op.channel]] = 1;
    return true;
  case Step::Acquire:
  case Step::Wait: {
    bool full = op.step == Step::Wait;
    int b = barrier(op.channel, slot, full);
    int party = partyOf(op.channel, r);
    int16_t &observed = world[b + 4 + party];
    int16_t &last = world[b + 4 + numRoles + party];
    int16_t &gone = full ? world[released(op.channel, slot)]
                         : world[committed(op.channel, slot)];
    // Without a number, it is the same item if it was not given away.
    bool again =
        op.slot < 0 ? sameItem(op.channel, last, item) : !(gone >> r & 1);
    if (observed == world[b] && last >= -100 && again &&
        (!full || isOwner(world, op, slot, r)))
      return true;
    if (observed + 1 != world[b])
      return fault("passes on another phase");
    observed = world[b];
    if (full)
      world[owner(op.channel, slot)] = static_cast<int16_t>(r + 1);
    if (op.slot >= 0)
      ++world[waits(op, r)];
    last = static_cast<int16_t>(item);
    gone = static_cast<int16_t>(gone & ~(1 << r));
    return true;
  }
  case Step::Copy:
  case Step::Write: {
    int16_t bytes = static_cast<int16_t>(op.bytes);
    for (int part = 0; part < ring->parts; ++part) {
      if (!(op.parts >> part & 1))
        continue;
      int place = buffer(op.channel, slot, part);
      // Before a fence, or in the open group, the same fill goes on.
      bool continues =
          op.step == Step::Write &&
          (op.async ? world[place + 6] == r + 1 &&
                          isInOpenGroup(world, r, op.queue, bufferIndex(place))
                    : world[place + 5] == r + 1);
      if (!continues && !startWrite(world, place))
        return false;
      world[place] = static_cast<int16_t>(item);
      world[place + 2] = 0;
      uint32_t readers = 0;
      for (int other = 0; other < numRoles; ++other)
        if (ring->readers[part] >> other & 1)
          readers |= 1u << partyOf(op.channel, other);
      world[place + 3] = static_cast<int16_t>(readers);
      if (op.step == Step::Copy) {
        world[place + 1] = 1;
        world[place + 4] = bytes;
        bytes = 0;
      } else {
        int by = op.async ? 6 : 5;
        world[place + by] = static_cast<int16_t>(r + 1);
        if (op.async)
          addToGroup(world, r, op.queue, bufferIndex(place));
      }
    }
    return true;
  }
  case Step::Fence:
    for (int i = 0; i < numBuffers; ++i) {
      int place = bufferBase[0] + i * bufferSize;
      if (world[place + 5] == r + 1 &&
          (op.channel < 0 || bufferOwner[i].first == op.channel)) {
        world[place + 5] = 0;
        world[place + 2] = 1;
      }
    }
    return true;
  case Step::Commit: {
    int16_t &gone = world[committed(op.channel, slot)];
    gone = static_cast<int16_t>(gone | 1 << r);
    return arrive(world, r, op, slot, true);
  }
  case Step::Release: {
    if (!isOwner(world, op, slot, r))
      return fault("releases what another waited for");
    int16_t &gone = world[released(op.channel, slot)];
    gone = static_cast<int16_t>(gone | 1 << r);
    // Whoever has waited for it and gives it back needs it no more.
    int party = partyOf(op.channel, r);
    for (int part = 0; part < ring->parts; ++part)
      if (int place = buffer(op.channel, slot, part);
          hasSeen(world, op.channel, slot, party) && world[place + 2])
        world[place + 3] =
            static_cast<int16_t>(world[place + 3] & ~(1 << party));
    return arrive(world, r, op, slot, false);
  }
  case Step::Read:
    for (int part = 0; part < ring->parts; ++part) {
      if (!(op.parts >> part & 1))
        continue;
      int place = buffer(op.channel, slot, part);
      if (world[released(op.channel, slot)] >> r & 1)
        return fault("reads after release");
      if (!isOwner(world, op, slot, r))
        return fault("reads what another waited for");
      if (!world[place + 2] || !sameItem(op.channel, world[place], item))
        return fault("reads what is not there");
      int party = partyOf(op.channel, r);
      if (op.fresh && !(world[place + 3] >> party & 1))
        return fault("reads again");
      world[place + 3] = static_cast<int16_t>(world[place + 3] & ~(1 << party));
      if (op.async)
        addToGroup(world, r, op.queue, bufferIndex(place));
    }
    return true;
  case Step::CloseGroup: {
    int16_t &count = world[groupCount(r, op.queue)];
    if (count >= kMaxGroups) {
      gaveUp = true;
      return false;
    }
    ++count;
    int base = groupsOf(r, op.queue);
    for (int w = 0; w < groupWords; ++w) {
      world[base + count * groupWords + w] = world[base + w];
      world[base + w] = 0;
    }
    return true;
  }
  case Step::WaitGroup: {
    int base = groupsOf(r, op.queue);
    for (int16_t &count = world[groupCount(r, op.queue)]; count > op.count;
         --count)
      for (int g = 1; g <= count; ++g)
        for (int w = 0; w < groupWords; ++w)
          world[base + g * groupWords + w] =
              g < count ? world[base + (g + 1) * groupWords + w] : 0;
    // Asynchronous writes that are over now wait for a fence.
    for (int i = 0; i < numBuffers; ++i) {
      int place = bufferBase[0] + i * bufferSize;
      if (world[place + 6] == r + 1 && !isPending(world, r, i)) {
        world[place + 6] = 0;
        world[place + 5] = static_cast<int16_t>(r + 1);
      }
    }
    return true;
  }
  case Step::Issue:
    if (isPending(world, r, numBuffers + op.value, op.queue))
      return fault("two queues write one value");
    addToGroup(world, r, op.queue, numBuffers + op.value);
    return true;
  case Step::Use:
    return !isPending(world, r, numBuffers + op.value) ||
           fault("uses a value in flight");
  case Step::Start:
  case Step::Move:
  case Step::Advance: {
    const Position &walk = protocol.roles[r].positions[op.position];
    int into = position(r, op.position);
    if (op.step == Step::Start) {
      for (int i = 0; i < 3; ++i)
        world[into + i] = 0;
      world[into + 3] = static_cast<int16_t>(walk.parity);
      return true;
    }
    for (int i = 0; i < 4; ++i)
      world[into + i] = world[position(r, op.source) + i];
    if (op.step == Step::Move)
      return true;
    ++world[into];
    if (++world[into + 1] >= walk.modulus)
      world[into + 1] = 0;
    if (++world[into + 2] >= walk.flip) {
      world[into + 2] = 0;
      world[into + 3] ^= 1;
    }
    return true;
  }
  case Step::Set:
    world[variableBase[r] + op.variable] =
        static_cast<int16_t>(evaluate(world, r, op.expression));
    return true;
  case Step::Test:
    if (!evaluate(world, r, op.expression))
      pc = static_cast<int16_t>(op.target);
    return true;
  case Step::Jump:
    pc = static_cast<int16_t>(op.target);
    return true;
  case Step::Sync:
  case Step::Arrive: {
    int n = named(op.barrier);
    if (world[n + 1] && world[n + 1] != op.count)
      return fault("counts of a named barrier differ");
    if (world[n + 3] >> r & 1)
      return fault("arrives twice at a named barrier");
    world[n + 1] = static_cast<int16_t>(op.count);
    world[n] = static_cast<int16_t>(world[n] + protocol.roles[r].threads);
    world[n + 3] = static_cast<int16_t>(world[n + 3] | 1 << r);
    if (op.step == Step::Sync) {
      world[n + 2] = static_cast<int16_t>(world[n + 2] | 1 << r);
      --pc;
    }
    if (world[n] < op.count)
      return true;
    for (int other = 0; other < numRoles; ++other)
      if (world[n + 2] >> other & 1)
        ++world[role(other)];
    for (int i = 0; i < 4; ++i)
      world[n + i] = 0;
    return true;
  }
  case Step::Exit:
    for (int queue = 0; queue < queues[r]; ++queue)
      for (int w = groupCount(r, queue); w < groupCount(r, queue + 1); ++w)
        if (world[w])
          return fault("exits with something in flight");
    for (size_t c = 0; c < protocol.channels.size(); ++c) {
      const Channel &channel = protocol.channels[c];
      if (!channel.drain || !(channel.producers >> r & 1))
        continue;
      for (int s = 0; s < channel.slots; ++s)
        for (int part = 0; part < channel.parts; ++part) {
          int place = buffer(static_cast<int>(c), s, part);
          bool busy = world[place + 3] != 0;
          for (int other = 0; other < numRoles; ++other)
            busy |= isReading(world, other, place);
          if (busy)
            return fault("exits before the last read");
        }
    }
    --pc;
    world[role(r) + 1] = 1;
    return true;
  default:
    return true;
  }
}

bool Explorer::finish(const World &world) {
  for (int i = 0; i < numBuffers; ++i)
    for (int r = 0; r < numRoles; ++r)
      if ((world[bufferBase[0] + i * bufferSize + 3] >> r & 1) &&
          !hasSeen(world, bufferOwner[i].first, bufferOwner[i].second, r))
        return fault("not read at exit");
  for (size_t n = 0; n < protocol.barriers.size(); ++n)
    if (world[named(static_cast<int>(n))])
      return fault("a named barrier is left");
  for (size_t c = 0; c < protocol.channels.size(); ++c) {
    const Channel &channel = protocol.channels[c];
    for (int slot = 0; slot < channel.slots; ++slot)
      for (bool full : {true, false}) {
        int b = barrier(static_cast<int>(c), slot, full);
        if (world[b + 2] ||
            world[b + 1] != (full ? channel.fullCount : channel.emptyCount))
          return fault("a partial phase is left");
      }
  }
  return true;
}

void Explorer::push(World world) {
  if (seen.insert(world))
    stack.push_back(std::move(world));
}

/// All successors. Steps that nobody else can see are taken alone.
void Explorer::expand(const World &world) {
  for (int r = 0; r < numRoles; ++r) {
    if (world[role(r) + 1])
      continue;
    const Instruction &op = next(world, r);
    if (op.step == Step::Next) {
      int t = trip(op.trip);
      int cursor = world[t + 2 + r];
      int bits = bitsBase + op.trip * kMaxDecisions;
      bool known = cursor < world[t];
      for (int more = 0; more < 2; ++more) {
        if (known && world[bits + cursor] != more)
          continue;
        if (!known && ((more && world[t + 1] >= iterations[op.trip]) ||
                       cursor >= kMaxDecisions))
          continue;
        World successor = world;
        if (!known) {
          successor[bits + cursor] = static_cast<int16_t>(more);
          ++successor[t];
          successor[t + 1] = static_cast<int16_t>(successor[t + 1] + more);
        }
        ++successor[t + 2 + r];
        successor[role(r)] =
            static_cast<int16_t>(more ? successor[role(r)] + 1 : op.target);
        push(std::move(successor));
      }
      return;
    }
    if (op.step == Step::Jump || op.step == Step::Start ||
        op.step == Step::Move || op.step == Step::Advance ||
        op.step == Step::CloseGroup || op.step == Step::Converge ||
        op.step == Step::Set || op.step == Step::Test ||
        op.step == Step::Issue || op.step == Step::Use) {
      World successor = world;
      if (execute(successor, r))
        push(std::move(successor));
      return;
    }
  }
  bool any = false, exited = true;
  for (int r = 0; r < numRoles; ++r) {
    exited &= world[role(r) + 1] != 0;
    if (isBlocked(world, r))
      continue;
    any = true;
    World successor = world;
    if (!execute(successor, r))
      return;
    push(std::move(successor));
  }
  for (int i = 0; i < numBuffers; ++i) {
    int place = bufferBase[0] + i * bufferSize;
    if (!world[place + 1])
      continue;
    any = true;
    World successor = world;
    if (!land(successor, place))
      return;
    push(std::move(successor));
  }
  if (any)
    return;
  if (exited)
    finish(world);
  else
    fault("deadlock");
}

Exploration Explorer::run(int64_t maxStates) {
  Exploration result;
  push(initial());
  while (!stack.empty() && violation.empty()) {
    World world = std::move(stack.back());
    stack.pop_back();
    expand(world);
    if (gaveUp || seen.size() > maxStates) {
      result.exhausted = true;
      break;
    }
  }
  result.violation = violation;
  result.states = seen.size();
  return result;
}

} // namespace

Exploration explore(const Protocol &protocol,
                    const std::vector<int> &iterations, int64_t maxStates) {
  return Explorer(protocol, iterations).run(maxStates);
}

} // namespace tracea::analysis
