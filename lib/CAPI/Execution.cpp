//===- Execution.cpp - Runs of programs -----------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Program.h"
#include "View.h"

#include <nlohmann/json.hpp>

#include <cstring>

namespace tracea::capi {

Expected<runtime::Stream *> findStream(OpenDevice &device, void *handle,
                                       std::unique_ptr<runtime::Stream> &kept,
                                       void *&keptHandle) {
  if (device.number < 0 || !handle)
    return device.defaultStream.get();
  if (!kept || keptHandle != handle) {
    Expected<std::unique_ptr<runtime::Stream>> stream =
        device.device->borrowStream(handle);
    if (!stream)
      return stream.status().withContext("stream");
    kept = std::move(*stream);
    keptHandle = handle;
  }
  return kept.get();
}

/// The views of a call, checked, as the runtime takes them.
class Operands {
public:
  Status add(const std::string &name, const TraceaTensorView &view,
             Memory memory, bool isScalar, const OpenDevice &device) {
    View &checked = views.emplace_back();
    TRACEA_RETURN_IF_ERROR(checkView(name.c_str(), view, memory, checked));
    int32_t expected = isScalar ? TRACEA_CPU : device.number;
    if (memory != Memory::NotNeeded && checked.device != expected)
      return Status::invalid(name + ": expected device_id " +
                             std::to_string(expected) + ", found " +
                             std::to_string(checked.device));
    return Status::success();
  }

  Span<const runtime::DeviceTensor> tensors() {
    list.clear();
    for (const View &view : views)
      list.push_back({view.data,
                      view.type,
                      view.shape(),
                      {view.strides.data(), view.rank}});
    return list;
  }

  void reserve(size_t count) { views.reserve(count); }

private:
  std::vector<View> views;
  std::vector<runtime::DeviceTensor> list;
};

static Status checkCount(const char *what, size_t expected, size_t found) {
  return expected == found
             ? Status::success()
             : Status::invalid(std::string(what) + ": expected " +
                               std::to_string(expected) + ", found " +
                               std::to_string(found));
}

static std::string nameOf(const runtime::EntrySpec &entry, size_t input) {
  return "input " + std::to_string(input) + " ('" + entry.inputs[input].name +
         "')";
}

static Status run(TraceaExecution &execution, const TraceaTensorView *inputs,
                  size_t numInputs, const TraceaTensorView *outputs,
                  size_t numOutputs, void *stream) {
  const runtime::EntrySpec &entry = execution.execution->entry();
  TRACEA_RETURN_IF_ERROR(
      checkCount("num_inputs", entry.inputs.size(), numInputs));
  TRACEA_RETURN_IF_ERROR(
      checkCount("num_outputs", entry.outputs.size(), numOutputs));
  Operands given, results;
  given.reserve(numInputs);
  results.reserve(numOutputs);
  for (size_t i = 0; i < numInputs; ++i) {
    const runtime::InputSpec &spec = entry.inputs[i];
    bool isLeftOut = spec.isConstant && !inputs[i].ptr;
    const TraceaTensorView &view =
        isLeftOut && execution.bound[i] ? *execution.bound[i] : inputs[i];
    TRACEA_RETURN_IF_ERROR(given.add(
        nameOf(entry, i), view,
        isLeftOut && !execution.bound[i] ? Memory::NotNeeded : Memory::Read,
        spec.isScalar, *execution.device));
  }
  for (size_t i = 0; i < numOutputs; ++i)
    TRACEA_RETURN_IF_ERROR(results.add("output " + std::to_string(i),
                                       outputs[i], Memory::Written, false,
                                       *execution.device));
  Expected<runtime::Stream *> on = findStream(
      *execution.device, stream, execution.stream, execution.streamHandle);
  if (!on)
    return on.status();
  TRACEA_RETURN_IF_ERROR(enqueue(*execution.device, *execution.execution, **on,
                                 given.tensors(), results.tensors()));
  // Constants are given once.
  for (std::optional<TraceaTensorView> &view : execution.bound)
    view.reset();
  // What the CPU found is known already.
  return execution.device->number < 0 ? execution.execution->wait(**on)
                                      : Status::success();
}

static Status prepare(TraceaExecution &execution,
                      const TraceaTensorView *inputs, size_t numInputs) {
  const runtime::EntrySpec &entry = execution.execution->entry();
  TRACEA_RETURN_IF_ERROR(
      checkCount("num_inputs", entry.inputs.size(), numInputs));
  std::vector<std::vector<int64_t>> shapes;
  std::vector<int64_t> scalars;
  for (size_t i = 0; i < numInputs; ++i) {
    View view;
    bool isScalar = entry.inputs[i].isScalar;
    TRACEA_RETURN_IF_ERROR(
        checkView(nameOf(entry, i).c_str(), inputs[i],
                  isScalar ? Memory::Read : Memory::NotNeeded, view));
    shapes.emplace_back(view.shape().begin(), view.shape().end());
    scalars.push_back(isScalar ? runtime::readAsSlot(view.type, view.data) : 0);
  }
  return execution.execution->prepare(shapes, scalars);
}

static std::string describe(const runtime::RunStats &stats) {
  nlohmann::ordered_json json;
  json["runs"] = stats.runs;
  json["launches"] = stats.launches;
  json["inputCopies"] = stats.inputCopies;
  json["outputCopies"] = stats.outputCopies;
  json["copiedBytes"] = stats.copiedBytes;
  json["workspaceBytes"] = stats.arenaBytes;
  json["workspaceGrowths"] = stats.arenaGrowths;
  json["constantLoads"] = stats.loads;
  json["graphRecordings"] = stats.graphRecordings;
  json["graphLaunches"] = stats.graphLaunches;
  return json.dump();
}

static Expected<runtime::ExecutionOptions>
readOptions(const TraceaExecutionOptions *given, int32_t &device) {
  TraceaExecutionOptions options = TRACEA_EXECUTION_OPTIONS_INIT;
  if (given) {
    if (given->size < sizeof options)
      return Status::invalid("options: expected size " +
                             std::to_string(sizeof options) + ", found " +
                             std::to_string(given->size));
    options = *given;
  }
  if (options.streams < 0 || options.streams > 64)
    return Status::invalid("streams: expected a number from 0 to 64, found " +
                           std::to_string(options.streams));
  if (options.max_workspace_bytes < 0)
    return Status::invalid("max_workspace_bytes: expected at least 0, found " +
                           std::to_string(options.max_workspace_bytes));
  runtime::ExecutionOptions result;
  result.streams = options.streams == 0 ? 1 : options.streams;
  result.graph = options.graph != 0;
  result.maxArenaBytes = options.max_workspace_bytes;
  device = options.device_id;
  return result;
}

/// Runs the body of a function that is given an execution.
template <typename Body>
static TraceaStatus withExecution(const char *function,
                                  const TraceaExecution *execution,
                                  Body &&body) {
  Status found = requireHandle(execution, "execution");
  if (!found.ok())
    return report(function, found, TRACEA_INTERNAL_ERROR);
  return guarded(function, deviceError(execution->device->number),
                 std::forward<Body>(body));
}

} // namespace tracea::capi

