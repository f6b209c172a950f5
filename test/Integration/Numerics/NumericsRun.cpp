//===- NumericsRun.cpp - Compiles, runs and judges cases ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsRun.h"

#include "../Support/Processes.h"
#include "NumericsDevice.h"
#include "NumericsJudge.h"
#include "NumericsMemory.h"
#include "NumericsSchedules.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Runtime/CPU/HostCPU.h"

#include <cmath>

using namespace tracea;
using namespace tracea::numerics;

namespace rt = tracea::runtime;

struct Runner::Impl {
  std::unique_ptr<mlir::MLIRContext> context;
  std::string diagnostics;
  int compiled = 0;
  CPUDevices devices;
  std::vector<std::string> otherTargets;
  Place place;
  /// Of a GPU, once it is open.
  std::shared_ptr<rt::Device> gpuDevice;

  void renewContext();
  /// The program file's bytes; none with an error.
  std::vector<uint8_t> compile(const std::string &text,
                               const compiler::CompileOptions &options,
                               std::string &error);
  /// The module at the decision level; null with an error.
  mlir::OwningOpRef<mlir::ModuleOp>
  decide(const std::string &text, const compiler::CompileOptions &options,
         std::string &error);
  /// The same with plans of a variant.
  std::string schedule(const std::string &text,
                       const compiler::CompileOptions &options,
                       const std::string &variant, Random &random,
                       std::string &error);
  std::string judge(const Case &test, Random &random, const std::string &target,
                    bool more);
  std::string judgeOnGPU(const Case &test, Random &random);
  std::string judgeReference(const Case &test, Random &random);
};

/// A context keeps all types and attributes that ever were: a new one at times.
void Runner::Impl::renewContext() {
  mlir::DialectRegistry registry;
  compiler::registerAllDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context->getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) {
    if (diag.getSeverity() == mlir::DiagnosticSeverity::Remark)
      return;
    diagnostics += diag.str() + "\n";
    for (mlir::Diagnostic &note : diag.getNotes())
      if (std::string text = note.str();
          text.find("see current operation") != 0)
        diagnostics += "note: " + text + "\n";
  });
}

Runner::Runner(Place place) : impl(std::make_unique<Impl>()) {
  impl->place = std::move(place);
  impl->devices = openCPUDevices();
  rt::HostCPU host = rt::detectHostCPU();
  if (host.arch == "x86_64") {
    impl->otherTargets.push_back("x86-64-v2");
    if (host.has("avx2") && host.has("fma"))
      impl->otherTargets.push_back("x86-64-v3");
  }
}

Runner::~Runner() = default;

std::vector<uint8_t>
Runner::Impl::compile(const std::string &text,
                      const compiler::CompileOptions &options,
                      std::string &error) {
  if (!context || ++compiled % 64 == 0)
    renewContext();
  diagnostics.clear();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler::parseModule(text, *context, "case");
  if (!module) {
    error = "does not parse: " + diagnostics;
    return {};
  }
  mlir::FailureOr<rt::ProgramFile> program =
      compiler::compileToProgram(*module, options);
  if (failed(program)) {
    error = "does not compile: " + diagnostics;
    return {};
  }
  rt::Expected<std::vector<uint8_t>> bytes = program->serialize();
  if (!bytes) {
    error = "does not serialize: " + bytes.message();
    return {};
  }
  return std::move(*bytes);
}

mlir::OwningOpRef<mlir::ModuleOp>
Runner::Impl::decide(const std::string &text,
                     const compiler::CompileOptions &options,
                     std::string &error) {
  if (!context)
    renewContext();
  diagnostics.clear();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler::parseModule(text, *context, "case");
  mlir::FailureOr<std::string> decided = mlir::failure();
  if (module)
    decided = compiler::emit(*module, compiler::Emit::Decision, options);
  if (succeeded(decided))
    module = compiler::parseModule(*decided, *context, "decided");
  if (module && succeeded(decided))
    return module;
  error = "does not compile: " + diagnostics;
  return nullptr;
}

std::string Runner::Impl::schedule(const std::string &text,
                                   const compiler::CompileOptions &options,
                                   const std::string &variant, Random &random,
                                   std::string &error) {
  mlir::OwningOpRef<mlir::ModuleOp> module = decide(text, options, error);
  if (!module)
    return "";
  if (giveSchedules(*module, variant, random) == 0)
    error = "has no variant for target: '" + variant + "' serves nothing";
  std::string scheduled;
  llvm::raw_string_ostream stream(scheduled);
  module->print(stream);
  return scheduled;
}

std::string Runner::Impl::judge(const Case &test, Random &random,
                                const std::string &target, bool more) {
  compiler::CompileOptions options;
  options.target = target;
  options.threads = random.pick({0, 0, 1, 2, 5});
  std::string where =
      target + " planned for " + std::to_string(options.threads) + ": ";
  std::string error;
  Trial trial;
  trial.program = compile(test.text, options, error);
  if (!error.empty())
    return where + error;
  if (test.text.find("tracea.attention") != std::string::npos) {
    mlir::OwningOpRef<mlir::ModuleOp> decided =
        decide(test.text, options, error);
    if (!decided)
      return where + error;
    takeRoundedWeights(roundsWeights(*decided));
  }
  int instances = (test.dynamic ? 3 : 1) + (more ? 1 : 0);
  for (int i = 0; i < instances; ++i)
    trial.instances.push_back(test.make(random, i == 0));
  trial.more = more;
  trial.seed = random.next();
  if (place.judge.empty()) {
    error = numerics::judge(trial, devices);
  } else {
    error = campaign::inProgram(place.seconds, place.judge, pack(trial));
    if (error.empty())
      error = "the judge says nothing";
    else if (error == kRight)
      error.clear();
  }
  return error.empty() ? "" : where + error;
}

