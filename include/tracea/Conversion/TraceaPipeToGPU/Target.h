//===- Target.h - What a vendor's lowering provides -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lowering of tiles, copies and rings to GPUs is written once, against this
// interface. It decides which lane accesses what and when lanes meet; a target
// says how one access, one asynchronous copy and one meeting are written in its
// dialect. Numbers that differ between machines (lanes of a subgroup, named
// barriers, bytes of shared memory) come from the tables of TargetInfo.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_TARGET_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_TARGET_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/TargetInfo/TargetInfo.h"

namespace mlir::tracea_pipe {

class Emitter;
class MatrixInstruction;
struct GlobalBuffer;
struct StagedWindow;
struct Team;

/// A place in memory. What its parts are is the target's business: a pointer
/// alone, or a buffer and indices into it where there is no arithmetic on
/// pointers.
struct Address {
  Value base;
  SmallVector<Value, 2> indices;
};

/// The two ways of LDS, threadgroup or shared memory and of device memory into
/// the registers of a lane, copies that run beside lanes, and meetings.
class GPUTarget {
public:
  explicit GPUTarget(const ::tracea::target::TargetDescription &facts)
      : facts(facts) {}
  virtual ~GPUTarget();

  int64_t getSubgroupSize() const { return facts.occupancy.subgroupSize; }
  /// The bits of a lane's number in its subgroup.
  size_t getNumLaneBits() const;
  /// Bytes of the widest access of a lane.
  int64_t getMostAccessBytes() const { return 16; }
  /// Bytes of the smallest element that staged memory is accessed by vectors
  /// of.
  virtual int64_t getLeastVectorElementBytes() const { return 1; }

  //===--------------------------------------------------------------------===//
  // Lanes
  //===--------------------------------------------------------------------===//

  /// The team that runs the emitter's operation; by default the one that the
  /// kernel's plan has for it.
  virtual const Team &getTeam(Emitter &b);
  /// The lanes of the team meet, and see what the others have stored.
  virtual void meet(Emitter &b) = 0;
  /// Whether `op` is such a meeting.
  virtual bool isMeeting(Operation *op) const = 0;
  /// All lanes of the workgroup meet.
  virtual void meetWorkgroup(Emitter &b) = 0;
  /// What the lanes of a team that feeds units have stored becomes visible to
  /// these.
  virtual void fenceUnits(Emitter &b) {}
  /// The word (i32 or f32) of another lane of the subgroup: `offset` (i32) is
  /// its number, or what leads to it.
  virtual Value shuffle(Emitter &b, Value word, Value offset,
                        gpu::ShuffleMode mode) = 0;

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// What is known of memory that is no argument of the kernel's; false where
  /// the target reaches arguments alone.
  virtual bool describe(Value memory, GlobalBuffer &buffer) { return false; }
  /// The bytes (i32) from where getStaged counts to a staged buffer, of which
  /// `converted` is what the conversion made.
  virtual Value getStart(Emitter &b, Value converted) = 0;
  /// The place of a byte of staged memory: `offset` (i32) includes what
  /// getStart gave for the window's buffer.
  virtual Address getStaged(Emitter &b, const StagedWindow &window,
                            Value offset, int64_t constant) = 0;
  /// The place of an element of a buffer. `coordinate` emits the one of a
  /// dimension, an index, where the target wants it; each once, in order.
  using Coordinate = function_ref<Value(unsigned)>;
  virtual Address getGlobal(Emitter &b, const GlobalBuffer &buffer,
                            Coordinate coordinate) = 0;
  /// The place that is further on by so much along each dimension, an index, or
  /// null for nothing.
  virtual Address move(Emitter &b, const GlobalBuffer &buffer,
                       const Address &address, Coordinate more) = 0;
  /// So many elements further on in a row; a value is an i64.
  virtual Address advance(Emitter &b, const Address &address, Type element,
                          int64_t elements) = 0;
  virtual Address advance(Emitter &b, const Address &address, Type element,
                          Value elements) = 0;
  /// Accesses of a scalar or vector; an alignment of 0 is the type's own.
  virtual Value load(Emitter &b, Type type, const Address &address,
                     unsigned alignment) = 0;
  virtual void store(Emitter &b, Value value, const Address &address,
                     unsigned alignment) = 0;
  /// A load of what nobody writes while the kernel runs. It stays behind what
  /// the kernel waits for first.
  virtual Value loadUnchanged(Emitter &b, Type type, const Address &address,
                              unsigned alignment) {
    return load(b, type, address, alignment);
  }
  /// Leaves the greater of `word` (i64, taken without a sign) and what memory
  /// holds there, whatever other lanes leave at the same time.
  virtual void raise(Emitter &b, Value word, const Address &address) = 0;
  /// Whether `op` is a load from staged memory.
  virtual bool isStagedLoad(Operation *op) const = 0;

  /// Whether an address is a number, so that a run can look at its alignment.
  virtual bool hasAddressNumbers() const { return false; }
  /// The bytes of an address as a number (i64), where there are any.
  virtual Value getNumber(Emitter &b, const Address &address);
  /// `condition ? yes : no`.
  virtual Address select(Emitter &b, Value condition, const Address &yes,
                         const Address &no);

  //===--------------------------------------------------------------------===//
  // Copies that run beside the lanes
  //===--------------------------------------------------------------------===//

  /// Starts a copy of 4, 8 or 16 bytes of global to staged memory. With
  /// `validBytes` (i32) what lies behind those becomes zero. `streams`: nobody
  /// near will read the source again, so that it need not stay in the first
  /// cache.
  virtual void copyAsync(Emitter &b, const Address &to, const Address &from,
                         int64_t bytes, Value validBytes, bool streams);
  /// Closes the group of the copies that this lane has started.
  virtual void commitCopies(Emitter &b);
  /// Waits until at most `pending` groups of this lane are under way.
  virtual void waitForCopies(Emitter &b, int64_t pending);

  //===--------------------------------------------------------------------===//
  // Arithmetic and control
  //===--------------------------------------------------------------------===//

  /// The low word of (high : low) shifted to the right by 0 to 31 bits, i32.
  virtual Value funnelShift(Emitter &b, Value high, Value low, Value bits);
  /// x · y + z, rounded once.
  virtual Value multiplyAdd(Emitter &b, Value x, Value y, Value z);
  /// Whether there is an instruction for dot products of four bytes: z plus the
  /// one of two vectors of four i8.
  virtual bool hasByteDots() const { return false; }
  virtual Value dotBytes(Emitter &b, Value x, Value y, Value z);
  /// The instruction of a subgroup that multiplies such elements, the deepest
  /// of those that make up `depth` of k; null where there is none.
  virtual std::unique_ptr<MatrixInstruction>
  getMatrixInstruction(Type element, Type accumulator, Precision precision,
                       int64_t depth) const;
  /// What they multiply, for a message.
  virtual std::string describeMatrixInstructions() const { return "nothing"; }
  /// Code generation must not unroll the loop.
  virtual void keepLoop(scf::ForOp loop) = 0;

  const ::tracea::target::TargetDescription facts;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_TARGET_H
