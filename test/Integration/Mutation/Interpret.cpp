//===- Interpret.cpp - Runs a start on the machine ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Campaign.h"
#include "Machine.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;

/// The memory of an argument.
static Window makeArgument(const HostTensor &tensor, Type type) {
  Window window;
  window.memory = std::make_shared<Memory>();
  window.memory->type = getElementTypeOrSelf(type);
  window.memory->elements = tensor.values;
  window.sizes.assign(tensor.shape.begin(), tensor.shape.end());
  window.strides.assign(tensor.shape.size(), 1);
  for (size_t dim = tensor.shape.size(); dim > 1; --dim)
    window.strides[dim - 2] = window.strides[dim - 1] * tensor.shape[dim - 1];
  return window;
}

static std::string runOnce(ModuleOp module, const Run &run, bool late,
                           size_t alternative) {
  Machine machine(module, late, alternative);
  std::vector<Window> arguments;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      for (auto [tensor, type] :
           llvm::zip_equal(run.inputs, function.getArgumentTypes()))
        arguments.push_back(makeArgument(tensor, type));
  std::vector<Window> results = machine.call(arguments);
  if (run.refused)
    return std::string(otherValues) + "sizes that do not fit";
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].memory->elements != run.inputs[i].values)
      return "input " + std::to_string(i) + " was changed";
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<double> values;
    forEach(results[i].sizes, [&](ArrayRef<int64_t> at) {
      values.push_back(results[i].read(results[i].place(at)));
    });
    Shape shape(results[i].sizes.begin(), results[i].sizes.end());
    std::string wrong = compare(run, i, shape, values);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

std::string mut::interpret(ModuleOp module, const Start &start, int seconds) {
  size_t alternatives = 1;
  module->walk([&](tracea_pipe::LaunchOp launch) {
    alternatives = std::max(alternatives, launch.getKernels().size());
  });
  auto describe = [](const Run &run, bool late) {
    return run.describe() + (late ? " (late): " : ": ");
  };
  // All runs that succeed share a process; each that is refused ends its own.
  auto runAll = [&](size_t alternative, bool late) -> std::string {
    for (const Run &run : start.runs) {
      if (run.refused)
        continue;
      describeStops(describe(run, late));
      std::string wrong = runOnce(module, run, late, alternative);
      if (!wrong.empty())
        return describe(run, late) + wrong;
    }
    return "";
  };
  std::string wrong = inChild(seconds, [&]() -> std::string {
    for (size_t alternative = 0; alternative < alternatives; ++alternative)
      for (bool late : {false, true}) {
        // A CPU's thread is one lane, and does everything by itself.
        if (late && !start.onGPU)
          continue;
        std::string wrong = runAll(alternative, late);
        if (!wrong.empty())
          return wrong;
      }
    return "";
  });
  if (!wrong.empty())
    return wrong;
  for (const Run &run : start.runs) {
    if (!run.refused)
      continue;
    wrong = inChild(seconds, [&] { return runOnce(module, run, false, 0); });
    if (!StringRef(wrong).starts_with(refusedByHost))
      return describe(run, false) + wrong;
  }
  return "";
}
