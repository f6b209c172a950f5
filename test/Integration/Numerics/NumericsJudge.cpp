//===- NumericsJudge.cpp - Runs programs and judges them ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsJudge.h"

#include "NumericsCompare.h"
#include "NumericsDevice.h"
#include "NumericsMemory.h"

#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/Constants.h"

using namespace tracea;
using namespace tracea::numerics;

namespace rt = tracea::runtime;

std::unique_ptr<rt::Execution>
numerics::loadProgram(const std::vector<uint8_t> &bytes,
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

  rt::Status run(rt::Execution &execution) {
    return execution.run({inputViews.data(), inputViews.size()},
                         {outputViews.data(), outputViews.size()});
  }
};

} // namespace

std::string numerics::judgeRun(rt::Execution &execution, Random &random,
                               const Instance &instance, Placement placement,
                               std::vector<std::vector<uint8_t>> &bits) {
  RunMemory memory(random, instance, placement);
  std::vector<std::vector<uint8_t>> before;
  for (const GuardedTensor &input : memory.inputs)
    before.push_back(input.bytes());
  rt::Status status = memory.run(execution);
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

/// An input in the memory that the output goes to. Constants are not written.
static std::string judgeAliased(rt::Execution &execution, Random &random,
                                const Instance &instance) {
  const std::vector<rt::InputSpec> &inputs = execution.entry().inputs;
  for (size_t i = 0; i < instance.inputs.size(); ++i) {
    if (inputs[i].isConstant ||
        instance.inputs[i].type != instance.outputs[0].type ||
        instance.inputs[i].shape != instance.outputs[0].shape)
      continue;
    RunMemory memory(random, instance, Placement::End);
    memory.outputs[0].write(instance.inputs[i]);
    memory.inputViews[i] = memory.outputViews[0];
    rt::Status status = memory.run(execution);
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

std::string numerics::judgeWrong(rt::Execution &execution, Random &random,
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
    rt::Status status = memory.run(execution);
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

std::string
numerics::judgeConstants(const std::vector<uint8_t> &bytes,
                         const std::shared_ptr<rt::Device> &device,
                         Random &random, const Instance &instance,
                         const std::vector<std::vector<uint8_t>> &expected) {
  rt::Expected<rt::ProgramFile> program = rt::ProgramFile::parse(bytes);
  if (!program)
    return "does not read back: " + program.message();
  rt::EntrySpec &entry = program->manifest.entries[0];
  // What is constant already stays so: steps count on it.
  for (rt::InputSpec &input : entry.inputs)
    input.isConstant |= !input.isScalar && random.chance(0.6);
  rt::markConstants(entry);
  std::vector<rt::InputSpec> inputs = entry.inputs;
  rt::Expected<std::vector<uint8_t>> marked = program->serialize();
  if (!marked)
    return "does not serialize: " + marked.message();
  std::string error;
  std::unique_ptr<rt::Execution> execution =
      loadProgram(*marked, device, error);
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
    rt::Status status = others.run(*execution);
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

CPUDevices numerics::openCPUDevices() {
  CPUDevices devices;
  for (int threads : {1, 2}) {
    rt::CPUDeviceOptions options;
    options.threads = threads;
    devices[threads - 1] = *rt::createCPUDevice(options);
  }
  return devices;
}

std::string numerics::judge(const Trial &trial, const CPUDevices &devices) {
  Random random(trial.seed);
  auto firstDevice = static_cast<size_t>(random.below(2));
  std::string error;
  std::unique_ptr<rt::Execution> execution =
      loadProgram(trial.program, devices[firstDevice], error);
  if (!execution)
    return error;
  for (size_t i = 0; i < trial.instances.size(); ++i) {
    const Instance &instance = trial.instances[i];
    Placement placement =
        random.pick({Placement::End, Placement::End, Placement::Start,
                     Placement::Misaligned, Placement::Strided});
    std::string run = "instance " + std::to_string(i) + " ";
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
      if (trial.more || otherThreads) {
        std::unique_ptr<rt::Execution> second =
            loadProgram(trial.program, devices[1 - firstDevice], error);
        if (!second)
          return error;
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
      error = judgeConstants(trial.program, devices[firstDevice], forConstants,
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
