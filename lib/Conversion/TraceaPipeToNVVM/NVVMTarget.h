//===- NVVMTarget.h - One access, one copy, one meeting in NVVM -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's side of the interface of all GPUs: addresses are pointers of LLVM,
// copies beside lanes are cp.async, and teams meet at named barriers.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_NVVMTARGET_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_NVVMTARGET_H

#include "tracea/Conversion/TraceaPipeToGPU/Target.h"

namespace mlir::tracea_pipe {

class NVVMTarget : public GPUTarget {
public:
  using GPUTarget::GPUTarget;

  /// Bytes move by pairs: registers hold words, and a vector of less is taken
  /// apart again.
  int64_t getLeastVectorElementBytes() const override { return 2; }

  void meet(Emitter &b) override;
  bool isMeeting(Operation *op) const override;
  void meetWorkgroup(Emitter &b) override;
  void fenceUnits(Emitter &b) override;
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
  Value loadUnchanged(Emitter &b, Type type, const Address &address,
                      unsigned alignment) override;
  void raise(Emitter &b, Value word, const Address &address) override;
  bool isStagedLoad(Operation *op) const override;
  bool hasAddressNumbers() const override { return true; }
  Value getNumber(Emitter &b, const Address &address) override;
  Address select(Emitter &b, Value condition, const Address &yes,
                 const Address &no) override;

  void copyAsync(Emitter &b, const Address &to, const Address &from,
                 int64_t bytes, Value validBytes, bool streams) override;
  void commitCopies(Emitter &b) override;
  void waitForCopies(Emitter &b, int64_t pending) override;

  Value funnelShift(Emitter &b, Value high, Value low, Value bits) override;
  Value multiplyAdd(Emitter &b, Value x, Value y, Value z) override;
  bool hasByteDots() const override { return true; }
  Value dotBytes(Emitter &b, Value x, Value y, Value z) override;
  std::unique_ptr<MatrixInstruction>
  getMatrixInstruction(Type element, Type accumulator, Precision precision,
                       int64_t depth) const override;
  std::string describeMatrixInstructions() const override;
  void keepLoop(scf::ForOp loop) override;

  /// The beginning of the workgroup's memory, !llvm.ptr<3>, and the same as a
  /// number, i32. Whoever makes the function of a kernel sets them.
  Value shared, sharedAddress;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_NVVMTARGET_H
