//===- Exporter.h - From a module to its manifest ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the export of a program keeps beside the manifest: one exporter for the
// module, and one for each of its functions.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_TARGET_PROGRAM_EXPORTER_H
#define TRACEA_LIB_TARGET_PROGRAM_EXPORTER_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tracea/Target/Program/Export.h"
#include "tracea/Target/Program/SymbolicEvaluator.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::tracea {
namespace rt = ::tracea::runtime;
using tracea_pipe::KernelOp;
using tracea_pipe::LaunchOp;

/// The functions of a module, and what they share: constants and kernels.
class Exporter {
public:
  Exporter(ModuleOp module, ModuleOp code, const ExportOptions &options)
      : module(module), code(code), options(options), symbols(module) {}

  FailureOr<rt::ProgramFile> run();

private:
  LogicalResult exportTarget();
  bool isForGPU() const { return program.manifest.target.hasGrid(); }
  FailureOr<int64_t> exportConstant(memref::GlobalOp global);
  FailureOr<int64_t> exportKernel(LaunchOp launch, FlatSymbolRefAttr name);

  friend class EntryExporter;
  ModuleOp module, code;
  ExportOptions options;
  SymbolTable symbols;
  rt::ProgramFile program;
  llvm::StringMap<int64_t> constants; // by contents
  DenseMap<Operation *, int64_t> globals, kernels;
  /// The lowered kernels, by their numbers.
  SmallVector<LLVM::LLVMFuncOp> functions;
};

/// One function.
class EntryExporter {
public:
  EntryExporter(Exporter &parent, func::FuncOp function)
      : parent(parent), function(function), exprs(entry.exprs),
        evaluator(entry.exprs, [this](int64_t expr, std::string message) {
          addCheck(expr, std::move(message));
        }) {}

  FailureOr<rt::EntrySpec> run();

private:
  using Expr = SymbolicEvaluator::Expr;
  using View = SymbolicEvaluator::View;

  LogicalResult exportInput(BlockArgument argument);
  LogicalResult exportOp(Operation &op);
  LogicalResult exportAlloc(memref::AllocOp alloc);
  LogicalResult exportGlobal(memref::GetGlobalOp get);
  LogicalResult exportAssert(cf::AssertOp check);
  LogicalResult exportLaunch(LaunchOp launch);
  FailureOr<rt::ArgSpec> exportScalar(Operation *op, Value value);
  FailureOr<rt::StepSpec> exportStep(LaunchOp launch, FlatSymbolRefAttr name);
  FailureOr<Expr> exportFit(LaunchOp launch, unsigned number);
  LogicalResult exportMove(Operation *op);
  FailureOr<View> exportWritten(Operation *op, Value memory, const Twine &what);
  LogicalResult exportTables();
  LogicalResult exportSteps();
  LogicalResult exportReturn(func::ReturnOp op);
  FailureOr<Expr> countTiles(LaunchOp launch, KernelOp kernel);
  void addCheck(int64_t expr, std::string message);
  FailureOr<rt::ElementType> elementType(Location loc, MemRefType type);

  Exporter &parent;
  func::FuncOp function;
  rt::EntrySpec entry;
  rt::ExprBuilder exprs;
  SymbolicEvaluator evaluator;
  struct Launch {
    /// One for each kernel that may run.
    SmallVector<rt::StepSpec, 1> steps;
    /// Of a launch of kernels for results of several sizes, whether this one is
    /// for the result at hand.
    SmallVector<Expr, 1> fits;
  };
  SmallVector<Launch> launches;
  /// Buffers that the run makes, by number.
  SmallVector<std::pair<memref::AllocOp, int64_t>> tables;
  /// The expressions that have a check.
  llvm::DenseSet<int64_t> checked;
  /// The buffers of the constants that have one.
  DenseMap<int64_t, int64_t> constantBuffers;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TARGET_PROGRAM_EXPORTER_H
