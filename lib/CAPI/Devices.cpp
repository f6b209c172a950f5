//===- Devices.cpp - Devices by their numbers -----------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Devices.h"

#include "tracea/TargetInfo/TargetInfo.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>

namespace tracea::capi {

namespace {
constexpr int32_t mostDevices = 64;

std::mutex openMutex;
/// By number, the CPU first. Devices that are open are read without the mutex.
std::atomic<OpenDevice *> openDevices[mostDevices + 1];

std::mutex allocatorMutex;
std::shared_ptr<const TraceaAllocator> allocator;

/// Memory of the caller's allocator.
class GivenBuffer final : public runtime::Buffer {
public:
  GivenBuffer(std::shared_ptr<const TraceaAllocator> owner, void *base,
              void *address, int64_t bytes, size_t whole, int32_t device,
              void *stream)
      : Buffer(address, bytes), owner(std::move(owner)), base(base),
        whole(whole), device(device), stream(stream) {}
  ~GivenBuffer() override {
    owner->release(owner->context, base, whole, device, stream);
  }

private:
  std::shared_ptr<const TraceaAllocator> owner;
  void *base;
  size_t whole;
  int32_t device;
  void *stream;
};
} // namespace

/// Code for one chip alone is what uses all of it.
static std::string targetOf(const runtime::DeviceInfo &info) {
  if (info.kind == "cpu")
    return "cpu";
  for (const std::string &name : {info.arch + "a", info.arch})
    if (target::lookup(name))
      return name;
  return "";
}

static Expected<OpenDevice *> open(int32_t number) {
  auto fresh = std::make_unique<OpenDevice>();
  fresh->number = number;
  runtime::DeviceOptions options;
  options.ordinal = std::max(number, 0);
  Expected<std::shared_ptr<runtime::Device>> device =
      runtime::openDevice(number < 0 ? "cpu" : "cuda", options);
  if (!device)
    return device.status();
  fresh->device = *device;
  Expected<std::unique_ptr<runtime::Stream>> stream =
      number < 0 ? fresh->device->createStream()
                 : fresh->device->borrowStream(nullptr);
  if (!stream)
    return stream.status();
  fresh->defaultStream = std::move(*stream);
  fresh->target = targetOf(fresh->device->info());
  return fresh.release();
}

Expected<OpenDevice *> openDeviceNumber(int32_t number) {
  if (number < TRACEA_CPU || number >= mostDevices)
    return Status::invalid("device_id: expected -1 for the CPU, or the number "
                           "of a GPU from 0 to " +
                           std::to_string(mostDevices - 1) + ", found " +
                           std::to_string(number));
  std::atomic<OpenDevice *> &place = openDevices[number + 1];
  if (OpenDevice *device = place.load(std::memory_order_acquire))
    return device;
  std::lock_guard<std::mutex> lock(openMutex);
  if (OpenDevice *device = place.load(std::memory_order_acquire))
    return device;
  Expected<OpenDevice *> device = open(number);
  if (!device)
    return device.status().withContext(
        number < 0 ? "the CPU" : "GPU " + std::to_string(number));
  place.store(*device, std::memory_order_release);
  return *device;
}

Expected<std::optional<int32_t>> parseDeviceName(const std::string &name) {
  if (name == "cpu" || name == "host")
    return std::optional<int32_t>(TRACEA_CPU);
  if (name == "cuda")
    return std::optional<int32_t>(0);
  if (name.compare(0, 5, "cuda:") != 0)
    return std::optional<int32_t>();
  int32_t number = -1;
  const char *end = name.data() + name.size();
  std::from_chars_result result = std::from_chars(name.data() + 5, end, number);
  if (result.ec != std::errc() || result.ptr != end || number < 0)
    return Status::invalid("target: expected cuda or cuda:N with the number of "
                           "a GPU, found '" +
                           name + "'");
  return std::optional<int32_t>(number);
}

std::function<Expected<std::shared_ptr<runtime::Buffer>>(int64_t, int64_t,
                                                         runtime::Stream &)>
currentAllocator(const OpenDevice &device) {
  std::shared_ptr<const TraceaAllocator> owner;
  {
    std::lock_guard<std::mutex> lock(allocatorMutex);
    owner = allocator;
  }
  if (!owner || device.number < 0)
    return nullptr;
  int32_t number = device.number;
  return [owner, number](int64_t bytes, int64_t alignment,
                         runtime::Stream &stream)
             -> Expected<std::shared_ptr<runtime::Buffer>> {
    size_t whole = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    void *native = stream.native();
    void *base = owner->allocate(
        owner->context, whole, static_cast<size_t>(alignment), number, native);
    if (!base)
      return Status::outOfMemory("the caller's allocator has no " +
                                 std::to_string(bytes) + " bytes");
    std::shared_ptr<runtime::Buffer> buffer = std::make_shared<GivenBuffer>(
        owner, base, base, bytes, whole, number, native);
    if (reinterpret_cast<uintptr_t>(base) % static_cast<uintptr_t>(alignment))
      return Status::invalid("allocate: expected memory aligned to " +
                             std::to_string(alignment) +
                             " bytes, found an address that is not");
    return buffer;
  };
}

static bool isRowMajor(const runtime::DeviceTensor &tensor) {
  int64_t inside = 1;
  for (size_t i = tensor.strides.size(); i-- > 0;) {
    if (tensor.shape[i] == 0)
      return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != inside)
      return false;
    inside *= tensor.shape[i];
  }
  return true;
}

