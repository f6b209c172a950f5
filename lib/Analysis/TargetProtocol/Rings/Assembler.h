//===- Assembler.h - Rings and buffers out of the roles' events -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_ASSEMBLER_H
#define TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_ASSEMBLER_H

#include "tracea/Analysis/TargetProtocol/Program.h"
#include "tracea/Analysis/TargetProtocol/Recovery.h"

#include <map>
#include <set>

namespace mlir::tracea {

/// Barriers that one expression indexes.
struct BarrierArray {
  int64_t base = 0, stride = 8;
  int slots = 1;
  int64_t count = 0;
  uint32_t arrivers = 0, waiters = 0;
  /// Bulk copies complete on it.
  bool counted = false;
  int channel = -1;
  bool full = true;
  Operation *op = nullptr;
};

/// Bytes that are filled together: one part of each slot of a channel.
struct BufferRegion {
  int64_t base = 0, stride = 0, length = 0;
  int slots = 1;
  int channel = -1, part = 0;
  /// Filled by bulk copies.
  bool copied = false;
  /// Read by the asynchronous proxy.
  bool readAsync = false;
  uint32_t writers = 0;
  /// The writers that write with all lanes of a warp.
  uint32_t wideWriters = 0;
  Operation *op = nullptr;
};

class Assembler {
public:
  Assembler(KernelContext &context, ArrayRef<RoleProgram> programs,
            const RecoveryOptions &options)
      : context(context), programs(programs), options(options) {}

  RecoveredProtocol run();

private:
  // BarrierArrays.cpp
  void findArrays();
  void pairArrays();
  int arrayOf(const Linear &barrier) const;
  std::optional<int64_t> firstParity(int array) const;

  // Regions.cpp
  void findRegions();
  void findLooseRegions();
  void findLooseRegions(const RoleProgram &program, unsigned number,
                        bool isFixed, size_t copied);
  void checkOverlaps();
  int slotsOf(const RoleProgram &program, const Linear &address,
              int64_t stride);

  // RegisterFences.cpp
  void checkRegisterFences();

  // Clusters.cpp
  void addPeers();
  void declareCluster();
  void assembleCluster(const Event &event);
  void assembleClusterEnd(Operation *op);

  // Assembler.cpp
  void declareChannels();
  bool passTurns(uint32_t roles) const;
  void budgetRegisters();
  void assemble(unsigned number);
  void assembleEvent(const Event &event, unsigned number);
  void assembleAccess(const Event &event, unsigned number);
  /// Channel, expression of the slot, parts.
  using SlotParts = std::tuple<int, int, uint32_t>;
  bool isReadAgain(const Event &event, SlotParts slot);
  void pruneVariables(::tracea::analysis::Role &role);
  int expressionOf(const Symbol *symbol, Operation *op);
  int slotOf(const Linear &address, int64_t base, int64_t stride,
             Operation *op);
  ::tracea::analysis::Instruction &add(::tracea::analysis::Step step,
                                       const Event &event);
  int siteOf(Operation *op);
  void fault(::tracea::analysis::Property property, const Twine &message,
             Operation *op, Operation *other = nullptr, StringRef note = "");

  KernelContext &context;
  ArrayRef<RoleProgram> programs;
  /// The block's, and those that stand for its peers; empty without a cluster.
  std::vector<RoleProgram> allPrograms;
  const RecoveryOptions &options;
  RecoveredProtocol result;
  std::vector<BarrierArray> arrays;
  /// Values that the variables of a program may take.
  std::map<const RoleProgram *, std::vector<std::set<uint64_t>>> reachable;
  std::vector<BufferRegion> regions;
  DenseMap<Operation *, int> siteNumbers;
  std::map<int64_t, int> namedBarriers;
  /// The initialisation of each barrier.
  struct Init {
    int64_t count = 0;
    Operation *op = nullptr;
  };
  std::map<int64_t, Init> inits;
  // State of the role whose events are being assembled.
  ::tracea::analysis::RoleBuilder *builder = nullptr;
  DenseMap<const Symbol *, int> expressions;
  /// What is read since anything else happened.
  std::set<std::tuple<SlotParts, LaneSet, bool>> reads;
  std::vector<int> valueNumbers;
  std::optional<int64_t> electedLane;
  llvm::DenseSet<int64_t> initialized, fenced;
  int clusterPhases = 0, firstClusterChannel = -1;
  int clusterArrivals = 0, clusterWaits = 0;
};

/// What tells which lane an election takes: a thread, or -1 - warp for the one
/// that the warp elects.
int64_t laneOf(const Symbol *condition, ThreadRange threads);

/// The greatest common divisor of the factors of variables; 0 if there is none.
int64_t strideOf(const Linear &address);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_ASSEMBLER_H
