//===- Extractor.h - The protocol of a kernel -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's roles become programs over channels. Phases are SSA values, so
// that each becomes a register and nothing has to be recognised. Loops of the
// same bounds read the same trip count; what bounds mean is never asked. The
// mathematics is in lib/Analysis/Protocol.

#ifndef TRACEA_LIB_ANALYSIS_KERNELPROTOCOL_EXTRACTOR_H
#define TRACEA_LIB_ANALYSIS_KERNELPROTOCOL_EXTRACTOR_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Analysis/Protocol/Protocol.h"
#include "tracea/Dialect/TraceaPipe/IR/Turns.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::tracea {

namespace ta = ::tracea::analysis;
using namespace tracea_pipe;

/// The ring operand of a channel operation; null for others.
Value getRing(Operation *op);
bool isPhase(Value value);
bool isInFlight(Value value);
/// Whether something in the regions of `op` synchronises, walks a ring, or
/// starts what runs beside its role.
bool hasRingOps(Operation *op);
/// What a buffer counts in the bytes of its slot; 0 if it has no static shape.
int64_t getBytes(Type type);
/// The memory or slot that `value` is a view of, through all views.
Value getViewRoot(Value value);

/// A buffer of a slot, found from a value that views it.
struct SlotBuffer {
  Operation *source = nullptr; // the acquire or wait
  unsigned part = 0;
};

/// A role of the kernel, or one of the teams that share its code.
struct Team {
  RoleOp role; // null: the whole workgroup
  int64_t copy = 0;
  std::string name;
};

/// Queues of a role's asynchronous groups. What lanes write to scratch memory
/// is in flight until they meet.
enum GroupQueue : int { MmaQueue, CopyQueue, SyncQueue };

/// How a buffer of a slot is told apart by who fills it.
struct BufferParts {
  unsigned first = 0;
  /// Filled from registers: one part for each of the teams that fill.
  bool fromRegisters = false;
  uint32_t fillers = 0;
};

/// Turns one kernel into a protocol.
class Extractor {
public:
  Extractor(KernelOp kernel, int64_t registerFile, int64_t threadsPerWarp)
      : kernel(kernel), registerFile(registerFile),
        threadsPerWarp(threadsPerWarp) {}

  /// Fails after an error; sets `reason` where the method does not apply.
  LogicalResult extract();

  /// Whether anything in the kernel synchronises.
  bool isNeeded = false;
  ta::Protocol protocol;
  SmallVector<ChannelOp> channels;
  SmallVector<Operation *> sites;
  std::string reason;
  Operation *reasonOp = nullptr;

private:
  LogicalResult collect();
  LogicalResult declare();
  LogicalResult declareTurns();
  void emitTeam(Team &team);
  void emitBlock(Block &block);
  void emitOp(Operation *op);
  void emitRing(Operation *op);
  void emitAccesses(Operation *op);
  bool emitAsync(Operation *op);
  void emitSlotAccess(Operation *op, OpOperand &operand, SlotBuffer buffer);
  void emitScratchAccess(Operation *op, OpOperand &operand, Value scratch);
  void emitTurn(Operation *op, Value turns, Value team);
  void emitTurnEnds(bool first);
  /// The variable of a truth that changes with each iteration of a loop, for
  /// the team at hand; -1 for other values.
  int turnVariableOf(Value truth);
  /// A condition of such truths as arithmetic to execute, or -1.
  int conditionOf(Value condition);
  int addExpression(ta::Operator op, ArrayRef<int> operands, int64_t value = 0);
  void setTurn(Operation *op, int variable, int expression);
  void emitBranch(scf::IfOp branch, ta::Step step, int trip, int condition);
  // Clusters.cpp
  LogicalResult collectClusters();
  LogicalResult collectPhases();
  LogicalResult declareClusters();
  void addClusterChannel(ta::Channel channel);
  ta::Instruction &addCluster(ta::Step step, Operation *op, int channel);
  void beginCluster() {
    clusterPositions.clear();
    clusterArrivals = 0;
  }
  void emitClusterPhase(Operation *op);
  void emitClusterEnd(Operation *op);
  /// Whether `operand` is memory that a cluster shares.
  bool emitClusterAccess(Operation *op, OpOperand &operand);
  void emitPeers();
  void emitFor(scf::ForOp loop);
  void emitIf(scf::IfOp branch);
  void emitYield(Block &block, ValueRange into);

