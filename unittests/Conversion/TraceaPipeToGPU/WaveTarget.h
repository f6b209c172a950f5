//===- WaveTarget.h - A made-up GPU of 64 lanes -----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A second target of the level that all GPUs share, as unlike the first one as
// its interface allows: waves of 64 lanes, buffers that are a handle and a
// number of bytes instead of a pointer, no asynchronous copies, no named
// barriers, and matrix instructions of 16×16 blocks. Its own operations are
// called wave.*, and its machine runs them.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_WAVETARGET_H
#define TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_WAVETARGET_H

#include "Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "tracea/Conversion/TraceaPipeToGPU/Target.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

class WaveTarget : public GPUTarget {
public:
  WaveTarget();

  void meet(Emitter &b) override;
  bool isMeeting(Operation *op) const override;
  void meetWorkgroup(Emitter &b) override;
  Value shuffle(Emitter &b, Value word, Value offset,
                gpu::ShuffleMode mode) override;

  Value getStart(Emitter &, Value converted) override { return converted; }
  Address getStaged(Emitter &b, const StagedWindow &window, Value offset,
                    int64_t constant) override;
  Address getGlobal(Emitter &b, const GlobalBuffer &buffer,
                    Coordinate coordinate) override;
  Address move(Emitter &b, const GlobalBuffer &buffer, const Address &address,
               Coordinate more) override;
  Address advance(Emitter &b, const Address &address, Type element,
                  int64_t elements) override;
  Address advance(Emitter &b, const Address &address, Type element,
                  Value elements) override;
  Value load(Emitter &b, Type type, const Address &address,
             unsigned alignment) override;
  void store(Emitter &b, Value value, const Address &address,
             unsigned alignment) override;
  void raise(Emitter &b, Value word, const Address &address) override;
  bool isStagedLoad(Operation *op) const override;
  void keepLoop(scf::ForOp) override {}

  std::unique_ptr<MatrixInstruction>
  getMatrixInstruction(Type element, Type accumulator, Precision precision,
                       int64_t depth) const override;
  std::string describeMatrixInstructions() const override {
    return "i8 into i32";
  }

  /// The handle of the workgroup's memory, set by whoever makes the function.
  Value shared;
};

/// Lowers a kernel to a gpu.func of this target; null, with an error, where
/// that fails.
gpu::GPUFuncOp lowerToWaves(KernelOp kernel);

/// The banks of the target, and so its lanes.
::tracea::algebra::BankModel getWaveBanks();

/// Runs the target's own operations.
class WaveMachine : public Interpreter {
public:
  explicit WaveMachine(int64_t waves) : Interpreter(waves, getWaveBanks()) {}

  int64_t numMultiplies = 0;

private:
  bool runTarget(Operation &op, const std::vector<bool> &active) override;
  void multiply(Operation &op);
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_WAVETARGET_H
