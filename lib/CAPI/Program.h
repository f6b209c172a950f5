//===- Program.h - What the handles of tracea.h stand for -------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_PROGRAM_H
#define TRACEA_LIB_CAPI_PROGRAM_H

#include "Compile.h"
#include "Devices.h"

#include <map>
#include <mutex>

struct TraceaProgram {
  explicit TraceaProgram(tracea::capi::Compiled compiled)
      : compiled(std::move(compiled)) {}

  const tracea::capi::Compiled compiled;

  std::mutex mutex;
  /// Its code on devices, by their numbers, as long as somebody uses it.
  std::map<int32_t, std::weak_ptr<tracea::runtime::Executable>> loaded;
  /// The container, made when it is asked for.
  std::vector<uint8_t> bytes;
};

struct TraceaExecution {
  TraceaExecution(tracea::capi::OpenDevice *device,
                  std::unique_ptr<tracea::runtime::Execution> execution)
      : device(device), execution(std::move(execution)) {}

  tracea::capi::OpenDevice *device;
  std::unique_ptr<tracea::runtime::Execution> execution;
  /// The caller's stream that was used last.
  std::unique_ptr<tracea::runtime::Stream> stream;
  void *streamHandle = nullptr;
  /// Constants that wait for the next run.
  std::vector<std::optional<TraceaTensorView>> bound;
  std::vector<std::vector<uint64_t>> boundShapes;
};

namespace tracea::capi {

/// The program's code on a device, loaded where it is not yet.
Expected<std::shared_ptr<runtime::Executable>> loadOn(TraceaProgram &program,
                                                      const OpenDevice &device);

/// Copies the options that the caller knows of, by their size.
Expected<CompileRequest> readOptions(const TraceaCompileOptions *options);

/// The stream of a handle of the caller's; `kept` holds it.
Expected<runtime::Stream *> findStream(OpenDevice &device, void *handle,
                                       std::unique_ptr<runtime::Stream> &kept,
                                       void *&keptHandle);

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_PROGRAM_H
