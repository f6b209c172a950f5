//===- GuardedDevice.cpp - A CPU whose memory ends at guard pages ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GuardedDevice.h"

#include "../Numerics/Numerics.h"
#include "CPUModule.h"
#include "tracea/Runtime/CPU/CPUDevice.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

using namespace tracea;
using namespace tracea::runtime;

namespace {

constexpr int64_t alignment = 64;
constexpr uint8_t canary = 0xA5;
/// NaN in all formats of floats.
constexpr uint8_t poison = 0xFF;

/// Bytes that end, but for what their alignment asks, at a guard page.
class GuardedMemory {
public:
  explicit GuardedMemory(int64_t bytes) : bytes(bytes) {
    int64_t page = sysconf(_SC_PAGESIZE);
    rounded = (bytes + alignment - 1) / alignment * alignment;
    int64_t usable = (rounded + page - 1) / page * page;
    mapped = usable + 2 * page;
    void *memory =
        mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapping = static_cast<uint8_t *>(memory);
    if (memory == MAP_FAILED ||
        (usable &&
         mprotect(mapping + page, usable, PROT_READ | PROT_WRITE) != 0)) {
      std::perror("mmap");
      std::abort();
    }
    first = mapping + page + usable - rounded;
    fill();
  }
  ~GuardedMemory() { munmap(mapping, mapped); }
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  void fill() {
    std::memset(first, poison, bytes);
    std::memset(first + bytes, canary, rounded - bytes);
  }
  bool isIntact() const {
    for (int64_t i = bytes; i < rounded; ++i)
      if (first[i] != canary)
        return false;
    return true;
  }
  void *data() const { return first; }

private:
  uint8_t *mapping, *first;
  int64_t bytes, rounded, mapped;
};

class GuardedBuffer final : public Buffer {
public:
  explicit GuardedBuffer(std::unique_ptr<GuardedMemory> memory, int64_t bytes)
      : Buffer(memory->data(), bytes), memory(std::move(memory)) {}

private:
  std::unique_ptr<GuardedMemory> memory;
};

char *at(const Buffer &buffer, int64_t offset) {
  return static_cast<char *>(buffer.address()) + offset;
}

class GuardedStream final : public Stream {
protected:
  Status doCopyToDevice(Buffer &to, int64_t offset, const void *from,
                        int64_t bytes) override {
    std::memcpy(at(to, offset), from, bytes);
    return Status::success();
  }
  Status doCopyToHost(void *to, const Buffer &from, int64_t offset,
                      int64_t bytes) override {
    std::memcpy(to, at(from, offset), bytes);
    return Status::success();
  }
  Status doCopy(Buffer &to, int64_t toOffset, const Buffer &from,
                int64_t fromOffset, int64_t bytes) override {
    std::memcpy(at(to, toOffset), at(from, fromOffset), bytes);
    return Status::success();
  }
  Status doFill(Buffer &to, int64_t offset, int64_t bytes,
                uint8_t value) override {
    std::memset(at(to, offset), value, bytes);
    return Status::success();
  }
  Status doLaunch(const std::shared_ptr<Kernel> &kernel, int64_t tiles,
                  const LaunchArguments &arguments) override {
    arguments.writeAddresses();
    const auto &native = dynamic_cast<const CPUKernel &>(*kernel);
    GuardedMemory workspace(native.workspaceBytes);
    std::vector<int64_t> order(tiles);
    std::iota(order.begin(), order.end(), 0);
    numerics::Random random(tiles);
    for (int64_t i = tiles - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1)]);
    for (int64_t tile : order) {
      workspace.fill();
      native.function(arguments.slots.data(), tile, tile + 1, workspace.data());
      if (!workspace.isIntact())
        return Status::error("wrote past its workspace");
    }
    return Status::success();
  }
  // What has been enqueued has run.
  Status doRecord(Event &) override { return Status::success(); }
  Status doWait(const Event &) override { return Status::success(); }
  Status doSynchronize() override { return Status::success(); }
};

class GuardedDevice final : public Device {
public:
  GuardedDevice() {
    CPUDeviceOptions options;
    options.threads = 1;
    description = (*createCPUDevice(options))->info();
  }
  const DeviceInfo &info() const override { return description; }
  std::vector<Unsupported> unsupported() const override { return {}; }

protected:
  Expected<std::shared_ptr<Buffer>> doAllocate(int64_t bytes,
                                               int64_t) override {
    return std::shared_ptr<Buffer>(std::make_shared<GuardedBuffer>(
        std::make_unique<GuardedMemory>(bytes), bytes));
  }
  Expected<std::unique_ptr<Stream>> doCreateStream() override {
    return std::unique_ptr<Stream>(std::make_unique<GuardedStream>());
  }
  Expected<std::unique_ptr<Event>> doCreateEvent() override {
    return std::unique_ptr<Event>(std::make_unique<Event>());
  }
  Expected<std::shared_ptr<Module>> doLoadModule(Bytes code) override {
    return CPUModule::load(code, /*throughFile=*/false);
  }

private:
  DeviceInfo description;
};

} // namespace

std::shared_ptr<Device> tracea::mutants::createGuardedDevice() {
  return std::make_shared<GuardedDevice>();
}
