//===- GPULaunch.h - How a program launches kernels on a GPU ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TARGET_PROGRAM_GPULAUNCH_H
#define TRACEA_TARGET_PROGRAM_GPULAUNCH_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tracea/Target/Program/Export.h"

namespace mlir::tracea {

/// What the lowered function of a kernel says of itself: threads, shared
/// memory, and what was proved of it.
LogicalResult describeGPUKernel(::tracea::runtime::KernelSpec &kernel,
                                LLVM::LLVMFuncOp function);

/// Turns the steps of one launch, with the arguments of their kernels, into
/// launches of the lowered `functions`: a grid, parameters in the order of the
/// code, tensor maps with the conditions under which the hardware can address
/// what they describe. Of several steps the first that can run on the arguments
/// at hand, and whose expression in `fits` is not zero, has tiles, the others
/// have none. A run that none can do fails by what `addCheck` is told, an
/// expression that must not be zero and why.
LogicalResult
exportGPULaunch(::tracea::runtime::EntrySpec &entry,
                MutableArrayRef<::tracea::runtime::StepSpec> steps,
                ArrayRef<LLVM::LLVMFuncOp> functions, ArrayRef<int64_t> fits,
                function_ref<void(int64_t, std::string)> addCheck);

/// Adds the code of all kernels: PTX, and a cubin unless it is empty. `chip` is
/// what both are for.
void addGPUImages(::tracea::runtime::ProgramFile &program, StringRef ptx,
                  StringRef cubin, StringRef chip);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_PROGRAM_GPULAUNCH_H
