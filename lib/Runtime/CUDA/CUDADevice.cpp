//===- CUDADevice.cpp - The driver for NVIDIA's GPUs ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime asks of a device, in terms of its context.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CUDA/CUDADevice.h"

#include "CUDAModule.h"
#include "CUDAStream.h"
#include "CUDATensorMap.h"

#include <algorithm>

namespace tracea::runtime {

namespace {

using namespace cuda;

class CUDADevice final : public Device {
public:
  explicit CUDADevice(std::shared_ptr<Context> context)
      : context(std::move(context)) {
    const CUDADeviceProperties &p = this->context->properties();
    description.kind = "cuda";
    description.arch = p.arch();
    description.name = p.name;
    description.parallelism = std::max(p.multiprocessors, 1);
    description.hasGrid = true;
    description.hasGraphs = true;
    description.imageKinds = {ImageKind::Cubin, ImageKind::PTX};
    if (p.clusters)
      description.features.push_back("cluster");
    if (p.tensorMaps)
      description.features.push_back("tensor-map");
    if (p.major == 9 && p.minor == 0)
      description.features.push_back("wgmma");
    std::sort(description.features.begin(), description.features.end());
  }

  const DeviceInfo &info() const override { return description; }
  Status status() const override { return context->alive(); }

  std::vector<Unsupported> unsupported() const override {
    const CUDADeviceProperties &p = context->properties();
    std::vector<Unsupported> items = {
        {"host memory in place",
         "inputs and outputs in host memory are copied; give device memory to "
         "Execution::enqueue"}};
    if (!p.memoryPools)
      items.push_back({"memory pools", "this device has none; every allocation "
                                       "waits for the device"});
    if (!p.clusters)
      items.push_back({"clusters", "they begin with compute capability 9.0"});
    if (!p.tensorMaps)
      items.push_back(
          {"tensor maps", "they begin with compute capability 9.0"});
    return items;
  }

  Status checkTarget(const TargetSpec &target) const override {
    // The base compares the architecture by its name. Here it is the one that
    // the program was tuned for; its images decide what runs where.
    TargetSpec same = target;
    if (target.kind == description.kind && parseArch(target.arch))
      same.arch = description.arch;
    return Device::checkTarget(same);
  }

  Status checkMemory(const void *address, int64_t bytes) const override {
    if (bytes == 0)
      return Status::success();
    Current current(*context);
    TRACEA_RETURN_IF_ERROR(current.status);
    const API &api = context->api();
    DevicePtr pointer = reinterpret_cast<DevicePtr>(address);
    unsigned type = 0;
    if (api.cuPointerGetAttribute(&type, pointerMemoryType, pointer) !=
            success ||
        type != memoryTypeDevice)
      return Status::error("expected device memory, found an address of the "
                           "host");
    int ordinal = -1;
    if (api.cuPointerGetAttribute(&ordinal, pointerDeviceOrdinal, pointer) ==
            success &&
        ordinal != context->properties().ordinal)
      return Status::error("expected memory of device " +
                           std::to_string(context->properties().ordinal) +
                           ", found memory of device " +
                           std::to_string(ordinal));
    DevicePtr start = 0;
    size_t size = 0;
    if (api.cuPointerGetAttribute(&start, pointerRangeStart, pointer) ==
            success &&
        api.cuPointerGetAttribute(&size, pointerRangeBytes, pointer) ==
            success &&
        static_cast<uint64_t>(bytes) > start + size - pointer)
      return Status::error("expected " + std::to_string(bytes) +
                           " bytes, found " +
                           std::to_string(start + size - pointer) +
                           " up to the end of the allocation");
    return Status::success();
  }

  Status waitIdle() override { return context->waitIdle(); }

