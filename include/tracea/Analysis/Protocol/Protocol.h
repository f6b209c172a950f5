//===- Protocol.h - The synchronisation of a kernel as small programs -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left of a kernel when everything but its synchronisation is taken
// away: roles that run straight code, rings of slots between them, and loops
// whose trip counts are only names. Two loops of one name run equally often;
// how often, nobody says. See docs/Proofs/Protocol.md.

#ifndef TRACEA_ANALYSIS_PROTOCOL_PROTOCOL_H
#define TRACEA_ANALYSIS_PROTOCOL_PROTOCOL_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tracea::analysis {

/// What one instruction of a role does.
enum class Step : uint8_t {
  /// Initialises both barriers of every slot of a ring (Rule A: exactly once).
  Initialize,
  /// Blocks until the readers have given a slot back.
  Acquire,
  /// Starts an asynchronous copy into parts of a slot.
  Copy,
  /// Writes parts of a slot from registers; visible after `Fence`. An `async`
  /// one has happened when its group was waited for.
  Write,
  /// Makes this role's writes (of one channel, if it names one) visible to
  /// other readers. Until then, further writes belong to the same fill.
  Fence,
  /// Arrives at the slot's full barrier and expects `bytes` to land.
  Commit,
  /// Blocks until a slot is full.
  Wait,
  /// Reads parts of a slot; `async` reads retire through a group.
  Read,
  /// Closes the group of what was started asynchronously in `queue` so far.
  CloseGroup,
  /// Blocks until at most `count` groups of `queue` are pending.
  WaitGroup,
  /// Starts to write `value` asynchronously, in the open group of `queue`.
  Issue,
  /// Reads or writes the registers of `value`: nothing may be in flight.
  Use,
  /// Arrives at the slot's empty barrier.
  Release,
  /// `position` := the first item of the ring.
  Start,
  /// `position` := `source`.
  Move,
  /// `position` := the item after `source`.
  Advance,
  /// `variable` := `expression`.
  Set,
  /// Goes on if `expression` is not zero, else jumps to `target`.
  Test,
  /// Reads one decision of a trip count: falls through or jumps to `target`.
  Next,
  Jump,
  /// Arrives at a named barrier and blocks until it completes.
  Sync,
  /// Arrives at a named barrier.
  Arrive,
  /// All lanes of the role meet; `perWarp`: those of each warp.
  Converge,
  /// Branches on a test that does not block: outside of the method.
  Poll,
  Exit
};

const char *stepName(Step step);

/// Steps on a slot of a ring, and those of who fills it.
bool isRingStep(Step step);
bool isFillStep(Step step);

/// A place in the source that an instruction came from; `kNoSite` is unknown.
using Site = int;
constexpr Site kNoSite = -1;

struct Instruction {
  Step step = Step::Exit;
  /// One elected lane does it; the others pass.
  bool elected = false;
  /// One lane of each warp does it.
  bool perWarp = false;
  bool async = false;
  /// The lanes do it as one (a multiply of a warpgroup): when one lane has
  /// waited for its group, it is over for all.
  bool collective = false;
  /// A read of what the role has not read before.
  bool fresh = false;
  int channel = -1;
  /// Register of the role that holds a position in a ring.
  int position = -1;
  /// Second operand of `Move` and `Advance`.
  int source = -1;
  /// Items relative to the position.
  int offset = 0;
  /// Bit set of parts.
  uint32_t parts = 0;
  int64_t bytes = 0;
  int trip = -1;
  int target = -1;
  int barrier = -1;
  /// Queue of asynchronous groups, in order within itself only.
  int queue = 0;
  /// Value of the role that is written asynchronously.
  int value = -1;
  /// The slot and the parity waited for as expressions, in place of a
  /// position: what lowered code computes.
  int slot = -1, parity = -1;
  int variable = -1, expression = -1;
  /// Arrivals of commit and release; pending groups; a barrier's count.
  int count = 0;
  Site site = kNoSite;
};

/// A ring of slots. Roles are named by bits.
struct Channel {
  std::string name;
  int slots = 1;
  int parts = 1;
  /// Arrivals that complete a phase of a slot's full and empty barriers.
  int fullCount = 1, emptyCount = 1;
  uint32_t producers = 0, consumers = 0;
  /// Who reads each part.
  std::vector<uint32_t> readers;
  /// Initialised before the roles start, by construction.
  bool initialized = false;
  /// A role fills a slot before it commits it, never after.
  bool commitLast = false;
  /// A producer may exit only after every read (clusters need it).
  bool drain = false;
  /// Filled ahead of its readers: what they come to no more may be left unread.
  bool ahead = false;
  /// Each item is for one of the consumers, which order themselves: who waits
  /// for it reads it and gives it back.
  bool inTurns = false;
};

