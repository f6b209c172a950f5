//===- Timing.cpp - Measured rounds of an execution -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Timing.h"

#include "tracea/Runtime/Constants.h"
#include "tracea/Runtime/Expr.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

using namespace tracea::driver;
namespace rt = tracea::runtime;

namespace {
/// The value of an expression; 0 where undefined.
double valueOf(int64_t expr, const rt::ExprValues &values) {
  return values.defined(expr) ? static_cast<double>(values[expr]) : 0;
}

/// Elements of a view.
double countView(const rt::ViewSpec &view, const rt::ExprValues &values) {
  double count = 1;
  for (int64_t size : view.sizes)
    count *= valueOf(size, values);
  return count;
}

/// Whether a step has work to do: of several kernels for one launch, one has.
bool isRun(const rt::StepSpec &step, const rt::ExprValues &values) {
  bool runs = step.isLaunch() && valueOf(step.tiles, values) > 0;
  for (int64_t extent : step.grid)
    runs &= valueOf(extent, values) > 0;
  return runs;
}
} // namespace

/// What each kernel computes and touches in one run.
static std::vector<KernelTiming> describeKernels(const LoadedProgram &program,
                                                 const FindWork &findWork) {
  const rt::Manifest &manifest = program.executable->manifest();
  const rt::EntrySpec &entry = program.entry();
  std::vector<const std::vector<int64_t> *> shapes;
  std::vector<int64_t> scalars;
  for (const InputTensor &input : program.inputs) {
    shapes.push_back(&input.tensor.shape());
    bool isScalar = entry.inputs[scalars.size()].isScalar;
    scalars.push_back(
        isScalar ? rt::readAsSlot(input.tensor.type(), input.tensor.data())
                 : 0);
  }
  rt::ExprValues values;
  values.evaluate(entry.exprs, shapes, scalars);

  std::vector<KernelTiming> kernels(manifest.kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].kernel = manifest.kernels[i].name;
    kernels[i].op = manifest.kernels[i].op;
    kernels[i].variant = manifest.kernels[i].variant;
  }
  std::vector<char> constantSteps = rt::findConstantSteps(entry);
  for (const rt::StepSpec &step : entry.steps) {
    if (!isRun(step, values) ||
        constantSteps[static_cast<size_t>(&step - entry.steps.data())])
      continue;
    KernelTiming &kernel = kernels[static_cast<size_t>(step.kernel)];
    // A tensor map tells again what a pointer tells.
    std::vector<const rt::ViewSpec *> views;
    for (const rt::ArgSpec &arg : step.args)
      if (arg.hasView() && arg.kind != rt::ArgKind::TensorMap)
        views.push_back(&arg.view);
    for (const rt::ViewSpec *view : views)
      kernel.bytes += countView(*view, values) *
                      static_cast<double>(rt::sizeOf(view->type));
    std::optional<KernelWork> launch;
    if (findWork)
      launch = findWork(kernel.kernel);
    if (!launch || launch->argument >= views.size())
      continue;
    double flops =
        launch->flopsPerElement * countView(*views[launch->argument], values);
    if (launch->sumDim)
      flops *= *launch->sumDim < views[0]->sizes.size()
                   ? valueOf(views[0]->sizes[*launch->sumDim], values)
                   : 0;
    kernel.flops += flops;
  }
  return kernels;
}

static double medianOf(const std::vector<double> &sorted) {
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
}

void tracea::driver::addMeasureOptions(CLI::App &app, MeasureOptions &options) {
  app.add_option("--copies", options.copies,
                 "Measure with so many copies of inputs and outputs in turns: "
                 "enough of them come from memory, not from caches")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--rest", options.rest,
                 "Sleep so many seconds before each sample, which then is of "
                 "10 ms or one round")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str()
      ->type_name("S");
}

namespace {
/// Tensors that the rounds take in turns.
struct BufferSets {
  static Expected<BufferSets> make(const LoadedProgram &program, int copies) {
    BufferSets sets;
    sets.all.resize(static_cast<size_t>(copies));
    for (BufferSet &set : sets.all) {
      // Constants are given to the first round alone.
      set.inputs = program.otherTensors();
      set.outputs.resize(program.entry().outputs.size());
      if (&set == &sets.all.front())
        continue;
      for (rt::Tensor &input : set.inputs) {
        if (!input.data())
          continue;
        Expected<rt::Tensor> copy = input.clone();
        if (!copy)
          return copy.status().withContext("--copies");
        input = std::move(*copy);
      }
    }
    return sets;
  }

  struct BufferSet {
    std::vector<rt::Tensor> inputs;
    std::vector<rt::Tensor> outputs;
  };
  BufferSet &next() { return all[++turn % all.size()]; }

  std::vector<BufferSet> all;
  size_t turn = 0;
};
} // namespace

