//===- Passes.h - Proofs over kernels ---------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_PASSES_H
#define TRACEA_ANALYSIS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {

#define GEN_PASS_DECL
#include "tracea/Analysis/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tracea/Analysis/Passes.h.inc"

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_PASSES_H