std::string Runner::Impl::judgeOnGPU(const Case &test, Random &random) {
  if (!gpuDevice) {
    rt::Expected<std::shared_ptr<rt::Device>> opened = rt::openDevice("cuda");
    if (!opened)
      return "no device: " + opened.message();
    gpuDevice = *opened;
  }
  compiler::CompileOptions options;
  const std::string &gpu = place.target;
  options.target = gpu;
  const std::string &arch = gpuDevice->info().arch;
  options.assemble = gpu == arch || gpu == arch + "a";
  std::string error, where = gpu + ": ";
  std::vector<uint8_t> program = compile(test.text, options, error);
  if (!error.empty())
    return where + error;
  std::unique_ptr<rt::Execution> execution =
      loadProgram(program, gpuDevice, error);
  if (!execution)
    return where + error;
  mlir::OwningOpRef<mlir::ModuleOp> decided = decide(test.text, options, error);
  if (!decided)
    return where + error;
  takeDigitsOfSums(getSumDigits(*decided));
  for (int i = 0, instances = test.dynamic ? 3 : 1; i < instances; ++i) {
    Instance instance = test.make(random, i == 0);
    std::string run = where + "instance " + std::to_string(i) + " ";
    for (const HostTensor &input : instance.inputs)
      run += listOf(input.shape);
    run += ": ";
    std::vector<std::vector<uint8_t>> bits, again;
    Random same = random;
    error = judgeOnDevice(*execution, *gpuDevice, random, instance, bits);
    if (!error.empty())
      return run + error;
    // The same bits again in other memory, aligned alike: which kernel runs
    // depends on that.
    error = judgeOnDevice(*execution, *gpuDevice, same, instance, again);
    if (!error.empty())
      return run + "second run: " + error;
    if (bits != again)
      return run + "a second run gives other bits";
    if (i > 0)
      continue;
    // From and to memory of the host, strided too.
    error = judgeRun(*execution, random, instance, Placement::Strided, again);
    if (error.empty())
      error = judgeConstants(program, gpuDevice, random, instance, again);
    if (error.empty())
      error = judgeWrong(*execution, random, instance);
    if (!error.empty())
      return run + error;
  }
  return "";
}

std::string Runner::Impl::judgeReference(const Case &test, Random &random) {
  compiler::CompileOptions options;
  options.reference = true;
  std::string error, where = "float64 meaning: ";
  std::vector<uint8_t> program = compile(test.text, options, error);
  if (!error.empty())
    return where + error;
  std::unique_ptr<rt::Execution> execution =
      loadProgram(program, devices[0], error);
  if (!execution)
    return where + error;
  Instance instance = test.make(random, true);
  Instance wide = instance;
  for (HostTensor &input : wide.inputs)
    if (runtime::isFloat(input.type))
      input.type = ElementType::F64;
  for (ExpectedTensor &output : wide.outputs) {
    if (!runtime::isFloat(output.type))
      continue;
    output.type = ElementType::F64;
    // Functions and sums of double precision, however exact the value is.
    for (Approx &value : output.values)
      if (std::isfinite(value.value))
        value.error += 1e-12L * (1 + std::fabs(value.value));
  }
  std::vector<std::vector<uint8_t>> bits;
  error = judgeRun(*execution, random, wide, Placement::End, bits);
  return error.empty() ? "" : where + error;
}

std::string Runner::prove(const Case &test, const std::string &target,
                          const std::string &variant, Random &random) {
  compiler::CompileOptions options;
  options.target = target;
  options.requireProof = true;
  options.assemble = false;
  std::string error;
  std::string text = variant.empty() ? test.text
                                     : impl->schedule(test.text, options,
                                                      variant, random, error);
  if (!error.empty())
    return error;
  impl->compile(text, options, error);
  if (!error.empty() && !variant.empty())
    error += "where the module has been given schedules:\n" + text;
  return error;
}

std::string Runner::run(const Case &test, Random &random, bool allTargets) {
  if (impl->place.isGPU)
    return impl->judgeOnGPU(test, random);
  if (!impl->place.judge.empty())
    return impl->judge(test, random, impl->place.target,
                       allTargets || random.chance(0.2));
  // Each way of running starts from its own numbers, so that leaving one out
  // does not change the others.
  Random forHost(random.next()), forOthers(random.next()),
      forReference(random.next());
  bool more = random.chance(0.2);
  std::string error = impl->judge(test, forHost, "host", allTargets || more);
  if (!error.empty())
    return error;
  for (const std::string &target : impl->otherTargets) {
    bool chosen = random.chance(0.25);
    Random forTarget(forOthers.next());
    if (!allTargets && !chosen)
      continue;
    error = impl->judge(test, forTarget, target, false);
    if (!error.empty())
      return error;
  }
  if (test.comparableToReference && (allTargets || random.chance(0.2)))
    return impl->judgeReference(test, forReference);
  return "";
}