using namespace tracea;
using namespace tracea::capi;

TraceaStatus tracea_execution_create(TraceaProgram *program, const char *entry,
                                     const TraceaExecutionOptions *options,
                                     TraceaExecution **execution) {
  int32_t number = TRACEA_CPU;
  TraceaStatus other =
      options && options->device_id >= 0 ? TRACEA_CUDA_ERROR : TRACEA_CPU_ERROR;
  return guarded(__func__, other, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requireHandle(program, "program"));
    TRACEA_RETURN_IF_ERROR(requirePointer(execution, "execution"));
    Expected<runtime::ExecutionOptions> runs =
        capi::readOptions(options, number);
    if (!runs)
      return runs.status();
    Expected<OpenDevice *> device = openDeviceNumber(number);
    if (!device)
      return device.status();
    runs->allocate = currentAllocator(**device);
    Expected<std::shared_ptr<runtime::Executable>> executable =
        loadOn(*program, **device);
    if (!executable)
      return executable.status();
    Expected<std::unique_ptr<runtime::Execution>> made =
        (*executable)->createExecution(entry ? entry : "", *runs);
    if (!made)
      return made.status().asKind(ErrorKind::InvalidArgument);
    auto fresh = std::make_unique<TraceaExecution>(*device, std::move(*made));
    fresh->bound.resize(fresh->execution->entry().inputs.size());
    fresh->boundShapes.resize(2 * fresh->bound.size());
    give(std::move(fresh), execution);
    return Status::success();
  });
}