/// Of a constant that is left out, which has no memory, the null tensor.
static Expected<runtime::Tensor> toTensor(const runtime::DeviceTensor &tensor,
                                          bool mayBeNull) {
  if (!tensor.data && mayBeNull)
    return runtime::Tensor();
  return runtime::Tensor::borrow(tensor.data, tensor.type, tensor.shape,
                                 tensor.strides);
}

static Status runOnHost(runtime::Execution &execution,
                        Span<const runtime::DeviceTensor> inputs,
                        Span<const runtime::DeviceTensor> outputs) {
  std::vector<runtime::Tensor> given, results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool isConstant = i < execution.entry().inputs.size() &&
                      execution.entry().inputs[i].isConstant;
    Expected<runtime::Tensor> tensor = toTensor(inputs[i], isConstant);
    if (!tensor)
      return tensor.status();
    given.push_back(std::move(*tensor));
  }
  for (const runtime::DeviceTensor &output : outputs) {
    Expected<runtime::Tensor> tensor = toTensor(output, false);
    if (!tensor)
      return tensor.status();
    results.push_back(std::move(*tensor));
  }
  return execution.run(given, results);
}

Status enqueue(const OpenDevice &device, runtime::Execution &execution,
               runtime::Stream &stream,
               Span<const runtime::DeviceTensor> inputs,
               Span<const runtime::DeviceTensor> outputs) {
  bool allRowMajor = std::all_of(inputs.begin(), inputs.end(), isRowMajor) &&
                     std::all_of(outputs.begin(), outputs.end(), isRowMajor);
  if (device.device->info().hostAccessible && !allRowMajor)
    return runOnHost(execution, inputs, outputs);
  return execution.enqueue(stream, inputs, outputs);
}

static std::string describe(const OpenDevice &device) {
  const runtime::DeviceInfo &info = device.device->info();
  nlohmann::ordered_json json;
  json["device_id"] = device.number;
  json["kind"] = info.kind;
  json["name"] = info.name;
  json["arch"] = info.arch;
  json["target"] = device.target;
  json["parallelism"] = info.parallelism;
  json["features"] = info.features;
  return json.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_device_describe(int32_t device_id, char *buffer,
                                    size_t size, size_t *length) {
  return guarded(__func__, deviceError(device_id), [&]() -> Status {
    Expected<OpenDevice *> device = openDeviceNumber(device_id);
    if (!device)
      return device.status();
    return copyText(describe(**device), buffer, size, length);
  });
}

TraceaStatus tracea_device_synchronize(int32_t device_id) {
  return guarded(__func__, deviceError(device_id), [&]() -> Status {
    Expected<OpenDevice *> device = openDeviceNumber(device_id);
    if (!device)
      return device.status();
    return (*device)->device->waitIdle();
  });
}

TraceaStatus tracea_set_allocator(const TraceaAllocator *given) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    std::shared_ptr<TraceaAllocator> fresh;
    if (given) {
      if (given->size < sizeof(TraceaAllocator) || !given->allocate ||
          !given->release)
        return Status::invalid("allocator: expected its size and both "
                               "functions, found size " +
                               std::to_string(given->size) +
                               (given->allocate ? "" : ", no allocate") +
                               (given->release ? "" : ", no release"));
      fresh = std::make_shared<TraceaAllocator>(*given);
    }
    std::lock_guard<std::mutex> lock(allocatorMutex);
    allocator = std::move(fresh);
    return Status::success();
  });
}
