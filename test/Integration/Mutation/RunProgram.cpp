//===- RunProgram.cpp - Runs programs between guard pages -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Campaign.h"

#include "../Numerics/NumericsMemory.h"
#include "GuardedDevice.h"
#include "Machine.h"
#include "tracea/Runtime/Executable.h"

using namespace ::tracea;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;
using numerics::GuardedTensor;
using numerics::Placement;

namespace rt = ::tracea::runtime;

static std::string runOnce(rt::Execution &execution, const Run &run) {
  Random random(1);
  std::vector<GuardedTensor> inputs, outputs;
  std::vector<rt::Tensor> inputViews, outputViews;
  for (const HostTensor &input : run.inputs) {
    inputs.emplace_back(random, input.type, input.shape, Placement::End);
    inputs.back().write(input);
    inputViews.push_back(inputs.back().tensor());
  }
  for (const HostTensor &output : run.expected) {
    outputs.emplace_back(random, output.type, output.shape, Placement::End);
    outputs.back().poison();
    outputViews.push_back(outputs.back().tensor());
  }
  if (run.refused)
    outputViews.resize(execution.entry().outputs.size());
  rt::Status status = execution.run({inputViews.data(), inputViews.size()},
                                    {outputViews.data(), outputViews.size()});
  if (run.refused)
    return status.ok() ? std::string(otherValues) + "sizes that do not fit"
                       : std::string();
  if (!status.ok()) {
    // A result of another shape.
    bool otherShape = status.message().find(": output ") != std::string::npos;
    return (otherShape ? otherValues : "does not run: ") + status.message();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].surroundingsIntact())
      return "memory around input " + std::to_string(i) + " was changed";
    GuardedTensor before(random, run.inputs[i].type, run.inputs[i].shape,
                         Placement::End);
    before.write(run.inputs[i]);
    if (inputs[i].bytes() != before.bytes())
      return "input " + std::to_string(i) + " was changed";
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].surroundingsIntact())
      return "memory around output " + std::to_string(i) + " was changed";
    std::vector<double> values;
    numerics::forEachIndex(run.expected[i].shape,
                           [&](const Shape &index, int64_t) {
                             values.push_back(outputs[i].read(index));
                           });
    std::string wrong = compare(run, i, run.expected[i].shape, values);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

std::string mut::runProgram(const std::vector<uint8_t> &program,
                            const Start &start) {
  rt::Expected<rt::ProgramFile> parsed = rt::ProgramFile::parse(program);
  if (!parsed)
    return "does not read back: " + parsed.message();
  rt::Expected<std::shared_ptr<rt::Executable>> executable =
      rt::Executable::load(std::move(*parsed), createGuardedDevice());
  if (!executable)
    return "does not load: " + executable.message();
  for (const Run &run : start.runs) {
    rt::Expected<std::unique_ptr<rt::Execution>> execution =
        (*executable)->createExecution();
    if (!execution)
      return execution.message();
    std::string wrong = runOnce(**execution, run);
    if (!wrong.empty())
      return run.describe() + ": " + wrong;
  }
  return "";
}

/// What `stop` says first.
static std::string stopPrefix;

void mut::describeStops(std::string prefix) { stopPrefix = std::move(prefix); }

void mut::stop(const std::string &why) {
  campaign::finishChild(stopPrefix + why);
}