  void undecided(Operation *op, const Twine &why) {
    if (!reason.empty())
      return;
    reason = why.str();
    reasonOp = op;
  }
  int siteOf(Operation *op) {
    auto [it, inserted] = siteNumbers.try_emplace(op, sites.size());
    if (inserted)
      sites.push_back(op);
    return it->second;
  }
  int phaseOf(Value phase);
  ta::Instruction &add(ta::Step step, Operation *op) {
    ta::Instruction &instruction = builder->add(step);
    instruction.site = siteOf(op);
    return instruction;
  }
  ta::Instruction &addSlot(ta::Step step, Operation *op, Value ring,
                           Value phase) {
    int position = phaseOf(phase);
    ta::Instruction &instruction = add(step, op);
    instruction.channel = channelNumbers.lookup(ring);
    instruction.position = position;
    instruction.count =
        step == ta::Step::Commit || step == ta::Step::Release ? 1 : 0;
    return instruction;
  }
  void move(Operation *op, int into, int from) {
    if (into == from)
      return;
    ta::Instruction &instruction = add(ta::Step::Move, op);
    instruction.position = into;
    instruction.source = from;
  }
  /// Numbers the tiles in flight; those that a loop or a branch passes on to
  /// one another are in the same registers, and are one.
  void numberInFlight();
  int inFlightOf(Value value, Operation *op);
  /// What the team at hand has in flight at a scratch buffer.
  int scratchOf(Value scratch, GroupQueue queue);
  /// The parts of a slot's buffer; those of the team at hand where teams
  /// write it from registers.
  uint32_t partsOf(int channel, unsigned buffer, bool own);
  /// The number of the team at hand that `value` is, or -1.
  int64_t teamOf(Value value) const;
  /// The buffer of a slot that `value` views, if any.
  SlotBuffer getSlotBuffer(Value value) const;
  /// What a value is, as text that is equal where the values are; empty for
  /// data.
  std::string keyOf(Value value);
  std::string tripKey(scf::ForOp loop, std::string &lower, std::string &upper,
                      std::string &step);
  std::string contextOf(Operation *op);
  std::string shareKey(std::string key, Operation *op);
  int tripOf(const std::string &key, Operation *op);
  /// The constant number of iterations, or -1.
  int64_t constantTrips(scf::ForOp loop);
  /// Whether a loop of so many iterations is written out one by one.
  bool isUnrolled(int64_t count);
  /// The smallest constant count near `count` of a loop of any role.
  int64_t commonTrips(int64_t count);

  KernelOp kernel;
  int64_t registerFile, threadsPerWarp;
  RolesOp roles;
  SmallVector<Team> teams;
  DenseMap<Value, int> channelNumbers;
  /// For each channel and buffer the first part, and whether registers fill it.
  SmallVector<SmallVector<BufferParts>> bufferParts;
  llvm::EquivalenceClasses<const void *> inFlight;
  DenseMap<Value, int> turnBarriers;
  /// Scratch memory that other workgroups read, and its channel.
  llvm::SetVector<Value> sharedScratch;
  llvm::MapVector<Value, int> clusterMemory;
  /// The phase of the cluster's barrier that an operation comes to.
  llvm::MapVector<Operation *, int> clusterPhases;
  int numClusterPhases = 0, firstClusterChannel = -1;
  /// A team of each role that comes to the barrier.
  SmallVector<int> peerTeams;
  DenseMap<Operation *, int> siteNumbers;
  llvm::StringMap<int> trips;
  // State of the team whose code is being walked.
  ta::RoleBuilder *builder = nullptr;
  Team *team = nullptr;
  int teamNumber = 0;
  DenseMap<Value, int> phases;
  DenseMap<Value, int> turnVariables;
  DenseMap<int, int> clusterPositions;
  int clusterArrivals = 0;
  DenseMap<const void *, int> inFlightNumbers;
  DenseMap<std::pair<Value, int>, int> scratchNumbers;
  /// Loops that continue a trip count whose first decision a branch has read.
  DenseMap<Operation *, std::string> continued;
  llvm::StringMap<Operation *> branchesSeen;
  llvm::StringMap<Operation *> varying;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELPROTOCOL_EXTRACTOR_H
