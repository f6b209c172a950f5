//===- Machine.h - One step of a protocol, with what everybody knows ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The control state is what decides who may run next. The knowledge is one bit
// for each pair of a holder and a fact: whether the fact is ordered before
// everything that the holder does from now on. Control never looks at
// knowledge; only checks do.

#ifndef TRACEA_LIB_ANALYSIS_PROTOCOL_MACHINE_H
#define TRACEA_LIB_ANALYSIS_PROTOCOL_MACHINE_H

#include "tracea/Analysis/Protocol/Checker.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tracea::analysis {

/// An item of a ring modulo twice its slots, and what the code derives from it.
struct PositionState {
  uint8_t item = 0;
  uint8_t slot = 0;
  uint8_t count = 0;
  uint8_t parity = 0;
};

/// Queues of asynchronous groups a role may have, and groups pending in each.
constexpr int kMaxQueues = 4;
constexpr int kMaxGroups = 16;

struct RoleState {
  uint16_t pc = 0;
  uint8_t exited = 0;
  uint8_t padding = 0;
  /// Pending groups of each queue.
  std::array<uint8_t, kMaxQueues> groups{};
};

/// One barrier in shared memory: full or empty side of a slot.
struct BarrierState {
  int64_t expected = 0;
  int64_t copied = 0;
  /// Roles that have arrived in this phase, that have a completed phase to
  /// observe, and the parity of the phases that each has observed.
  uint32_t arrived = 0, ready = 0, observed = 0;
  /// Arrivals missing; may become negative only in a failing step.
  int32_t pending = 0;
  /// Of a ring whose items are taken in turns: who waited last, plus one.
  uint32_t owner = 0, padding = 0;
};

struct BufferState {
  uint8_t item = 0;
  uint8_t filled = 0;
};

struct NamedState {
  uint32_t waiting = 0, arrived = 0;
  int32_t arrivals = 0, count = 0;
};

struct TripState {
  uint64_t bits = 0;
  uint32_t length = 0;
  uint32_t padding = 0;
};

struct MachineState {
  std::vector<RoleState> roles;
  std::vector<PositionState> positions;
  std::vector<int32_t> variables;
  /// Items that a role has waited for: [channel][full, empty][role].
  std::vector<uint8_t> waits;
  std::vector<BarrierState> barriers;
  std::vector<BufferState> buffers;
  std::vector<NamedState> named;
  std::vector<TripState> trips;
  /// Decisions that a role has read of a trip count: [trip][role].
  std::vector<uint8_t> cursors;
  /// Last item, plus one, that a role has waited for: [barrier][role].
  std::vector<uint8_t> lastItem;
  std::vector<uint8_t> initialized;
  /// Bit sets [role][set]: over buffers, unfenced writes and asynchronous ones
  /// in flight; over slots, released and committed.
  std::vector<uint64_t> sets;
  /// What is in flight, over buffers and the role's values:
  /// [role][queue][the open group, the closed ones].
  std::vector<uint64_t> groups;
  /// Bits over facts: [holder].
  std::vector<uint64_t> knowledge;

  /// The control state as bytes.
  std::string key() const;
};

class Machine {
public:
  Machine(const Protocol &protocol, const CheckOptions &options);

  enum class Stop { Finished, Failed, NotDecided, Decision };

  MachineState initial() const;
  /// Runs until somebody must read a decision that nobody has read yet.
  Stop run(MachineState &state, int &role);
  /// Lets `role` read the decision `more` and go on.
  Stop decide(MachineState &state, int &role, bool more);
  /// Forgets positions that no role will use again.
  void forgetDead(MachineState &state) const;

  const Protocol &protocol;
  std::string reason;
  std::optional<Finding> finding;
  int64_t steps = 0;
  int64_t lead = 0;
  /// Records events, and slices them into a trace on failure.
  bool tracing = false;
  /// Violations that no run is needed for.
  std::optional<Finding> staticFinding;

private:
  enum Set : int {
    Unfenced = 0,
    Landing,
    Released,
    Committed,
    /// Read by lanes that have not met since: no collective read stands for
    /// them.
    Scattered,
    /// Buffers that the role has waited for and not read since.
    Unread
  };
  static constexpr int kSets = 6;

