//===- Program.h - What one role of a target kernel does ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between target IR and a protocol: the events of one role in order, with
// addresses in place of rings, slots and buffers.

#ifndef TRACEA_ANALYSIS_TARGETPROTOCOL_PROGRAM_H
#define TRACEA_ANALYSIS_TARGETPROTOCOL_PROGRAM_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tracea/Analysis/TargetProtocol/Accumulators.h"
#include "tracea/Analysis/TargetProtocol/TargetEvents.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace mlir::tracea {

/// How many lanes of a role do something.
enum class LaneSet : uint8_t { All, OnePerWarp, One };

struct Event {
  enum Kind : uint8_t {
    BarrierInit,
    InitFence,
    /// At a barrier in shared memory; `bytes` are expected.
    Arrive,
    Wait,
    /// A bulk copy into shared memory that counts `bytes` at `barrier`.
    Copy,
    Read,
    Write,
    CloseGroup,
    WaitGroup,
    NamedSync,
    NamedArrive,
    MeetWarps,
    ProxyFence,
    Registers,
    /// Registers of multiplies are read or written by something else, are
    /// ordered by a fence, or go into a multiply.
    TouchRegisters,
    FenceRegisters,
    FeedRegisters,
    /// At the barrier of the cluster.
    ClusterArrive,
    ClusterWait,
    Issue,
    Use,
    Set,
    Test,
    Next,
    Jump,
    Exit
  };
  Kind kind = Exit;
  Operation *op = nullptr;
  LaneSet lanes = LaneSet::All;
  /// Which one lane it is.
  const Symbol *lane = nullptr;
  /// Of the barrier; of the first byte of an access.
  Linear barrier, address;
  /// The parity waited for; what is assigned or tested.
  const Symbol *expression = nullptr;
  /// Length of an access and what a copy or arrival counts; -1: unknown.
  int64_t length = 0, bytes = 0;
  /// Arrivals of each lane, pending groups, threads of a named barrier.
  int64_t count = 1;
  /// Of a named barrier.
  int64_t id = 0;
  int queue = 0;
  int number = -1; // of a variable, a value, a trip count
  int target = -1;
  bool async = false, collective = false;
  /// Reads what it has not read before.
  bool fresh = false;
  /// Reads the memory of another block of the cluster.
  bool remote = false;
  /// Who has waited for this arrival sees what was written before.
  bool publishes = false;
};

struct RoleProgram {
  std::string name;
  ThreadRange threads;
  /// What stands for such threads of the cluster's other blocks.
  bool isPeer = false;
  std::vector<Event> events;
  std::vector<::tracea::analysis::Variable> variables;
  std::vector<std::string> values;
};

/// Trip counts that roles share.
struct TripTable {
  llvm::StringMap<int> numbers;
  std::vector<std::string> names;
};

/// Loops that one role decides for others through a place in shared memory.
struct Messages {
  DenseMap<Operation *, std::string> loops;
  /// What is sent and what is received, by the name of the message.
  DenseMap<Value, std::string> values;
  DenseSet<Operation *> fresh;
};

/// What is the same for all roles while a kernel is read.
struct KernelContext {
  KernelContext(LLVM::LLVMFuncOp kernel, const TargetEvents &target)
      : kernel(kernel), target(target), accumulators(target) {}

  /// Whether `op` has nothing to do with a block's protocol.
  bool isHarmless(Operation *op) const;
  /// Whether an operand points into shared memory.
  bool touchesShared(Operation *op) const;

  LLVM::LLVMFuncOp kernel;
  const TargetEvents &target;
  unsigned threads = 0;
  /// Warpgroups are roles of their own; without barriers in shared memory there
  /// is nothing that they do apart.
  bool hasWarpgroups = true;
  SymbolTable symbols;
  TripTable trips;
  Accumulators accumulators;
  Messages messages;
  /// Operations whose results somebody asks for.
  DenseSet<Operation *> demanded;
  /// Lower bounds that the kernel assumes of values.
  DenseMap<const Symbol *, uint64_t> minimum;
  /// Why the kernel is not decided, and where.
  std::string reason;
  Operation *reasonOp = nullptr;
  /// Choices that nobody else sees: a run that needs one may not exist.
  std::string guessed;
  Operation *guessedOp = nullptr;

  void undecided(Operation *op, const Twine &why) {
    if (!reason.empty())
      return;
    reason = why.str();
    reasonOp = op;
  }
  void guess(Operation *op, const Twine &why) {
    if (!guessed.empty())
      return;
    guessed = why.str();
    guessedOp = op;
  }
};

/// Finds the operations that decide addresses, counts and branches.
void findDemand(KernelContext &context);
/// Adds those that decide the operands of `op`.
void addDemand(Operation *op, DenseSet<Operation *> &demanded);

/// What other blocks' memory is used for.
void checkPeers(KernelContext &context);

/// Finds tile numbers that are handed from role to role.
void findMessages(KernelContext &context);

/// The warps of a block that run the same code, in order.
SmallVector<ThreadRange> findRoles(KernelContext &context);

/// The first operation that does more than touch memory and registers.
Operation *findSynchronization(const KernelContext &context, Block *block);

/// What the threads of a role do.
RoleProgram extractProgram(KernelContext &context, ThreadRange threads);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_TARGETPROTOCOL_PROGRAM_H
