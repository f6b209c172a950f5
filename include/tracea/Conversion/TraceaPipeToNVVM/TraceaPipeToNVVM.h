//===- TraceaPipeToNVVM.h - From NVVM's level to LLVM -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETONVVM_TRACEAPIPETONVVM_H
#define TRACEA_CONVERSION_TRACEAPIPETONVVM_TRACEAPIPETONVVM_H

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mlir::tracea {

/// What `convert-tracea-pipe-to-nvvm` leaves, down to the LLVM dialect.
void buildNVVMToLLVMPipeline(OpPassManager &manager);
/// The dialects' ways to LLVM that it asks for.
void registerNVVMToLLVMInterfaces(DialectRegistry &registry);
/// Registers it as `tracea-nvvm-to-llvm`.
void registerNVVMToLLVMPipeline();

} // namespace mlir::tracea

#endif // TRACEA_CONVERSION_TRACEAPIPETONVVM_TRACEAPIPETONVVM_H
