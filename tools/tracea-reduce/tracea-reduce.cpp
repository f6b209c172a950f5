//===- tracea-reduce.cpp - Shrinks IR that shows a failure ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Support/FileUtilities.h"
#include "tracea/Compiler/ParseSource.h"
#include "tracea/Compiler/SourceLimits.h"
#include "tracea/Compiler/ToolMain.h"
#include "tracea/InitTracea.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace tc = ::tracea::compiler;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

// MLIR's own driver opens the module itself, whatever its size and depth.
static int run(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                   llvm::cl::desc("<input file>"),
                                   llvm::cl::init("-"));
  llvm::cl::opt<std::string> output("o", llvm::cl::desc("Output file"),
                                    llvm::cl::value_desc("file"),
                                    llvm::cl::init("-"));
  llvm::cl::opt<bool> allowUnregistered(
      "allow-unregistered-dialect",
      llvm::cl::desc("Allow operations of dialects that are not registered"));
  registerAllPasses();
  registerReducerPasses();
  PassPipelineCLParser pipeline("", "Reductions to run");
  llvm::cl::ParseCommandLineOptions(argc, argv, "Tracea reduction driver\n");

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  mlir::tracea::registerTraceaDialects(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects(allowUnregistered);

  ::tracea::runtime::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      tc::readModuleText(input);
  if (!file)
    return fail(file.message());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = tc::parseSource(sources, context);
  if (!module)
    return 1;

  PassManager manager(&context);
  auto reportError = [&](const llvm::Twine &message) {
    return emitError(UnknownLoc::get(&context)) << message;
  };
  if (failed(pipeline.addToPipeline(manager, reportError)) ||
      failed(manager.run(*module)))
    return 1;

  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> out = openOutputFile(output, &message);
  if (!out)
    return fail(message);
  module->print(out->os());
  return tc::finishOutput(*out);
}

int main(int argc, char **argv) { return tc::runTool(argc, argv, run); }
