//===- SplitModule.h - Parts that threads compile ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TARGET_SPLIT_SPLITMODULE_H
#define TRACEA_TARGET_SPLIT_SPLITMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace mlir::tracea {

/// Copies of a module of the LLVM dialect, each with at least `functionsInPart`
/// of the functions that others may call, in their order (all of them where
/// there are fewer), and with all that those use. How a module is cut depends
/// on nothing else, so that its code is the same whatever number of threads
/// compiles the parts. Where one uses what is visible outside there is one
/// part: it would be defined twice.
std::vector<OwningOpRef<ModuleOp>> splitModule(ModuleOp module,
                                               size_t functionsInPart);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_SPLIT_SPLITMODULE_H