  struct Recorded {
    Event event;
    int channel = -1, slot = -1, barrier = -1;
    int trip = -1;
    bool more = false;
    Step step = Step::Exit;
  };

  // Structure.
  int barrierOf(int channel, int slot, bool full) const {
    return 2 * (slotBase[channel] + slot) + (full ? 0 : 1);
  }
  int bufferOf(int channel, int slot, int part) const {
    return bufferBase[channel] + slot * protocol.channels[channel].parts + part;
  }
  /// Whose waits, reads and releases those of `role` follow: of consumers that
  /// take items in turns all are one.
  int partyOf(int channel, int role) const {
    const Channel &ring = protocol.channels[channel];
    if (!ring.inTurns || !(ring.consumers >> role & 1))
      return role;
    int first = 0;
    while (!(ring.consumers >> first & 1))
      ++first;
    return first;
  }
  std::string barrierName(int barrier) const;
  std::string bufferName(int buffer) const;
  std::string quoted(int role) const {
    return "'" + protocol.roles[role].name + "'";
  }
  void checkStatically();
  void checkLoops();
  void computeLiveness();

  // Knowledge.
  int roleHolder(int role) const { return role; }
  int electedHolder(int role) const { return numRoles + role; }
  int lanesHolder(int role) const { return 2 * numRoles + role; }
  int warpsHolder(int role) const { return 3 * numRoles + role; }
  int pendingHolder(int barrier) const { return 4 * numRoles + 2 * barrier; }
  int doneHolder(int barrier) const { return pendingHolder(barrier) + 1; }
  int namedHolder(int barrier) const {
    return 4 * numRoles + 2 * numBarriers + barrier;
  }
  /// What somebody knows, whoever it is.
  int anyHolder() const { return numHolders - 1; }
  bool holds(const MachineState &state, int holder, int fact) const;
  void learn(MachineState &state, int holder, int fact) const;
  void forget(MachineState &state, int fact) const;
  void join(MachineState &state, int into, int from) const;
  void clear(MachineState &state, int holder) const;
  bool knows(const MachineState &state, int role, bool elected, int fact) const;
  bool anyLaneKnows(const MachineState &state, int role, int fact) const;
  enum class Lanes { All, PerWarp, One };
  Lanes lanesOf(int role, const Instruction &op) const;
  /// Who learns what lanes of a role find out.
  int learnerOf(int role, Lanes lanes) const;
  void tell(MachineState &state, int holder, int role, Lanes lanes) const;

  uint64_t *set(MachineState &state, int role, int which) const {
    return &state.sets[(role * kSets + which) * setWords];
  }
  /// The open group of a queue (0), or the n-th closed one, oldest first.
  uint64_t *group(MachineState &state, int role, int queue, int n) const {
    return &state.groups[(queueBase[role] + queue * (kMaxGroups + 1) + n) *
                         groupWords];
  }
  bool isInFlight(MachineState &state, int role, int bit) const;
  int valueBit(int value) const { return numBuffers + value; }
  static bool test(const uint64_t *words, int bit) {
    return words[bit / 64] >> (bit % 64) & 1;
  }
  static void mark(uint64_t *words, int bit, bool value) {
    if (value)
      words[bit / 64] |= uint64_t(1) << (bit % 64);
    else
      words[bit / 64] &= ~(uint64_t(1) << (bit % 64));
  }

