//===- tracea-opt.cpp - Runs pass pipelines over IR -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Compiler/ParseSource.h"
#include "tracea/Compiler/SourceLimits.h"
#include "tracea/Compiler/ToolMain.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Conversion/TraceaPipeToNVVM/TraceaPipeToNVVM.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "tracea/Doctor/Passes.h"
#include "tracea/InitTracea.h"
#include "tracea/Pipelines/Passes.h"
#include "tracea/Pipelines/Pipelines.h"
#include "tracea/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

/// Whether bytecode keeps to the limits. What else may be wrong with it is left
/// to whoever reads it next.
static bool canBeRead(const llvm::MemoryBuffer &bytecode,
                      const mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry);
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(bytecode.getMemBufferRef(),
                                       /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  return tracea::compiler::keepsToLimits(sources, context);
}

/// What MlirOptMain does by itself, with the input read within our limits.
static int optimize(int argc, char **argv, mlir::DialectRegistry &registry) {
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Tracea optimizer driver\n", registry);
  mlir::MlirOptMainConfig config =
      mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldListPasses() || config.shouldShowDialects())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));

  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  tracea::runtime::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      tracea::compiler::readModuleText(input, config.inputSplitMarker());
  if (!file) {
    llvm::errs() << "error: " << file.message() << "\n";
    return 1;
  }
  // MlirOptMain reads the module itself; whether it may is found out first.
  if (tracea::compiler::isBytecode((*file)->getBuffer()) &&
      !canBeRead(**file, registry))
    return 1;
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> out =
      mlir::openOutputFile(output, &message);
  if (!out) {
    llvm::errs() << "error: " << message << "\n";
    return 1;
  }
  if (mlir::failed(
          mlir::MlirOptMain(out->os(), std::move(*file), registry, config)))
    return 1;
  return tracea::compiler::finishOutput(*out);
}

#ifndef NDEBUG
/// Packages of LLVM are built without assertions, and then have no option for
/// debug output, though our passes, built with them, have the output.
static void registerDebugOnly() {
  if (llvm::cl::getRegisteredOptions().count("debug-only"))
    return;
  static llvm::cl::list<std::string> types(
      "debug-only", llvm::cl::CommaSeparated,
      llvm::cl::desc("Print what these passes decide (a comma list of names)"),
      llvm::cl::cb<void, std::string>([](const std::string &) {
        std::vector<const char *> names;
        for (const std::string &type : types)
          names.push_back(type.c_str());
        llvm::DebugFlag = true;
        llvm::setCurrentDebugTypes(names.data(), names.size());
      }));
}
#endif

static int run(int argc, char **argv) {
#ifndef NDEBUG
  registerDebugOnly();
#endif
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::tracea::registerTraceaDialects(registry);
  mlir::tracea::registerTraceaAnalysisPasses();
  mlir::tracea::registerTraceaConversionPasses();
  mlir::tracea::registerTraceaDoctorPasses();
  mlir::tracea::registerTraceaPipelinesPasses();
  mlir::tracea::registerTraceaTransformsPasses();
  mlir::tracea_pipe::registerTraceaPipePasses();
  mlir::tracea::registerCompilePipeline();
  mlir::tracea::registerNVVMToLLVMPipeline();
  return optimize(argc, argv, registry);
}

int main(int argc, char **argv) {
  return tracea::compiler::runTool(argc, argv, run);
}
