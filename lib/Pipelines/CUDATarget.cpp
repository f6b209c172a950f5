//===- CUDATarget.cpp - From the pipeline level to NVIDIA's GPUs ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How: functions of the LLVM and NVVM dialects.

#include "TargetPhases.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Conversion/TraceaPipeToNVVM/TraceaPipeToNVVM.h"
#include "tracea/Pipelines/Passes.h"

using namespace mlir;
using namespace mlir::tracea;

void mlir::tracea::addCUDATargetPhase(OpPassManager &manager, bool verify,
                                      bool requireProof) {
  manager.addPass(createLowerPlainLoops());
  manager.addPass(createConvertTraceaPipeToNVVM());
  buildNVVMToLLVMPipeline(manager);
  if (!verify)
    return;
  // Of what is translated to LLVM IR, after the last pass.
  VerifyTargetProtocolOptions protocol;
  protocol.requireProof = requireProof;
  manager.addNestedPass<LLVM::LLVMFuncOp>(createVerifyTargetProtocol(protocol));
}
