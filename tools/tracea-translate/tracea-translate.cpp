//===- tracea-translate.cpp - Lowered modules as code and programs --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last step of the compiler by itself: the LLVM dialect as LLVM IR,
// assembly or an object; a module at the pipeline level as a program or its
// manifest.

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Compiler/ParseSource.h"
#include "tracea/Compiler/SourceLimits.h"
#include "tracea/Compiler/ToolMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace tc = ::tracea::compiler;

static int translate(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  llvm::cl::OptionCategory category("tracea-translate options");
  llvm::cl::opt<std::string> input(
      llvm::cl::Positional, llvm::cl::desc("<input file>"), llvm::cl::init("-"),
      llvm::cl::cat(category));
  llvm::cl::opt<std::string> output(
      "o", llvm::cl::desc("Output file"), llvm::cl::value_desc("file"),
      llvm::cl::init("-"), llvm::cl::cat(category));
  llvm::cl::opt<std::string> what(
      "emit",
      llvm::cl::desc("What to write: llvm, asm, object (from the LLVM "
                     "dialect), ptx, cubin "
                     "(from the NVVM dialect), "
                     "program, program-manifest (from the pipeline level)"),
      llvm::cl::init("llvm"), llvm::cl::cat(category));
  llvm::cl::opt<std::string> entry(
      "entry",
      llvm::cl::desc("The function to export; default: all public ones"),
      llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Tracea translation driver\n");

  std::optional<tc::Emit> form = tc::parseEmit(what);
  if (!form) {
    llvm::errs() << "error: unknown form '" << what << "'; expected one of "
                 << tc::listEmitNames() << "\n";
    return 1;
  }
  std::string message;
  ::tracea::runtime::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      tc::readModuleText(input);
  if (!file) {
    llvm::errs() << "error: " << file.message() << "\n";
    return 1;
  }
  DialectRegistry registry;
  tc::registerAllDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = tc::parseSource(sources, context);
  if (!module)
    return 1;

  // The linker, used as a library, resets the command line's options.
  const std::string path = output;
  tc::CompileOptions options;
  options.entry = entry;
  FailureOr<std::string> text = tc::emitLowered(*module, *form, options);
  if (failed(text))
    return 1;
  std::unique_ptr<llvm::ToolOutputFile> out = openOutputFile(path, &message);
  if (!out) {
    llvm::errs() << "error: " << message << "\n";
    return 1;
  }
  out->os() << *text;
  return tc::finishOutput(*out);
}

int main(int argc, char **argv) { return tc::runTool(argc, argv, translate); }
