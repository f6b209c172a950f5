//===- Device.cpp - What all drivers share --------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of the public functions, so that no driver repeats them, and the
// list of drivers.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Device.h"

#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/CUDA/CUDADevice.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace tracea::runtime {

Buffer::~Buffer() = default;
Kernel::~Kernel() = default;
Module::~Module() = default;
Event::~Event() = default;
Graph::~Graph() = default;
Stream::~Stream() = default;
Device::~Device() = default;

/// Calls a driver; an exception of a library that it uses becomes a failure.
template <typename F>
static auto guarded(F &&call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception &failure) {
    return Status::error(std::string("driver: ") + failure.what());
  }
}

static Status checkRange(const Buffer &buffer, int64_t offset, int64_t bytes,
                         const char *what) {
  if (offset >= 0 && bytes >= 0 && offset <= buffer.bytes() &&
      bytes <= buffer.bytes() - offset)
    return Status::success();
  return Status::error(std::string(what) + ": expected a part of a buffer of " +
                       std::to_string(buffer.bytes()) + " bytes, found " +
                       std::to_string(bytes) + " bytes at " +
                       std::to_string(offset));
}

Status Stream::copyToDevice(Buffer &to, int64_t offset, const void *from,
                            int64_t bytes) {
  TRACEA_RETURN_IF_ERROR(checkRange(to, offset, bytes, "copy to device"));
  if (bytes == 0)
    return Status::success();
  return guarded([&] { return doCopyToDevice(to, offset, from, bytes); });
}

Status Stream::copyToHost(void *to, const Buffer &from, int64_t offset,
                          int64_t bytes) {
  TRACEA_RETURN_IF_ERROR(checkRange(from, offset, bytes, "copy to host"));
  if (bytes == 0)
    return Status::success();
  return guarded([&] { return doCopyToHost(to, from, offset, bytes); });
}

Status Stream::copy(Buffer &to, int64_t toOffset, const Buffer &from,
                    int64_t fromOffset, int64_t bytes) {
  TRACEA_RETURN_IF_ERROR(checkRange(to, toOffset, bytes, "copy"));
  TRACEA_RETURN_IF_ERROR(checkRange(from, fromOffset, bytes, "copy"));
  if (bytes == 0)
    return Status::success();
  if (&to == &from && toOffset < fromOffset + bytes &&
      fromOffset < toOffset + bytes)
    return Status::error("copy: the ranges at " + std::to_string(toOffset) +
                         " and " + std::to_string(fromOffset) + " of " +
                         std::to_string(bytes) + " bytes overlap");
  return guarded([&] { return doCopy(to, toOffset, from, fromOffset, bytes); });
}

Status Stream::fill(Buffer &to, int64_t offset, int64_t bytes, uint8_t value) {
  TRACEA_RETURN_IF_ERROR(checkRange(to, offset, bytes, "fill"));
  if (bytes == 0)
    return Status::success();
  return guarded([&] { return doFill(to, offset, bytes, value); });
}

Status checkTiles(int64_t tiles) {
  if (tiles < 0)
    return Status::error("expected at least 0 tiles, found " +
                         std::to_string(tiles));
  if (tiles > maxTiles)
    return Status::error("expected at most " + std::to_string(maxTiles) +
                         " tiles, found " + std::to_string(tiles));
  return Status::success();
}

Status Stream::launch(const std::shared_ptr<Kernel> &kernel, int64_t tiles,
                      const LaunchArguments &arguments) {
  if (!kernel)
    return Status::error("launch: expected a kernel, found null");
  if (Status status = checkTiles(tiles); !status.ok())
    return status.withContext("launch of \"" + kernel->symbol() + "\"");
  if (tiles == 0)
    return Status::success();
  return guarded([&] { return doLaunch(kernel, tiles, arguments); });
}

Status Stream::launch(const std::shared_ptr<Kernel> &kernel, const Grid &grid,
                      const LaunchArguments &arguments) {
  if (!kernel)
    return Status::error("launch: expected a kernel, found null");
  return guarded([&] { return doLaunchGrid(kernel, grid, arguments); });
}

Status Stream::doLaunchGrid(const std::shared_ptr<Kernel> &kernel, const Grid &,
                            const LaunchArguments &) {
  return Status::error("launch of \"" + kernel->symbol() +
                       "\": this device runs tiles, not grids");
}

Status Stream::record(Event &event) {
  return guarded([&] { return doRecord(event); });
}

Status Stream::wait(const Event &event) {
  return guarded([&] { return doWait(event); });
}

Status Stream::synchronize() {
  return guarded([&] { return doSynchronize(); });
}

Expected<bool> Stream::isCapturing() const { return false; }

Status Stream::beginCapture() {
  return guarded([&] { return doBeginCapture(); });
}

Status Stream::endCapture(std::unique_ptr<Graph> &graph) {
  return guarded([&] { return doEndCapture(graph); });
}

Status Stream::launch(Graph &graph) {
  return guarded([&] { return doLaunchGraph(graph); });
}

static Status noGraphs() {
  return Status::error("streams of this device record no graphs");
}
Status Stream::doBeginCapture() { return noGraphs(); }
Status Stream::doEndCapture(std::unique_ptr<Graph> &) { return noGraphs(); }
Status Stream::doLaunchGraph(Graph &) { return noGraphs(); }

