//===- Checks.cpp - Who refuses a module ----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Campaign.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Target/Program/Export.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;

namespace compiler = ::tracea::compiler;

namespace {

/// Remembers which pass failed first.
struct FailedPass : PassInstrumentation {
  explicit FailedPass(std::string &name) : name(name) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (name.empty() && !pass->getArgument().empty())
      name = pass->getArgument().str();
  }
  std::string &name;
};

/// Keeps the first error, with what it points at.
struct FirstError {
  explicit FirstError(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              message.empty())
            message = diagnostic.str();
        }) {}
  std::string message;
  ScopedDiagnosticHandler handler;
};

} // namespace

void mut::forgetProofs(ModuleOp module) {
  module->walk([](FunctionOpInterface kernel) {
    for (StringRef name : {"tracea_pipe.certificates", "tracea_pipe.certified",
                           "tracea_pipe.remarks", "tracea_pipe.index_limit"})
      kernel->removeAttr(name);
  });
}

OwningOpRef<ModuleOp> mut::compileTo(const Start &start, Phase level,
                                     MLIRContext &context) {
  FirstError error(context);
  OwningOpRef<ModuleOp> module =
      compiler::parseModule(start.text, context, start.name);
  CompilePipelineOptions options;
  options.target = start.target;
  options.threads = 1;
  options.to = level;
  PassManager manager(&context);
  buildCompilePipeline(manager, options);
  if (failed(manager.run(*module))) {
    std::fprintf(stderr, "tracea-mutants: %s: %s\n", start.name.c_str(),
                 error.message.c_str());
    std::exit(2);
  }
  forgetProofs(*module);
  return module;
}

/// Runs one phase, with proofs demanded.
static Judgement runPhase(ModuleOp module, const std::string &target,
                          Phase phase) {
  FirstError error(*module.getContext());
  CompilePipelineOptions options;
  options.target = target;
  options.from = phase;
  options.to = phase;
  options.requireProof = true;
  PassManager manager(module.getContext());
  buildCompilePipeline(manager, options);
  std::string pass;
  manager.addInstrumentation(std::make_unique<FailedPass>(pass));
  if (succeeded(manager.run(module)))
    return {};
  bool undecided = StringRef(error.message).contains("not decided");
  return {undecided ? Verdict::NotDecided : Verdict::Refused, pass,
          error.message};
}

Judgement mut::prove(ModuleOp module, const std::string &target) {
  {
    FirstError error(*module.getContext());
    if (failed(verify(module)))
      return {Verdict::Invalid, "verifier", error.message};
  }
  return runPhase(module, target, Phase::Pipeline);
}

Judgement mut::proveTarget(ModuleOp module) {
  FirstError error(*module.getContext());
  if (failed(verify(module)))
    return {Verdict::Invalid, "verifier", error.message};
  VerifyTargetProtocolOptions options;
  options.requireProof = true;
  PassManager manager(module.getContext());
  manager.addNestedPass<LLVM::LLVMFuncOp>(createVerifyTargetProtocol(options));
  if (succeeded(manager.run(module)))
    return {};
  bool undecided = StringRef(error.message).contains("not decided");
  return {undecided ? Verdict::NotDecided : Verdict::Refused,
          "tracea-verify-target-protocol", error.message};
}

std::string mut::getProtocols(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->walk([&](LLVM::LLVMFuncOp kernel) {
    stream << kernel->getAttr("tracea_pipe.certificates") << "\n";
  });
  return text;
}

Judgement mut::proveLowered(ModuleOp module, const std::string &target) {
  OwningOpRef<ModuleOp> code(module.clone());
  if (Judgement lowered = runPhase(*code, target, Phase::Target);
      lowered.verdict != Verdict::Accepted)
    return lowered;
  // The host: what of it can be expressed in a program.
  FirstError error(*module.getContext());
  ExportOptions options;
  options.requireProof = true;
  if (failed(exportProgram(module, *code, options)))
    return {Verdict::Refused, "export", error.message};
  return {};
}

std::vector<uint8_t> mut::makeProgram(ModuleOp module,
                                      const std::string &target,
                                      std::string &error) {
  FirstError first(*module.getContext());
  compiler::CompileOptions options;
  options.target = target;
  options.requireProof = true;
  FailureOr<::tracea::runtime::ProgramFile> program =
      compiler::translateToProgram(module, options);
  if (failed(program)) {
    error = first.message.empty() ? "refused without a message" : first.message;
    return {};
  }
  ::tracea::runtime::Expected<std::vector<uint8_t>> bytes =
      program->serialize();
  if (!bytes) {
    error = bytes.message();
    return {};
  }
  return std::move(*bytes);
}
