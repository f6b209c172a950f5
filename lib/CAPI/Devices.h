//===- Devices.h - Devices by their numbers ---------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_DEVICES_H
#define TRACEA_LIB_CAPI_DEVICES_H

#include "Error.h"
#include "tracea/Runtime/Device.h"
#include "tracea/Runtime/Executable.h"

namespace tracea::capi {

using runtime::Span;

/// A device of this process, opened at its first use and never closed: streams
/// and memory of it may outlive what main does.
struct OpenDevice {
  int32_t number = TRACEA_CPU;
  std::shared_ptr<runtime::Device> device;
  /// The name in the target tables that code is made for; empty where no entry
  /// suits.
  std::string target;
  /// The CPU's, and the default stream of a GPU.
  std::unique_ptr<runtime::Stream> defaultStream;
};

Expected<OpenDevice *> openDeviceNumber(int32_t number);

/// "cpu", "cuda", "cuda:1": the number of the device; no value for names of the
/// target tables.
Expected<std::optional<int32_t>> parseDeviceName(const std::string &name);

/// What tracea_set_allocator set, for executions on a device.
std::function<Expected<std::shared_ptr<runtime::Buffer>>(
    int64_t bytes, int64_t alignment, runtime::Stream &stream)>
currentAllocator(const OpenDevice &device);

/// Runs on memory as it is described: at once where all of it is row-major;
/// what is not goes by way of a copy, which only a device can have that sees
/// the host's memory.
Status enqueue(const OpenDevice &device, runtime::Execution &execution,
               runtime::Stream &stream,
               Span<const runtime::DeviceTensor> inputs,
               Span<const runtime::DeviceTensor> outputs);

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_DEVICES_H
