//===- CompileCUDA.h - Code and programs for NVIDIA's GPUs ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_COMPILER_COMPILECUDA_H
#define TRACEA_LIB_COMPILER_COMPILECUDA_H

#include "tracea/Compiler/Compiler.h"
#include "tracea/Target/Program/Export.h"

namespace tracea::compiler {

/// Whether the module's target is one of NVIDIA's GPUs.
bool isForCUDA(mlir::ModuleOp module);

/// PTX of a module at the target level, or of what
/// `convert-tracea-pipe-to-nvvm` leaves.
mlir::FailureOr<std::string> emitPTX(mlir::ModuleOp module,
                                     const CompileOptions &options);
/// LLVM IR of the same.
mlir::FailureOr<std::string> emitCUDALLVM(mlir::ModuleOp module,
                                          const CompileOptions &options);
/// Machine code; an error where there is no assembler.
mlir::FailureOr<std::string> emitCubin(mlir::ModuleOp module,
                                       const CompileOptions &options);

/// The program of the lowered kernels of `code`, which `describe` exports: they
/// are proved before that, while the assembler works.
mlir::FailureOr<runtime::ProgramFile> makeCUDAProgram(
    mlir::ModuleOp code,
    llvm::function_ref<mlir::FailureOr<runtime::ProgramFile>()> describe,
    const CompileOptions &options);

} // namespace tracea::compiler

#endif // TRACEA_LIB_COMPILER_COMPILECUDA_H