  // Execution.
  PositionState &position(MachineState &state, int role, int index) const {
    return state.positions[positionBase[role] + index];
  }
  /// The value of an expression; -1 where it has none, or too large a one.
  int64_t evaluate(const MachineState &state, int role, int expression) const;
  int slotOf(MachineState &state, int role, const Instruction &op) const;
  uint8_t &waitsOf(MachineState &state, int role, const Instruction &op) const {
    return state
        .waits[(2 * op.channel + (op.step == Step::Wait ? 0 : 1)) * numRoles +
               partyOf(op.channel, role)];
  }
  int itemOf(MachineState &state, int role, const Instruction &op) const;
  bool parityMatches(MachineState &state, int role, const Instruction &op,
                     int slot) const;
  bool waitsAgain(MachineState &state, int role, const Instruction &op,
                  int slot) const;
  bool isEnabled(MachineState &state, int role) const;
  bool needsDecision(const MachineState &state, int role) const;
  bool step(MachineState &state, int role, bool more);
  bool execute(MachineState &state, int role, const Instruction &op, int slot,
               bool more, int &next);
  bool arrive(MachineState &state, int role, const Instruction &op,
              int barrier);
  bool complete(MachineState &state, int barrier);
  bool checkOverwrite(MachineState &state, int role, const Instruction &op,
                      int buffer);
  void fill(MachineState &state, int role, const Instruction &op, int buffer);
  bool wait(MachineState &state, int role, const Instruction &op, int slot);
  bool checkTurn(MachineState &state, int role, const Instruction &op,
                 int slot);
  bool isOwner(const MachineState &state, int role, const Instruction &op,
               int slot) const {
    return !protocol.channels[op.channel].inTurns ||
           state.barriers[barrierOf(op.channel, slot, true)].owner ==
               static_cast<uint32_t>(role) + 1;
  }
  void passUnread(MachineState &state, int role, const Instruction &op,
                  int slot);
  bool copy(MachineState &state, int role, const Instruction &op, int slot);
  bool write(MachineState &state, int role, const Instruction &op, int slot);
  bool read(MachineState &state, int role, const Instruction &op, int slot);
  void retire(MachineState &state, int role, const Instruction &op,
              int bit) const;
  void passObservation(MachineState &state, int role, int buffer) const;
  bool closeGroup(MachineState &state, int role, const Instruction &op);
  bool waitGroup(MachineState &state, int role, const Instruction &op);
  bool issue(MachineState &state, int role, const Instruction &op);
  bool use(MachineState &state, int role, const Instruction &op);
  bool next(MachineState &state, int role, const Instruction &op, bool more,
            int &next);
  bool meet(MachineState &state, int role, const Instruction &op, int &next);
  bool leave(MachineState &state, int role, const Instruction &op);
  bool isRead(const MachineState &state, int buffer, int role) const;
  bool checkExit(MachineState &state);
  void checkStuck(MachineState &state);
  void trim(MachineState &state, int trip) const;
  bool fail(Property property, std::string message, int role, Site site,
            int channel = -1, int slot = -1, int barrier = -1);
  void record(MachineState &state, int role, const Instruction &op, int slot,
              bool more);
  void slice(int channel, int slot, int barrier);

  const CheckOptions &options;
  int numRoles, numBarriers = 0, numBuffers = 0, numSlots = 0, numFacts = 0;
  int numHolders = 0, factWords = 0, setWords = 1, groupWords = 1;
  std::vector<int> slotBase, bufferBase, positionBase, variableBase;
  /// First queue of each role, in groups, and the number of its queues.
  std::vector<int> queueBase, numQueues;
  int numGroups = 0;
  std::vector<int> channelOfSlot, channelOfBuffer;
  /// Facts; -1 where there is none.
  std::vector<int> initFact, fillFact;
  std::vector<std::vector<int>> readFact, observeFact, arriveFact, namedFact;
  /// [slot]: that the last wait for it came before, where consumers take items
  /// in turns.
  std::vector<int> turnFact;
  std::vector<uint32_t> readersOfTrip;
  /// [role][expression]: what it needs, operands first.
  std::vector<std::vector<std::vector<int>>> plans;
  mutable std::vector<int64_t> scratch;
  /// Whether items of a channel are told apart where slots are expressions:
  /// all producers acquire, all consumers wait.
  std::vector<bool> countsItems;
  /// [role][pc][word]: positions, then variables, that are used again.
  std::vector<std::vector<std::vector<uint64_t>>> live;
  std::vector<Recorded> events;
};

} // namespace tracea::analysis

#endif // TRACEA_LIB_ANALYSIS_PROTOCOL_MACHINE_H