Status Kernel::checkParameters(Span<const int64_t>) const {
  return Status::success();
}

Expected<Grid> Kernel::fitGrid(const Grid &grid) const { return grid; }

Expected<std::shared_ptr<Kernel>> Module::kernel(const std::string &symbol,
                                                 int64_t workspaceBytes) {
  KernelConfig config;
  config.workspaceBytes = workspaceBytes;
  return kernel(symbol, config);
}

Expected<std::shared_ptr<Kernel>> Module::kernel(const std::string &symbol,
                                                 const KernelConfig &config) {
  if (config.workspaceBytes < 0)
    return Status::error(
        "kernel \"" + symbol +
        "\": expected a workspace of at least 0 bytes, found " +
        std::to_string(config.workspaceBytes));
  return guarded([&] { return doKernel(symbol, config); });
}

Expected<std::shared_ptr<Buffer>> Device::allocate(int64_t bytes,
                                                   int64_t alignment) {
  if (bytes < 0 || alignment < 1 || (alignment & (alignment - 1)) != 0)
    return Status::error("allocate: expected at least 0 bytes and a power of "
                         "two as alignment, found " +
                         std::to_string(bytes) + " and " +
                         std::to_string(alignment));
  return guarded(
      [&] { return doAllocate(bytes, std::max<int64_t>(alignment, 64)); });
}

Expected<std::unique_ptr<Stream>> Device::createStream() {
  return guarded([&] { return doCreateStream(); });
}

Expected<std::unique_ptr<Event>> Device::createEvent() {
  return guarded([&] { return doCreateEvent(); });
}

Expected<std::unique_ptr<Stream>> Device::borrowStream(void *native) {
  return guarded([&] { return doBorrowStream(native); });
}

Expected<std::unique_ptr<Stream>> Device::doBorrowStream(void *) {
  return Status::error("the device \"" + info().kind +
                       "\" has no streams of its own to borrow");
}

Status Device::status() const { return Status::success(); }
Status Device::waitIdle() { return Status::success(); }

Status Device::checkMemory(const void *, int64_t) const {
  return Status::success();
}

Expected<size_t> Device::chooseImage(Span<const ImageSpec> images) const {
  const std::vector<ImageKind> &kinds = info().imageKinds;
  std::string taken, found;
  for (ImageKind kind : kinds)
    taken += (taken.empty() ? "" : " or ") + std::string(nameOf(kind));
  for (const ImageSpec &image : images) {
    if (std::find(kinds.begin(), kinds.end(), image.kind) != kinds.end())
      return doChooseImage(images);
    found += (found.empty() ? "" : ", ") + std::string(nameOf(image.kind)) +
             " for " + image.arch;
  }
  return Status::error("expected an image of a kind that the device \"" +
                       info().kind + "\" takes, " + taken + ", found " +
                       (found.empty() ? "none" : found));
}

Expected<size_t> Device::doChooseImage(Span<const ImageSpec> images) const {
  for (ImageKind kind : info().imageKinds)
    for (size_t i = 0; i < images.size(); ++i)
      if (images[i].kind == kind)
        return i;
  return Status::error("no image");
}

Status Device::encodeTensorMap(const TensorMapSpec &, void *,
                               Span<const int64_t>, Span<const int64_t>,
                               void *) const {
  return Status::error("the device \"" + info().kind + "\" has no tensor maps");
}

Expected<std::shared_ptr<Module>> Device::loadModule(Bytes code) {
  return guarded([&] { return doLoadModule(code); });
}

Status Device::checkTarget(const TargetSpec &target) const {
  const DeviceInfo &device = info();
  if (target.kind != device.kind)
    return Status::error("the program is for the target kind \"" + target.kind +
                         "\", the device is \"" + device.kind + "\"");
  if (target.arch != device.arch)
    return Status::error("the program is for the architecture \"" +
                         target.arch + "\", the device is \"" + device.arch +
                         "\"");
  std::string missing;
  for (const std::string &feature : target.features)
    if (!std::binary_search(device.features.begin(), device.features.end(),
                            feature))
      missing += (missing.empty() ? "" : ", ") + feature;
  if (!missing.empty())
    return Status::error("the program (for \"" + target.name + "\") needs " +
                         missing + ", which this device (" + device.name +
                         ") is not known to have");
  return Status::success();
}

void ArgPacker::f32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  slots.push_back(static_cast<int64_t>(bits));
}

void ArgPacker::f64(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  slots.push_back(bits);
}

Expected<std::shared_ptr<Device>> openDevice(const std::string &kind,
                                             const DeviceOptions &options) {
  if (kind == "cpu") {
    CPUDeviceOptions cpu;
    cpu.threads = options.threads;
    return createCPUDevice(cpu);
  }
  if (kind == "cuda") {
    CUDADeviceOptions cuda;
    cuda.ordinal = options.ordinal;
    cuda.driverLibrary = options.driverLibrary;
    return createCUDADevice(cuda);
  }
  return Status::error("no driver for the target kind \"" + kind +
                       "\"; this build has: cpu, cuda");
}

} // namespace tracea::runtime
