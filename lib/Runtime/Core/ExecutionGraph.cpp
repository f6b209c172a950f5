//===- ExecutionGraph.cpp - Runs that are recorded ------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work of a run, from the first copy on the device to the last, is recorded
// into a graph, which the next run with the same shapes, addresses and numbers
// launches as a whole. A run is recorded when it comes for the second time:
// what changes with every run is not worth it. Few graphs are kept: where
// another one is needed, one that no run can use any more is updated in place,
// or the one that was used least recently.
//
//===----------------------------------------------------------------------===//

#include "ExecutionImpl.h"

#include <algorithm>
#include <utility>

namespace tracea::runtime {

/// Callers that use several sets of memory in turn rarely have more.
static constexpr size_t mostRecorded = 4;

/// How many elements of a key say for which shapes and places it is.
static constexpr size_t numGenerations = 2;

std::array<int64_t *, 5> Execution::Impl::counters() {
  return {&stats.launches, &stats.tiles, &stats.inputCopies,
          &stats.outputCopies, &stats.copiedBytes};
}

/// What decides which addresses and numbers the work has. Memory of the
/// program's own follows from the plan.
std::vector<int64_t> Execution::Impl::getKey(bool onDevice) const {
  std::vector<int64_t> key = {numBound, numPlanned, onDevice};
  auto add = [&](const Operand &operand) {
    key.push_back(
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(operand.data)));
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (entry->inputs[i].isScalar)
      key.push_back(inputs[i].scalar);
    else if (onDevice || !staged[i])
      add(inputs[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (onDevice || inPlace[i])
      add(outputs[i]);
  return key;
}

RecordedRun &Execution::Impl::chooseRecord() {
  for (RecordedRun &run : recorded)
    if (run.key.size() < numGenerations || run.key[0] != numBound ||
        run.key[1] != numPlanned)
      return run;
  if (recorded.size() < mostRecorded)
    return recorded.emplace_back();
  return *std::min_element(recorded.begin(), recorded.end(),
                           [](const RecordedRun &a, const RecordedRun &b) {
                             return a.lastUse < b.lastUse;
                           });
}

Status Execution::Impl::record(RecordedRun &run, Stream &on, bool onDevice) {
  run.key.clear();
  TRACEA_RETURN_IF_ERROR(on.beginCapture());
  std::array<int64_t *, 5> counts = counters();
  for (size_t i = 0; i < counts.size(); ++i)
    run.counts[i] = *counts[i];
  Status status = enqueueDirectly(on, onDevice);
  for (size_t i = 0; i < counts.size(); ++i) {
    int64_t before = run.counts[i];
    run.counts[i] = *counts[i] - before;
    *counts[i] = before;
  }
  if (!status.ok()) {
    // What was recorded is dropped.
    std::unique_ptr<Graph> dropped;
    (void)on.endCapture(dropped);
    return status;
  }
  TRACEA_RETURN_IF_ERROR(on.endCapture(run.graph));
  run.key = getKey(onDevice);
  ++stats.graphRecordings;
  return Status::success();
}

Status Execution::Impl::enqueueWork(Stream &on, bool onDevice) {
  if (!options.graph)
    return enqueueDirectly(on, onDevice);
  std::vector<int64_t> key = getKey(onDevice);
  auto found =
      std::find_if(recorded.begin(), recorded.end(),
                   [&](const RecordedRun &run) { return run.key == key; });
  RecordedRun *run = found != recorded.end() ? &*found : nullptr;
  bool isNew = std::exchange(lastKey, key) != key;
  // Steps that are done once are no part of what is repeated.
  if (isLoading || (!run && isNew))
    return enqueueDirectly(on, onDevice);
  if (!run) {
    Expected<bool> capturing = on.isCapturing();
    if (!capturing)
      return capturing.status();
    if (*capturing)
      return enqueueDirectly(on, onDevice);
    run = &chooseRecord();
    TRACEA_RETURN_IF_ERROR(record(*run, on, onDevice));
  }
  TRACEA_RETURN_IF_ERROR(on.launch(*run->graph));
  run->lastUse = stats.graphLaunches++;
  std::array<int64_t *, 5> counts = counters();
  for (size_t i = 0; i < counts.size(); ++i)
    *counts[i] += run->counts[i];
  return Status::success();
}

} // namespace tracea::runtime
