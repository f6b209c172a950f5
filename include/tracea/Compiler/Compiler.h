//===- Compiler.h - Compile modules from C++ --------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The embedding API: a module in, a program out. Errors are reported through
// the diagnostics of the module's MLIRContext; nothing is thrown.

#ifndef TRACEA_COMPILER_COMPILER_H
#define TRACEA_COMPILER_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tracea/Runtime/ProgramFile.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class DialectRegistry;
class PassManager;
} // namespace mlir

namespace tracea::compiler {

/// Wall seconds of the steps of compilations, in the order in which they first
/// end. Some go on side by side: their sum may be more than what has passed.
struct StepTimes {
  std::vector<std::pair<std::string, double>> steps;

  void add(llvm::StringRef step, double seconds);
};

/// Which operations become one kernel: none, as they are written; those that
/// cannot take longer so; also those for which the cost model expects a gain.
enum class Fusion { None, Safe, All };

struct CompileOptions {
  /// "cpu" or "host" for this machine, or a name of the target tables. For a
  /// program also several, with commas between them: it then has a version for
  /// each, the first one preferred.
  std::string target = "cpu";
  /// The function to compile; empty: all public ones.
  std::string entry;
  /// The float64 meaning of the module by stock lowering: every float input
  /// and output of the program is f64.
  bool reference = false;
  /// A kernel that lacks a certificate is an error. Kernels are proved at the
  /// pipeline level: a module that enters below it must bring its certificates.
  bool requireProof = false;
  /// Cycles that a phase of an access to banked memory may take; more are an
  /// error.
  int bankCycles = 1;
  /// Cores to plan for; 0: all of the target's.
  int threads = 0;
  Fusion fuse = Fusion::Safe;
  /// For GPUs: machine code as well as the text that drivers compile, where an
  /// assembler is found.
  bool assemble = true;
  /// Called on the pass manager before it runs: timing, printing, reproducers.
  std::function<void(mlir::PassManager &)> configure;
  /// Where what steps take is added, if anywhere.
  StepTimes *times = nullptr;
};

/// Forms in which a compiled module can be had. The first four are text of the
/// IR at the end of the phase of that name.
enum class Emit {
  Semantic,
  Decision,
  Tile,
  Pipeline,
  LLVMDialect,
  LLVMIR,
  Assembly,
  Object,
  PTX,
  Cubin,
  Manifest,
  Program
};
/// "semantic", "decision", "tile", "pipeline", "llvm-dialect", "llvm", "asm",
/// "object", "ptx", "cubin", "program-manifest", "program".
std::optional<Emit> parseEmit(llvm::StringRef name);
/// All names of `parseEmit`, for messages.
std::string listEmitNames();

/// All dialects, interfaces and translations that the compiler needs.
void registerAllDialects(mlir::DialectRegistry &registry);
/// Tracea's passes and pipelines, for command line tools.
void registerAllPasses();

/// Compiles `module`, which is left as it is. The module may stand at any level
/// up to the decision level.
mlir::FailureOr<runtime::ProgramFile>
compileToProgram(mlir::ModuleOp module, const CompileOptions &options = {});

/// Proves the kernels of a module at the tile or the pipeline level, for any
/// target, and describes them with their certificates. No code is made.
mlir::FailureOr<std::vector<runtime::KernelSpec>>
proveKernels(mlir::ModuleOp module, const CompileOptions &options = {});

/// Compiles `module` as far as `what` needs and returns its text or bytes.
mlir::FailureOr<std::string> emit(mlir::ModuleOp module, Emit what,
                                  const CompileOptions &options = {});

/// Writes a module that already stands at the level that `what` needs: the LLVM
/// dialect for code (`asm` is PTX and `object` a cubin where the module's
/// target is a GPU; for `ptx` and `cubin` what `convert-tracea-pipe-to-nvvm`
/// leaves will do), the level of `translateToProgram` for programs.
mlir::FailureOr<std::string> emitLowered(mlir::ModuleOp module, Emit what,
                                         const CompileOptions &options = {});

/// Makes a program of a module at the pipeline level, or at the tile level when
/// it has nothing to pipeline: host functions bufferized and outlined, kernels
/// not yet lowered.
mlir::FailureOr<runtime::ProgramFile>
translateToProgram(mlir::ModuleOp module, const CompileOptions &options = {});

/// Parses textual MLIR or bytecode. `name` stands for the source in messages.
/// On failure the diagnostics of the context say where and why.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::StringRef text,
                                              mlir::MLIRContext &context,
                                              llvm::StringRef name = "<input>");
mlir::OwningOpRef<mlir::ModuleOp> parseModuleFile(llvm::StringRef path,
                                                  mlir::MLIRContext &context);

} // namespace tracea::compiler

#endif // TRACEA_COMPILER_COMPILER_H
