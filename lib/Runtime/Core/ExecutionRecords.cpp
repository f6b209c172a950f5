//===- ExecutionRecords.cpp - What kernels could not do -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel on a grid cannot end a run. Where data makes it ask for what does
// not exist it leaves that in a record in the device's memory and goes on. The
// records of all steps are one buffer, which is looked at when results are
// waited for. No run sets it to zero: runs that are enqueued, and graphs that
// run again and again, leave there what nobody has seen yet.
//
//===----------------------------------------------------------------------===//

#include "Assertions.h"
#include "ExecutionImpl.h"

#include <algorithm>

namespace tracea::runtime {

Status Execution::Impl::makeRecords() {
  recordOffsets.assign(entry->steps.size(), -1);
  int64_t bytes = 0;
  for (size_t s = 0; s < entry->steps.size(); ++s) {
    const StepSpec &step = entry->steps[s];
    if (!step.isLaunch())
      continue;
    const KernelSpec &kernel =
        program->manifest.kernels[static_cast<size_t>(step.kernel)];
    if (!kernel.gpu || kernel.gpu->assertions.empty())
      continue;
    recordOffsets[s] = bytes;
    bytes += kernel.gpu->recordBytes();
  }
  if (bytes == 0)
    return Status::success();
  Expected<std::shared_ptr<Buffer>> buffer = program->device->allocate(bytes);
  if (!buffer)
    return buffer.status().withContext("records of assertions");
  records = std::move(*buffer);
  recordWords.resize(static_cast<size_t>(bytes) / sizeof(int64_t));
  Status status = stream->fill(*records, 0, bytes, 0);
  if (status.ok())
    status = stream->synchronize();
  if (!status.ok())
    giveUp(std::move(records));
  return status;
}

Status Execution::Impl::fetchRecords(Stream &on) {
  if (!records)
    return Status::success();
  return on.copyToHost(recordWords.data(), *records, 0, records->bytes());
}

Status Execution::Impl::checkRecords(Stream &on) {
  for (size_t s = 0; s < recordOffsets.size(); ++s) {
    if (recordOffsets[s] < 0)
      continue;
    const int64_t *words =
        &recordWords[static_cast<size_t>(recordOffsets[s]) / sizeof(int64_t)];
    const KernelSpec &kernel =
        program->manifest.kernels[static_cast<size_t>(entry->steps[s].kernel)];
    for (const std::string &text : kernel.gpu->assertions) {
      if (words[0] != 0) {
        // What stays between runs may be of that one.
        if (std::count(isConstantStep.begin(), isConstantStep.end(), true))
          isLoaded = false;
        // What is told is forgotten. The next run may be on another stream.
        TRACEA_RETURN_IF_ERROR(on.fill(*records, 0, records->bytes(), 0));
        TRACEA_RETURN_IF_ERROR(on.synchronize());
        return Status::error(fillAssertion(text, words[1], ~words[2]))
            .withContext(nameOfStep(s));
      }
      words += assertionWords;
    }
  }
  return Status::success();
}

Status Execution::Impl::waitFor(Stream &on) {
  Status fetched = fetchRecords(on);
  TRACEA_RETURN_IF_ERROR(synchronize(on));
  TRACEA_RETURN_IF_ERROR(fetched);
  return checkRecords(on);
}

} // namespace tracea::runtime
