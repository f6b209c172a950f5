//===- Interpreter.h - Runs the code of a workgroup, lane by lane ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All threads of one workgroup execute a gpu.func in lockstep, operation by
// operation. It knows what register tiles lower to, and nothing of lane maps.
// Shared memory watches for reads of what nobody wrote, and for threads that
// meet in a byte with no barrier between them, which lockstep alone would hide.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_INTERPRETER_H
#define TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_INTERPRETER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tracea/Algebra/Banks.h"
#include "llvm/ADT/DenseMap.h"
#include <string>
#include <vector>

namespace mlir::tracea_pipe {

/// The bits of a value's elements, for each thread.
using ThreadValues = std::vector<std::vector<uint64_t>>;

/// A buffer as a function argument: row-major, `bytes` long.
struct BufferArgument {
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

class Interpreter {
public:
  Interpreter(int64_t warps, ::tracea::algebra::BankModel banks)
      : warps(warps), banks(std::move(banks)) {}
  virtual ~Interpreter() = default;

  int64_t getNumThreads() const { return warps * banks.numLanes(); }

  /// Runs the function. Arguments are values, or buffers where the type is a
  /// memref; buffers keep what was written. Returns what is wrong, or nothing.
  std::string run(gpu::GPUFuncOp func, ArrayRef<ThreadValues> values,
                  MutableArrayRef<BufferArgument> buffers);

  /// The number of the workgroup.
  int64_t workgroup = 0;
  /// What the function returned.
  std::vector<ThreadValues> results;
  int64_t numShuffles = 0, numBarriers = 0, numSelects = 0;
  /// The worst bank conflict of an access to shared memory.
  int64_t worstDegree = 0;
  /// Bytes of the widest access of a thread to a buffer.
  int64_t widestAccess = 0;

protected:
  /// Runs an operation of a target; false for one that it does not know.
  virtual bool runTarget(Operation &op, const std::vector<bool> &active) {
    return false;
  }
  /// All threads meet.
  void meet() {
    ++numBarriers;
    ++epoch;
  }
  /// Words of other lanes of the subgroup.
  void shuffle(Value result, Value word, Value offset, gpu::ShuffleMode mode);
  void fail(const std::string &what) {
    if (problem.empty())
      problem = what;
  }

  DenseMap<Value, ThreadValues> values;

private:
  struct Memory {
    std::vector<uint8_t> bytes;
    bool isShared = false;
    /// For each byte the last writer and readers, as thread and the number of
    /// barriers before; -1 is nobody, -2 are several.
    std::vector<int64_t> writer, writeEpoch, reader, readEpoch;
  };
  struct Reference {
    int64_t memory;
    std::vector<int64_t> shape, strides; // In elements.
    Type elementType;
    std::vector<int64_t> offsets; // In bytes, by thread.
  };

  void runBlock(Block &block, const std::vector<bool> &active);
  void runOperation(Operation &op, const std::vector<bool> &active);
  bool runScalar(Operation &op, const std::vector<bool> &active);
  bool runVector(Operation &op, const std::vector<bool> &active);
  bool runMemory(Operation &op, const std::vector<bool> &active);
  bool runThreads(Operation &op, const std::vector<bool> &active);
  void access(Operation &op, Value memref, ValueRange indices, int64_t elements,
              ThreadValues *loaded, const ThreadValues *stored,
              const std::vector<bool> &active);
  void runLoop(scf::ForOp loop, const std::vector<bool> &active);
  /// Applies `compute` to the elements of each thread.
  void forEach(Operation &op, const std::vector<bool> &active,
               function_ref<uint64_t(ArrayRef<uint64_t>)> compute);

  int64_t warps;
  ::tracea::algebra::BankModel banks;
  DenseMap<Value, Reference> references;
  std::vector<Memory> memories;
  int64_t epoch = 0;
  std::string problem;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_INTERPRETER_H