TraceaStatus tracea_execution_share(TraceaExecution *execution,
                                    TraceaExecution **other) {
  return withExecution(__func__, execution, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(other, "other"));
    Expected<std::unique_ptr<runtime::Execution>> made =
        execution->execution->share();
    if (!made)
      return made.status();
    auto fresh =
        std::make_unique<TraceaExecution>(execution->device, std::move(*made));
    fresh->bound.resize(execution->bound.size());
    fresh->boundShapes.resize(execution->boundShapes.size());
    give(std::move(fresh), other);
    return Status::success();
  });
}

void tracea_execution_free(TraceaExecution *execution) {
  freeHandle(__func__, execution);
}

TraceaStatus tracea_execution_bind(TraceaExecution *execution, size_t input,
                                   const TraceaTensorView *view) {
  return withExecution(__func__, execution, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(view, "view"));
    const runtime::EntrySpec &entry = execution->execution->entry();
    if (input >= entry.inputs.size())
      return Status::invalid("input: expected the number of one of " +
                             std::to_string(entry.inputs.size()) +
                             " inputs, found " + std::to_string(input));
    if (!entry.inputs[input].isConstant)
      return Status::invalid(nameOf(entry, input) +
                             ": expected a constant argument, found one that "
                             "each run is given");
    View checked;
    TRACEA_RETURN_IF_ERROR(
        checkView(nameOf(entry, input).c_str(), *view, Memory::Read, checked));
    // The caller's arrays need not live as long as the memory does.
    std::vector<uint64_t> &shape = execution->boundShapes[2 * input];
    std::vector<uint64_t> &stride = execution->boundShapes[2 * input + 1];
    shape.assign(checked.shape().begin(), checked.shape().end());
    stride.assign(checked.strides.begin(),
                  checked.strides.begin() + checked.rank);
    TraceaTensorView kept = *view;
    kept.shape = shape.data();
    kept.stride = reinterpret_cast<const int64_t *>(stride.data());
    execution->bound[input] = kept;
    return Status::success();
  });
}

TraceaStatus tracea_execution_run(TraceaExecution *execution,
                                  const TraceaTensorView *inputs,
                                  size_t num_inputs,
                                  const TraceaTensorView *outputs,
                                  size_t num_outputs, void *stream) {
  return withExecution(__func__, execution, [&]() -> Status {
    if (num_inputs)
      TRACEA_RETURN_IF_ERROR(requirePointer(inputs, "inputs"));
    if (num_outputs)
      TRACEA_RETURN_IF_ERROR(requirePointer(outputs, "outputs"));
    return run(*execution, inputs, num_inputs, outputs, num_outputs, stream);
  });
}

TraceaStatus tracea_execution_wait(TraceaExecution *execution, void *stream) {
  return withExecution(__func__, execution, [&]() -> Status {
    Expected<runtime::Stream *> on = findStream(
        *execution->device, stream, execution->stream, execution->streamHandle);
    if (!on)
      return on.status();
    return execution->execution->wait(**on);
  });
}

TraceaStatus tracea_execution_prepare(TraceaExecution *execution,
                                      const TraceaTensorView *inputs,
                                      size_t num_inputs) {
  return withExecution(__func__, execution, [&]() -> Status {
    if (num_inputs)
      TRACEA_RETURN_IF_ERROR(requirePointer(inputs, "inputs"));
    return prepare(*execution, inputs, num_inputs);
  });
}

TraceaStatus tracea_execution_output_shape(const TraceaExecution *execution,
                                           size_t output, uint64_t *shape,
                                           uint32_t *rank) {
  return withExecution(__func__, execution, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(shape, "shape"));
    TRACEA_RETURN_IF_ERROR(requirePointer(rank, "rank"));
    size_t count = execution->execution->entry().outputs.size();
    if (output >= count)
      return Status::invalid("output: expected the number of one of " +
                             std::to_string(count) + " outputs, found " +
                             std::to_string(output));
    Span<const int64_t> sizes = execution->execution->outputShape(output);
    if (sizes.size() > maxRank)
      return Status::unsupported(
          "output: expected at most " + std::to_string(maxRank) +
          " dimensions, found " + std::to_string(sizes.size()));
    for (size_t i = 0; i < sizes.size(); ++i)
      shape[i] = static_cast<uint64_t>(sizes[i]);
    *rank = static_cast<uint32_t>(sizes.size());
    return Status::success();
  });
}

TraceaStatus tracea_execution_stats(const TraceaExecution *execution,
                                    char *buffer, size_t size, size_t *length) {
  return withExecution(__func__, execution, [&]() -> Status {
    return copyText(describe(execution->execution->stats()), buffer, size,
                    length);
  });
}
