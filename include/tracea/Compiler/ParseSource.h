//===- ParseSource.h - Modules within the limits ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_COMPILER_PARSESOURCE_H
#define TRACEA_COMPILER_PARSESOURCE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace tracea::compiler {

/// Parses and verifies the main file of `sources`, text that `findDeepNesting`
/// has nothing against, or bytecode. Bytecode is read without recursion, to any
/// depth; regions, attributes and types that nest deeper than `mostNesting` are
/// an error before anything recurses over them.
mlir::OwningOpRef<mlir::ModuleOp> parseSource(llvm::SourceMgr &sources,
                                              mlir::MLIRContext &context);

/// Whether bytecode keeps to these limits, for those who read it themselves.
/// Says why not, to stderr.
bool keepsToLimits(llvm::SourceMgr &bytecode, mlir::MLIRContext &context);

} // namespace tracea::compiler

#endif // TRACEA_COMPILER_PARSESOURCE_H