Expected<Timing> tracea::driver::measure(LoadedProgram &program,
                                         const MeasureOptions &options,
                                         const FindWork &findWork) {
  Expected<BufferSets> sets = BufferSets::make(program, options.copies);
  if (!sets)
    return sets.status();
  auto firstRound = [&](rt::Execution &execution) {
    return execution.run(program.inputTensors(), sets->all[0].outputs);
  };
  auto nextRound = [&](rt::Execution &execution) {
    BufferSets::BufferSet &set = sets->next();
    return execution.run(set.inputs, set.outputs);
  };

  // Every set once at least: outputs are allocated by the round that is the
  // first to write them.
  Stopwatch warmUp;
  TRACEA_RETURN_IF_ERROR(firstRound(*program.execution));
  for (int round = 0; round < options.copies ||
                      warmUp.seconds() < std::min(0.1, options.seconds / 10);
       ++round)
    TRACEA_RETURN_IF_ERROR(nextRound(*program.execution));

  constexpr double sampleSeconds = 0.01;
  auto sample = [&](int64_t &rounds, double &seconds) -> Status {
    if (options.rest > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(options.rest));
      // Wakes the threads and the clock where that is a small part of a sample.
      if (seconds < sampleSeconds / 4)
        TRACEA_RETURN_IF_ERROR(nextRound(*program.execution));
    }
    int64_t count = 0;
    Stopwatch watch;
    do {
      TRACEA_RETURN_IF_ERROR(nextRound(*program.execution));
      ++count;
    } while (options.rest > 0 && watch.seconds() < sampleSeconds);
    seconds = watch.seconds() / static_cast<double>(count);
    rounds += count;
    return Status::success();
  };

  constexpr size_t mostSamples = 1000000;
  Timing timing;
  std::vector<double> times;
  double seconds = 0;
  Stopwatch total;
  do {
    TRACEA_RETURN_IF_ERROR(sample(timing.rounds, seconds));
    times.push_back(seconds);
  } while ((total.seconds() < options.seconds || times.size() < 3) &&
           times.size() < mostSamples);
  std::sort(times.begin(), times.end());

  timing.median = medianOf(times);
  timing.fastest = times.front();
  timing.slowest = times.back();

  rt::ExecutionOptions profiling;
  profiling.profile = true;
  Expected<std::unique_ptr<rt::Execution>> profiled =
      program.executable->createExecution(program.entryName, profiling);
  if (!profiled)
    return profiled.status();
  TRACEA_RETURN_IF_ERROR(firstRound(**profiled));
  // The median round of each kernel: one interrupted round says nothing.
  std::vector<std::vector<double>> rounds;
  std::vector<int64_t> launches;
  Stopwatch profile;
  do {
    (*profiled)->resetStats();
    TRACEA_RETURN_IF_ERROR(nextRound(**profiled));
    const std::vector<rt::KernelTime> &kernelTimes =
        (*profiled)->stats().kernelTimes;
    rounds.resize(kernelTimes.size());
    launches.resize(kernelTimes.size());
    for (size_t i = 0; i < kernelTimes.size(); ++i) {
      rounds[i].push_back(kernelTimes[i].seconds);
      launches[i] = kernelTimes[i].launches;
    }
  } while (profile.seconds() < options.seconds / 4);

  std::vector<KernelTiming> kernels = describeKernels(program, findWork);
  for (size_t i = 0; i < rounds.size(); ++i) {
    if (launches[i] == 0)
      continue;
    kernels[i].launches = launches[i];
    std::sort(rounds[i].begin(), rounds[i].end());
    kernels[i].seconds = medianOf(rounds[i]);
    timing.flops += kernels[i].flops;
    timing.kernels.push_back(std::move(kernels[i]));
  }
  return timing;
}

std::string tracea::driver::formatTiming(const Timing &timing) {
  std::string text = "time: median " + describeSeconds(timing.median) +
                     ", fastest " + describeSeconds(timing.fastest) +
                     ", slowest " + describeSeconds(timing.slowest) + ", " +
                     std::to_string(timing.rounds) + " rounds";
  if (timing.flops > 0)
    text += formatNumber(", %.1f GFLOP/s",
                         timing.flops / std::max(timing.median, 1e-12) / 1e9);
  text += "\n";
  if (timing.kernels.empty())
    return text;
  double sum = 0;
  for (const KernelTiming &kernel : timing.kernels)
    sum += kernel.seconds;
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "variant", "launches", "time", "share", "GFLOP/s", "GB/s"}};
  for (const KernelTiming &kernel : timing.kernels) {
    double time = std::max(kernel.seconds, 1e-12);
    rows.push_back(
        {kernel.kernel, kernel.variant.empty() ? "-" : kernel.variant,
         std::to_string(kernel.launches), describeSeconds(kernel.seconds),
         sum > 0 ? formatNumber("%.1f%%", 100 * kernel.seconds / sum) : "-",
         kernel.flops > 0 ? formatNumber("%.1f", kernel.flops / time / 1e9)
                          : "-",
         formatNumber("%.1f", kernel.bytes / time / 1e9)});
  }
  return text + formatTable(rows, {2, 3, 4, 5, 6});
}

nlohmann::ordered_json tracea::driver::toJSON(const Timing &timing) {
  nlohmann::ordered_json json;
  json["rounds"] = timing.rounds;
  json["medianSeconds"] = timing.median;
  json["fastestSeconds"] = timing.fastest;
  json["slowestSeconds"] = timing.slowest;
  if (timing.flops > 0)
    json["flops"] = timing.flops;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const KernelTiming &kernel : timing.kernels) {
    nlohmann::ordered_json entry;
    entry["kernel"] = kernel.kernel;
    entry["op"] = kernel.op;
    entry["variant"] = kernel.variant;
    entry["launches"] = kernel.launches;
    entry["seconds"] = kernel.seconds;
    if (kernel.flops > 0)
      entry["flops"] = kernel.flops;
    entry["bytes"] = kernel.bytes;
    json["kernels"].push_back(std::move(entry));
  }
  return json;
}