  Status encodeTensorMap(const TensorMapSpec &spec, void *address,
                         Span<const int64_t> sizes, Span<const int64_t> strides,
                         void *map) const override {
    TRACEA_RETURN_IF_ERROR(context->alive());
    if (!context->properties().tensorMaps)
      return Status::error("tensor map: this device (" + description.name +
                           ", " + description.arch + ") has none");
    Expected<TensorMapArguments> made =
        makeTensorMapArguments(spec, address, sizes, strides, context->blank());
    if (!made)
      return made.status();
    Current current(*context);
    TRACEA_RETURN_IF_ERROR(current.status);
    TensorMapArguments &a = *made;
    TensorMapBits *bits = static_cast<TensorMapBits *>(map);
    if (a.im2col)
      return context->check(context->api().cuTensorMapEncodeIm2col(
                                bits, a.dataType, a.rank, a.address, a.sizes,
                                a.strides, a.lower, a.upper, a.channelsPerPixel,
                                a.pixelsPerColumn, a.elementStrides,
                                a.interleave, a.swizzle, a.promotion, a.fill),
                            "cuTensorMapEncodeIm2col");
    return context->check(context->api().cuTensorMapEncodeTiled(
                              bits, a.dataType, a.rank, a.address, a.sizes,
                              a.strides, a.box, a.elementStrides, a.interleave,
                              a.swizzle, a.promotion, a.fill),
                          "cuTensorMapEncodeTiled");
  }

protected:
  Expected<std::shared_ptr<Buffer>> doAllocate(int64_t bytes,
                                               int64_t alignment) override {
    return CUDABuffer::create(context, bytes, alignment);
  }
  Expected<std::unique_ptr<Stream>> doCreateStream() override {
    return CUDAStream::create(context);
  }
  Expected<std::unique_ptr<Event>> doCreateEvent() override {
    return CUDAEvent::create(context);
  }
  Expected<size_t> doChooseImage(Span<const ImageSpec> images) const override {
    const CUDADeviceProperties &p = context->properties();
    return cuda::chooseImage(images, 10 * p.major + p.minor,
                             ptxVersionOf(p.driverVersion));
  }
  Expected<std::unique_ptr<Stream>> doBorrowStream(void *native) override {
    return CUDAStream::borrow(context, static_cast<StreamHandle>(native));
  }
  Expected<std::shared_ptr<Module>> doLoadModule(Bytes code) override {
    return CUDAModule::load(context, code);
  }

private:
  std::shared_ptr<Context> context;
  DeviceInfo description;
};

} // namespace

bool hasCUDADriver(const std::string &driverLibrary) {
  return Driver::isPresent(driverLibrary);
}

Expected<std::vector<CUDADeviceProperties>>
listCUDADevices(const std::string &driverLibrary) {
  Expected<std::shared_ptr<const Driver>> driver = Driver::open(driverLibrary);
  if (!driver)
    return driver.status().withContext("cuda");
  int count = 0;
  if (Result result = (*driver)->api.cuDeviceGetCount(&count))
    return (*driver)->error(result, "cuDeviceGetCount").withContext("cuda");
  if (count == 0)
    return Status::error("cuda: the driver has no device that this process "
                         "may use (CUDA_VISIBLE_DEVICES, device files, "
                         "permissions)");
  std::vector<CUDADeviceProperties> devices;
  for (int i = 0; i < count; ++i) {
    Expected<CUDADeviceProperties> info = readProperties(**driver, i);
    if (!info)
      return info.status().withContext("cuda");
    devices.push_back(std::move(*info));
  }
  return devices;
}

Expected<std::shared_ptr<Device>>
createCUDADevice(const CUDADeviceOptions &options) {
  try {
    Expected<std::shared_ptr<const Driver>> driver =
        Driver::open(options.driverLibrary);
    if (!driver)
      return driver.status().withContext("cuda");
    Expected<std::shared_ptr<Context>> context =
        Context::create(std::move(*driver), options);
    if (!context)
      return context.status().withContext("cuda");
    return std::shared_ptr<Device>(
        std::make_shared<CUDADevice>(std::move(*context)));
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("cuda: out of memory");
  }
}

} // namespace tracea::runtime
