//===- CompileParts.h - Machine code by several threads ---------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TARGET_SPLIT_COMPILEPARTS_H
#define TRACEA_TARGET_SPLIT_COMPILEPARTS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace mlir::tracea {

/// For what stays one part, such as a text for its reader.
constexpr size_t kOnePart = std::numeric_limits<size_t>::max();

/// Kernels that are compiled together, by a thread of their own.
struct CodePart {
  OwningOpRef<ModuleOp> module;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> target;
  std::unique_ptr<llvm::Module> code;
  /// What `compile` writes: text, or an object file.
  std::string result;
};

/// Cuts `module` in parts (`splitModule`), calls `translate` for one after the
/// other, which sets their target and code, and `compile` on the context's
/// threads, which sets their results. Returns these in the parts' order.
FailureOr<std::vector<std::string>>
compileParts(ModuleOp module, size_t functionsInPart,
             function_ref<LogicalResult(CodePart &)> translate,
             function_ref<LogicalResult(CodePart &)> compile);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_SPLIT_COMPILEPARTS_H