/// How a role walks a ring. At the pipeline level this is an element of Z/2n:
/// modulus = flip = slots, parity 0. After lowering it is what was recovered.
struct Position {
  int slots = 1;
  int modulus = 1;
  /// Advances after which the parity changes.
  int flip = 1;
  int parity = 0;
};

/// Integer arithmetic of a role, executed as it stands: unsigned, wrapping.
enum class Operator : uint8_t {
  Constant,
  Variable,
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  And,
  Or,
  Xor,
  ShiftLeft,
  ShiftRight,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Select
};

struct Expression {
  Operator op = Operator::Constant;
  uint8_t bits = 32;
  /// Of a constant; the number of a variable.
  int64_t value = 0;
  /// Earlier expressions of the role.
  int operands[3] = {-1, -1, -1};
};

struct Variable {
  std::string name;
  int64_t initial = 0;
};

struct Role {
  std::string name;
  std::vector<Instruction> code;
  std::vector<Position> positions;
  /// Names of values that asynchronous steps write.
  std::vector<std::string> values;
  std::vector<Variable> variables;
  std::vector<Expression> expressions;
  /// What the role adds to a named barrier's count.
  int threads = 1;
  /// Its lanes are not in step: only `Converge` and named barriers join them.
  bool divergent = false;
  int registers = 0;
};

struct NamedBarrier {
  std::string name;
};

struct Protocol {
  std::string name;
  std::vector<Channel> channels;
  std::vector<Role> roles;
  std::vector<NamedBarrier> barriers;
  std::vector<std::string> trips;
  /// Text of each site, for traces.
  std::vector<std::string> sites;
  /// Registers that all threads share (Rule B); 0: unknown.
  int64_t registerFile = 0;
  int maxNamedBarriers = 16;
};

/// A position in a ring, as a program writes it.
struct Slot {
  int channel = -1;
  int position = -1;
  int offset = 0;
  Slot operator+(int items) const {
    return {channel, position, offset + items};
  }
  Slot operator-(int items) const { return *this + -items; }
};

/// Largest value that a variable may take.
constexpr int64_t kMaxVariable = 1 << 20;

/// Operands of an operator.
int numOperands(Operator op);
/// The value of an operator; false where it has none (a division by zero).
bool applyOperator(Operator op, unsigned bits, const uint64_t *operands,
                   uint64_t &result);

/// Writes the program of one role.
class RoleBuilder {
public:
  RoleBuilder(Protocol &protocol, std::string name);

  /// The role's own position in a ring, made on first use.
  Slot ring(int channel);
  int newPosition(int slots);
  int newValue(std::string name);
  Instruction &add(Step step);

  RoleBuilder &initialize(int channel);
  RoleBuilder &acquire(Slot slot);
  RoleBuilder &copy(Slot slot, uint32_t parts, int64_t bytes);
  RoleBuilder &write(Slot slot, uint32_t parts);
  RoleBuilder &writeAsync(Slot slot, uint32_t parts, int queue = 0);
  RoleBuilder &fence();
  RoleBuilder &commit(Slot slot, int64_t bytes, int arrivals = 1);
  RoleBuilder &wait(Slot slot);
  RoleBuilder &read(Slot slot, uint32_t parts);
  RoleBuilder &readAsync(Slot slot, uint32_t parts, int queue = 0);
  RoleBuilder &issue(int value, int queue = 0);
  RoleBuilder &use(int value);
  RoleBuilder &closeGroup(int queue = 0);
  RoleBuilder &waitGroup(int pending, int queue = 0);
  RoleBuilder &release(Slot slot, int arrivals = 1);
  RoleBuilder &advance(Slot slot);
  RoleBuilder &sync(int barrier, int count);
  RoleBuilder &arrive(int barrier, int count);
  RoleBuilder &converge();
  /// The next instructions are done by one lane.
  RoleBuilder &elect(bool on = true);
  /// Where the next instructions come from.
  RoleBuilder &at(Site site);

  /// While the trip count says so.
  RoleBuilder &loop(int trip, const std::function<void()> &body);
  /// Once if the trip count is not exhausted (a peeled iteration).
  RoleBuilder &peel(int trip, const std::function<void()> &body);
  RoleBuilder &repeat(int times, const std::function<void()> &body);

  /// Adds the exit and hands the role to the protocol; returns its number.
  int finish();

  Role role;

private:
  Instruction &addSlot(Step step, Slot slot);

  Protocol &protocol;
  std::vector<int> ringPositions;
  bool elected = false;
  Site site = kNoSite;
};

/// The program of a role as text, one instruction a line.
std::string printRole(const Protocol &protocol, const Role &role);
/// One instruction as text, without the role.
std::string printInstruction(const Protocol &protocol,
                             const Instruction &instruction);

} // namespace tracea::analysis

#endif // TRACEA_ANALYSIS_PROTOCOL_PROTOCOL_H
