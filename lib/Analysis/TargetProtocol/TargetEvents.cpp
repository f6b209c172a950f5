//===- TargetEvents.cpp - The reader of a kernel, by its vendor -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NVVM/NVVMEvents.h"

using namespace mlir;
using namespace mlir::tracea;

TargetEvents::~TargetEvents() = default;

std::unique_ptr<TargetEvents>
mlir::tracea::getTargetEvents(LLVM::LLVMFuncOp function) {
  if (NVVMEvents::isKernel(function))
    return std::make_unique<NVVMEvents>();
  return nullptr;
}
