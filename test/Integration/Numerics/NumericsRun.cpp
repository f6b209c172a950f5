//===- NumericsRun.cpp - Compiles, runs and judges cases ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsRun.h"

#include "NumericsCompare.h"
#include "NumericsDevice.h"
#include "NumericsMemory.h"
#include "NumericsSchedules.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/CPU/HostCPU.h"
#include "tracea/Runtime/Constants.h"
#include "tracea/Runtime/Executable.h"

#include <cmath>

using namespace tracea;
using namespace tracea::numerics;

namespace rt = tracea::runtime;

struct Runner::Impl {
  std::unique_ptr<mlir::MLIRContext> context;
  std::string diagnostics;
  int compiled = 0;
  std::shared_ptr<rt::Device> devices[2]; // of 1 and 2 threads
  std::vector<std::string> otherTargets;
  /// The target to run on in place of the host, and its device once it is open.
  std::string gpu;
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
  /// A way through the program's entry on a device; null with an error.
  std::unique_ptr<rt::Execution> load(const std::vector<uint8_t> &bytes,
                                      const std::shared_ptr<rt::Device> &device,
                                      std::string &error);
  std::string judge(const Case &test, Random &random, const std::string &target,
                    bool more);
  std::string judgeConstants(const std::vector<uint8_t> &bytes,
                             const std::shared_ptr<rt::Device> &device,
                             Random &random, const Instance &instance,
                             const std::vector<std::vector<uint8_t>> &expected);
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

Runner::Runner(std::string gpu) : impl(std::make_unique<Impl>()) {
  impl->gpu = std::move(gpu);
  for (int threads : {1, 2}) {
    rt::CPUDeviceOptions options;
    options.threads = threads;
    impl->devices[threads - 1] = *rt::createCPUDevice(options);
  }
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

std::unique_ptr<rt::Execution>
Runner::Impl::load(const std::vector<uint8_t> &bytes,
                   const std::shared_ptr<rt::Device> &device,
                   std::string &error) {
  rt::Expected<rt::ProgramFile> parsed = rt::ProgramFile::parse(bytes);
  if (!parsed) {
    error = "does not read back: " + parsed.message();
    return nullptr;
  }
  rt::Expected<std::shared_ptr<rt::Executable>> executable =
      rt::Executable::load(std::move(*parsed), device);
  if (!executable) {
    error = "does not load: " + executable.message();
    return nullptr;
  }
  rt::Expected<std::unique_ptr<rt::Execution>> execution =
      (*executable)->createExecution();
  if (!execution) {
    error = execution.message();
    return nullptr;
  }
  return std::move(*execution);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {

/// One run's memory.
struct RunMemory {
  std::vector<GuardedTensor> inputs, outputs;
  std::vector<rt::Tensor> inputViews, outputViews;

  RunMemory(Random &random, const Instance &instance, Placement placement) {
    auto place = [&]() {
      return random.chance(0.7)
                 ? placement
                 : random.pick({Placement::End, Placement::Start,
                                Placement::Misaligned, Placement::Strided});
    };
    for (const HostTensor &input : instance.inputs) {
      inputs.emplace_back(random, input.type, input.shape, place());
      inputs.back().write(input);
      inputViews.push_back(inputs.back().tensor());
    }
    for (const ExpectedTensor &output : instance.outputs) {
      outputs.emplace_back(random, output.type, output.shape, place());
      outputs.back().poison();
      outputViews.push_back(outputs.back().tensor());
    }
  }
};

} // namespace

/// Everything about an instance on one executable; `bits` gets the outputs.
static std::string judgeRun(rt::Execution &execution, Random &random,
                            const Instance &instance, Placement placement,
                            std::vector<std::vector<uint8_t>> &bits) {
  RunMemory memory(random, instance, placement);
  std::vector<std::vector<uint8_t>> before;
  for (const GuardedTensor &input : memory.inputs)
    before.push_back(input.bytes());
  rt::Status status =
      execution.run({memory.inputViews.data(), memory.inputViews.size()},
                    {memory.outputViews.data(), memory.outputViews.size()});
  if (!status.ok())
    return "does not run: " + status.message();
  for (size_t i = 0; i < memory.inputs.size(); ++i) {
    if (memory.inputs[i].bytes() != before[i])
      return "input " + std::to_string(i) + " was changed";
    if (!memory.inputs[i].surroundingsIntact())
      return "memory around input " + std::to_string(i) + " was changed";
  }
  bits.clear();
  for (size_t i = 0; i < memory.outputs.size(); ++i) {
    const GuardedTensor &output = memory.outputs[i];
    std::string wrong = compare(instance.outputs[i], [&](const Shape &index) {
      return output.read(index);
    });
    if (!wrong.empty())
      return "output " + std::to_string(i) + " " + wrong;
    if (!output.surroundingsIntact())
      return "memory around output " + std::to_string(i) + " was changed";
    bits.push_back(output.bytes());
  }
  return "";
}

/// An input in the memory that the output goes to.
static std::string judgeAliased(rt::Execution &execution, Random &random,
                                const Instance &instance) {
  for (size_t i = 0; i < instance.inputs.size(); ++i) {
    if (instance.inputs[i].type != instance.outputs[0].type ||
        instance.inputs[i].shape != instance.outputs[0].shape)
      continue;
    RunMemory memory(random, instance, Placement::End);
    memory.outputs[0].write(instance.inputs[i]);
    memory.inputViews[i] = memory.outputViews[0];
    rt::Status status =
        execution.run({memory.inputViews.data(), memory.inputViews.size()},
                      {memory.outputViews.data(), memory.outputViews.size()});
    if (!status.ok())
      return "does not run: " + status.message();
    std::string wrong = compare(instance.outputs[0], [&](const Shape &index) {
      return memory.outputs[0].read(index);
    });
    if (!wrong.empty())
      return "written over input " + std::to_string(i) + ": " + wrong;
  }
  return "";
}

/// A size that does not fit must be refused, and nothing written.
static std::string judgeWrong(rt::Execution &execution, Random &random,
                              const Instance &instance) {
  // Where nothing is computed nothing need be compared.
  for (const ExpectedTensor &output : instance.outputs)
    if (output.values.empty())
      return "";
  for (const WrongSize &wrong : instance.wrong) {
    Instance changed = instance;
    HostTensor &input = changed.inputs[wrong.input];
    ++input.shape[wrong.axis];
    input = randomTensor(random, input.type, input.shape, Fill::Normal);
    RunMemory memory(random, changed, Placement::End);
    std::vector<std::vector<uint8_t>> before;
    for (const GuardedTensor &output : memory.outputs)
      before.push_back(output.bytes());
    rt::Status status =
        execution.run({memory.inputViews.data(), memory.inputViews.size()},
                      {memory.outputViews.data(), memory.outputViews.size()});
    std::string where = "input " + std::to_string(wrong.input) + " of shape " +
                        listOf(input.shape);
    if (status.ok())
      return where + " was accepted";
    if (status.message().empty())
      return where + " was refused without a message";
    for (size_t i = 0; i < memory.outputs.size(); ++i)
      if (memory.outputs[i].bytes() != before[i])
        return where + " was refused after output " + std::to_string(i) +
               " was written";
  }
  return "";
}

/// The program with some of its inputs constant: they are given once, and then
/// in another version.
std::string Runner::Impl::judgeConstants(
    const std::vector<uint8_t> &bytes,
    const std::shared_ptr<rt::Device> &device, Random &random,
    const Instance &instance,
    const std::vector<std::vector<uint8_t>> &expected) {
  rt::Expected<rt::ProgramFile> program = rt::ProgramFile::parse(bytes);
  if (!program)
    return "does not read back: " + program.message();
  rt::EntrySpec &entry = program->manifest.entries[0];
  for (rt::InputSpec &input : entry.inputs)
    input.isConstant = !input.isScalar && random.chance(0.6);
  rt::markConstants(entry);
  std::vector<rt::InputSpec> inputs = entry.inputs;
  rt::Expected<std::vector<uint8_t>> marked = program->serialize();
  if (!marked)
    return "does not serialize: " + marked.message();
  std::string error;
  std::unique_ptr<rt::Execution> execution = load(*marked, device, error);
  if (!execution)
    return error;
  // What is constant must live as long as it is. The other version has values
  // that the run may refuse.
  Instance otherVersion = instance;
  for (HostTensor &input : otherVersion.inputs)
    input = randomTensor(random, input.type, input.shape, Fill::Normal);
  RunMemory memory(random, instance, Placement::Start),
      otherMemory(random, otherVersion, Placement::Start);
  enum class Version { Right, Other, Null };
  bool isRight = true;
  for (Version version : {Version::Right, Version::Null, Version::Other,
                          Version::Null, Version::Right, Version::Null}) {
    RunMemory others(random, instance, Placement::Start);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].isConstant)
        others.inputViews[i] = version == Version::Right ? memory.inputViews[i]
                               : version == Version::Other
                                   ? otherMemory.inputViews[i]
                                   : rt::Tensor();
    rt::Status status =
        execution->run({others.inputViews.data(), others.inputViews.size()},
                       {others.outputViews.data(), others.outputViews.size()});
    std::string where =
        version == Version::Null ? "not given again: " : "given: ";
    if (version != Version::Null)
      isRight = version == Version::Right;
    if (!isRight)
      continue;
    if (!status.ok())
      return where + "does not run: " + status.message();
    for (size_t i = 0; i < others.outputs.size(); ++i) {
      if (others.outputs[i].bytes() != expected[i])
        return where + "output " + std::to_string(i) + " has other bits";
      if (!others.outputs[i].surroundingsIntact())
        return where + "memory around output " + std::to_string(i) +
               " was changed";
    }
  }
  for (size_t i = 0; i < memory.inputs.size(); ++i)
    if (!memory.inputs[i].surroundingsIntact())
      return "memory around input " + std::to_string(i) + " was changed";
  return "";
}

std::string Runner::Impl::judge(const Case &test, Random &random,
                                const std::string &target, bool more) {
  compiler::CompileOptions options;
  options.target = target;
  options.threads = random.pick({0, 0, 1, 2, 5});
  std::string where =
      target + " planned for " + std::to_string(options.threads) + ": ";
  std::string error;
  int firstDevice = static_cast<int>(random.below(2));
  std::vector<uint8_t> program = compile(test.text, options, error);
  if (!error.empty())
    return where + error;
  std::unique_ptr<rt::Execution> execution =
      load(program, devices[firstDevice], error);
  if (!execution)
    return where + error;

  int instances = (test.dynamic ? 3 : 1) + (more ? 1 : 0);
  for (int i = 0; i < instances; ++i) {
    Instance instance = test.make(random, i == 0);
    Placement placement =
        random.pick({Placement::End, Placement::End, Placement::Start,
                     Placement::Misaligned, Placement::Strided});
    std::string run = where + "instance " + std::to_string(i) + " ";
    for (const HostTensor &input : instance.inputs)
      run += listOf(input.shape);
    run += ": ";
    std::vector<std::vector<uint8_t>> bits, again;
    error = judgeRun(*execution, random, instance, placement, bits);
    if (!error.empty())
      return run + error;
    if (i == 0) {
      // The same bits again, elsewhere in memory and by other threads.
      error = judgeRun(*execution, random, instance, Placement::Start, again);
      if (!error.empty())
        return run + "second run: " + error;
      if (bits != again)
        return run + "a second run gives other bits";
      bool otherThreads = random.chance(0.5);
      Random forOther(random.next());
      if (more || otherThreads) {
        std::unique_ptr<rt::Execution> second =
            load(program, devices[1 - firstDevice], error);
        if (!second)
          return where + error;
        error = judgeRun(*second, forOther, instance, placement, again);
        if (!error.empty())
          return run + "with another thread count: " + error;
        if (bits != again)
          return run + "another thread count gives other bits";
      }
      Random forEnqueue = random;
      error = judgeOnDevice(*execution, *devices[firstDevice], forEnqueue,
                            instance, again);
      if (!error.empty())
        return run + "enqueued: " + error;
      if (bits != again)
        return run + "enqueued it gives other bits";
      Random forConstants = random;
      error = judgeConstants(program, devices[firstDevice], forConstants,
                             instance, bits);
      if (!error.empty())
        return run + "with constants: " + error;
      error = judgeAliased(*execution, random, instance);
      if (!error.empty())
        return run + error;
    }
    error = judgeWrong(*execution, random, instance);
    if (!error.empty())
      return run + error;
  }
  return "";
}

std::string Runner::Impl::judgeOnGPU(const Case &test, Random &random) {
  if (!gpuDevice) {
    rt::Expected<std::shared_ptr<rt::Device>> opened = rt::openDevice("cuda");
    if (!opened)
      return "no device: " + opened.message();
    gpuDevice = *opened;
  }
  compiler::CompileOptions options;
  options.target = gpu;
  const std::string &arch = gpuDevice->info().arch;
  options.assemble = gpu == arch || gpu == arch + "a";
  std::string error, where = gpu + ": ";
  std::vector<uint8_t> program = compile(test.text, options, error);
  if (!error.empty())
    return where + error;
  std::unique_ptr<rt::Execution> execution = load(program, gpuDevice, error);
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
  std::unique_ptr<rt::Execution> execution = load(program, devices[0], error);
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
  if (!impl->gpu.empty())
    return impl->judgeOnGPU(test, random);
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
