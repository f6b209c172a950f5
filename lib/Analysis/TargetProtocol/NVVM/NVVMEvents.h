//===- NVVMEvents.h - What operations of NVVM are to a protocol -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_NVVM_NVVMEVENTS_H
#define TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_NVVM_NVVMEVENTS_H

#include "tracea/Analysis/TargetProtocol/TargetEvents.h"

namespace mlir::tracea {

class NVVMEvents final : public TargetEvents {
public:
  TargetEvent read(Operation *op) const override;
  bool isShared(Type type) const override;
  bool isOfCluster(Type type) const override;
  SmallVector<int32_t> getBlock(LLVM::LLVMFuncOp kernel) const override;
  StringRef getBlockName() const override { return "nvvm.reqntid"; }
  int64_t getBlocksAtOnce(LLVM::LLVMFuncOp kernel) const override;
  FailureOr<SmallVector<Footprint>>
  getReads(Operation *multiply, ValueSymbols &values) const override;
  SmallVector<Value> getFragments(Operation *multiply) const override;
  Value getAccumulator(Operation *multiply) const override;

  static bool isKernel(LLVM::LLVMFuncOp function);
};

/// What a piece of inline assembly is.
TargetEvent readAssembly(LLVM::InlineAsmOp op);

/// Whether inline assembly is a multiply of a warpgroup.
bool isMultiplyAssembly(LLVM::InlineAsmOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_NVVM_NVVMEVENTS_H
