//===- TargetEvents.h - What a vendor's operations are to a protocol ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The protocol of a lowered kernel is decided on events: a copy issued, a group
// of copies committed or waited for, a barrier reached, shared memory read or
// written. Which operations these are is a vendor's dialect to say; this is the
// one place that asks. What follows names no operation of any vendor.

#ifndef TRACEA_ANALYSIS_TARGETPROTOCOL_TARGETEVENTS_H
#define TRACEA_ANALYSIS_TARGETPROTOCOL_TARGETEVENTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tracea/Analysis/TargetProtocol/SharedAccess.h"

#include <memory>

namespace mlir::tracea {

/// The queues of groups that a role may have.
enum Queue : int {
  kMultiplies = 0,
  kStores = 1,
  kCopies = 2,
  /// Loads from the memory of other blocks.
  kPeers = 3
};

/// What one operation is.
struct TargetEvent {
  enum Kind : uint8_t {
    /// No vendor's: arithmetic, control flow, a load or a store.
    None,
    /// A vendor's, which neither orders nor touches shared memory.
    Harmless,

    // Integers, which are harmless as well.
    /// The thread's number in its block, and in its subgroup.
    ThreadId,
    LaneId,
    /// How many threads a block has.
    BlockSize,
    /// Whether the thread is the one that its subgroup elects.
    Elected,
    /// `value` of another lane, or of one lane for all of its subgroup.
    Shuffle,
    Broadcast,
    /// The place `value` in the memory of another block of the cluster.
    PeerAddress,

    /// It is a vendor's, and outside of the method.
    Unknown,

    // Barriers in shared memory: `barrier`, `count` arrivals.
    BarrierInit,
    InitFence,
    /// Arrives once for each of `count`, or expects `bytes`.
    Arrive,
    /// Does not return before the phase of `parity` is over.
    Wait,
    /// Says whether it is; nothing follows from it alone.
    Test,

    // Barriers of the block: number `id`, `count` threads; all without them.
    Sync,
    SyncArrive,
    /// The lanes of a subgroup, of which `value` is the mask.
    MeetLanes,

    // Order between units, and groups of what is under way in a queue.
    ProxyFence,
    CloseGroup,
    /// Until at most `number` groups are pending.
    WaitGroup,

    // Shared memory at `address`.
    /// A copy that one lane issues, and that counts its bytes at `barrier`.
    BulkCopyIn,
    /// A copy of what is there; one is under way until its group is over.
    BulkCopyOut,
    /// `number` bytes of each lane, under way in `queue` if there is one.
    LaneRead,
    LaneWrite,

    // Units that multiply behind the threads' back, together of `number`.
    Multiply,
    /// Orders registers before multiplies that take them.
    FenceRegisters,
    /// Each thread has `number` registers from here on.
    Registers,

    // The barrier of a cluster.
    ClusterArrive,
    /// Orders nothing that came before.
    ClusterArriveRelaxed,
    ClusterWait
  };
  Kind kind = None;
  Value barrier, parity, address, count, id, value;
  /// How many bytes: a number, or the box of a tensor map.
  Value bytes, tensorMap;
  int64_t number = 0;
  /// -1: it is over when the operation is.
  int queue = -1;
  /// All lanes of a subgroup have to reach it.
  bool isCollective = false;
  /// Why it is outside of the method as it stands; empty: it is not.
  StringRef doubt;

  bool isHarmless() const { return kind >= Harmless && kind <= PeerAddress; }
  /// Neither arithmetic nor anything that is harmless.
  bool isEvent() const { return kind >= Unknown; }
};

/// The reader of a vendor's kernels.
class TargetEvents {
public:
  virtual ~TargetEvents();

  virtual TargetEvent read(Operation *op) const = 0;

  /// Pointers into shared memory of the block, or of its cluster; of other
  /// blocks too.
  virtual bool isShared(Type type) const = 0;
  virtual bool isOfCluster(Type type) const = 0;

  /// The extents of a block, if the kernel says so, and how.
  virtual SmallVector<int32_t> getBlock(LLVM::LLVMFuncOp kernel) const = 0;
  virtual StringRef getBlockName() const = 0;
  /// How many blocks a multiprocessor has at least.
  virtual int64_t getBlocksAtOnce(LLVM::LLVMFuncOp kernel) const = 0;

  /// What a multiply reads in shared memory; fails where that is not
  /// understood.
  virtual FailureOr<SmallVector<Footprint>>
  getReads(Operation *multiply, ValueSymbols &values) const = 0;
  /// The operands of a multiply that are registers of its first factor.
  virtual SmallVector<Value> getFragments(Operation *multiply) const = 0;
  /// The sum that a multiply begins with, if its result takes the registers.
  virtual Value getAccumulator(Operation *multiply) const = 0;
};

/// The reader for a kernel; null for functions that are no vendor's kernel.
std::unique_ptr<TargetEvents> getTargetEvents(LLVM::LLVMFuncOp function);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_TARGETPROTOCOL_TARGETEVENTS_H
