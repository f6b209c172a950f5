//===- Codegen.h - PTX for NVIDIA's GPUs ------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TARGET_CUDA_CODEGEN_H
#define TRACEA_TARGET_CUDA_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::tracea {

/// What LLVM needs to know of the GPU.
struct CUDAMachine {
  std::string chip = "sm_90a";
  /// LLVM's attribute string: the version of PTX.
  std::string features = "+ptx80";
};

enum class CUDAOutput { LLVMIR, PTX };

/// Translates a module of the LLVM and NVVM dialects, optimizes it and returns
/// the text. Floating-point flags come from the IR alone.
FailureOr<std::string> generateCUDACode(ModuleOp module,
                                        const CUDAMachine &machine,
                                        CUDAOutput output);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_CUDA_CODEGEN_H
