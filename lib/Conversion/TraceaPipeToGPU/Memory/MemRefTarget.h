//===- MemRefTarget.h - Accesses to memrefs, of no vendor -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target of `convert-tracea-pipe-to-gpu`: an address is a memref and its
// indices, and lanes and meetings are those of the gpu dialect.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_MEMREFTARGET_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_MEMREFTARGET_H

#include "tracea/Conversion/TraceaPipeToGPU/KernelPlan.h"
#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"
#include <deque>

namespace mlir::tracea_pipe {

class MemRefTarget : public GPUTarget {
public:
  explicit MemRefTarget(GPULoweringContext &lowering);

  const Team &getTeam(Emitter &b) override;
  void meet(Emitter &b) override;
  bool isMeeting(Operation *op) const override;
  void meetWorkgroup(Emitter &b) override;
  Value shuffle(Emitter &b, Value word, Value offset,
                gpu::ShuffleMode mode) override;

  bool describe(Value memory, GlobalBuffer &buffer) override;
  Value getStart(Emitter &b, Value converted) override;
  Address getStaged(Emitter &b, const StagedWindow &window, Value offset,
                    int64_t constant) override;
  Address getGlobal(Emitter &b, const GlobalBuffer &buffer,
                    Coordinate coordinate) override;
  Address advance(Emitter &b, const Address &address, Type element,
                  int64_t elements) override;
  Address move(Emitter &b, const GlobalBuffer &buffer, const Address &address,
               Coordinate more) override;
  Address advance(Emitter &b, const Address &address, Type element,
                  Value elements) override;
  Value load(Emitter &b, Type type, const Address &address,
             unsigned alignment) override;
  void store(Emitter &b, Value value, const Address &address,
             unsigned alignment) override;
  void raise(Emitter &b, Value word, const Address &address) override;
  bool isStagedLoad(Operation *op) const override;
  /// Loops of this level have no annotations.
  void keepLoop(scf::ForOp) override {}

private:
  GPULoweringContext &lowering;
  /// The teams of the operations that are lowered; patterns keep references to
  /// them.
  std::deque<Team> teams;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_MEMREFTARGET_H
