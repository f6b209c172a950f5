//===- CPUDevice.cpp - The driver for the host's processors ---------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers are host memory and streams are eager, so the driver is mostly the
// launch: who runs which tiles, and with which scratch memory.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/CPUDevice.h"

#include "CPUModule.h"

#include "tracea/Runtime/CPU/HostCPU.h"
#include "tracea/Runtime/CPU/ThreadPool.h"
#include "tracea/Runtime/Tensor.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace tracea::runtime {

namespace {

/// Scratch memory of one thread; grows and never shrinks.
class Workspace {
public:
  Status ensure(int64_t bytes) {
    if (bytes <= size)
      return Status::success();
    // Nothing in it is worth keeping, and both together may not fit.
    memory.reset();
    size = 0;
    Expected<std::shared_ptr<void>> grown = allocateAligned(bytes, 64);
    if (!grown)
      return grown.status().withContext("workspace");
    memory = std::move(*grown);
    size = bytes;
    return Status::success();
  }
  void *data() const { return memory.get(); }

private:
  std::shared_ptr<void> memory;
  int64_t size = 0;
};

class CPUBuffer final : public Buffer {
public:
  CPUBuffer(std::shared_ptr<void> memory, int64_t bytes)
      : Buffer(memory.get(), bytes), memory(std::move(memory)) {}

private:
  std::shared_ptr<void> memory;
};

/// The part of the device that streams keep alive.
class CPUEngine {
public:
  explicit CPUEngine(int threads)
      : pool(threads), spaces(static_cast<size_t>(threads)) {}

  int threads() const { return pool.threads(); }

  Status launch(const CPUKernel &kernel, int64_t tiles,
                Span<const int64_t> args) {
    if (pool.threads() > 1 && tiles > 1) {
      std::unique_lock<std::mutex> lock(poolMutex, std::try_to_lock);
      if (lock.owns_lock())
        return launchOnPool(kernel, tiles, args);
    }
    return launchHere(kernel, tiles, args);
  }

private:
  struct Job {
    const CPUKernel *kernel;
    const int64_t *args;
    const std::vector<Workspace> *spaces;
  };

  /// Shares the tiles out to the pool's threads; the caller holds `poolMutex`.
  Status launchOnPool(const CPUKernel &kernel, int64_t tiles,
                      Span<const int64_t> args) {
    for (Workspace &space : spaces) {
      TRACEA_RETURN_IF_ERROR(space.ensure(kernel.workspaceBytes));
      kernel.clearAssertions(space.data());
    }
    Job job = {&kernel, args.data(), &spaces};
    pool.run(
        tiles,
        [](void *context, int64_t begin, int64_t end, int thread) {
          const Job &job = *static_cast<const Job *>(context);
          job.kernel->function(
              job.args, begin, end,
              (*job.spaces)[static_cast<size_t>(thread)].data());
        },
        &job);
    for (const Workspace &space : spaces)
      TRACEA_RETURN_IF_ERROR(kernel.getFailedAssertion(space.data()));
    return Status::success();
  }

  /// Runs all tiles on the calling thread, where the pool is busy or not worth
  /// waking.
  Status launchHere(const CPUKernel &kernel, int64_t tiles,
                    Span<const int64_t> args) {
    Workspace space;
    if (kernel.workspaceBytes > 0) {
      {
        std::lock_guard<std::mutex> lock(spareMutex);
        if (!spares.empty()) {
          space = std::move(spares.back());
          spares.pop_back();
        }
      }
      TRACEA_RETURN_IF_ERROR(space.ensure(kernel.workspaceBytes));
    }
    kernel.clearAssertions(space.data());
    kernel.function(args.data(), 0, tiles, space.data());
    Status status = kernel.getFailedAssertion(space.data());
    if (kernel.workspaceBytes > 0) {
      std::lock_guard<std::mutex> lock(spareMutex);
      spares.push_back(std::move(space));
    }
    return status;
  }

  std::mutex poolMutex;
  ThreadPool pool;
  /// The workspaces of the pool's threads, the caller's first.
  std::vector<Workspace> spaces;
  std::mutex spareMutex;
  std::vector<Workspace> spares;
};

char *at(const Buffer &buffer, int64_t offset) {
  return static_cast<char *>(buffer.address()) + offset;
}

class CPUStream final : public Stream {
public:
  explicit CPUStream(std::shared_ptr<CPUEngine> engine)
      : engine(std::move(engine)) {}

protected:
  Status doCopyToDevice(Buffer &to, int64_t offset, const void *from,
                        int64_t bytes) override {
    std::memcpy(at(to, offset), from, static_cast<size_t>(bytes));
    return Status::success();
  }
  Status doCopyToHost(void *to, const Buffer &from, int64_t offset,
                      int64_t bytes) override {
    std::memcpy(to, at(from, offset), static_cast<size_t>(bytes));
    return Status::success();
  }
  Status doCopy(Buffer &to, int64_t toOffset, const Buffer &from,
                int64_t fromOffset, int64_t bytes) override {
    std::memcpy(at(to, toOffset), at(from, fromOffset),
                static_cast<size_t>(bytes));
    return Status::success();
  }
  Status doFill(Buffer &to, int64_t offset, int64_t bytes,
                uint8_t value) override {
    std::memset(at(to, offset), value, static_cast<size_t>(bytes));
    return Status::success();
  }
  Status doLaunch(const std::shared_ptr<Kernel> &kernel, int64_t tiles,
                  const LaunchArguments &arguments) override {
    const CPUKernel *native = dynamic_cast<const CPUKernel *>(kernel.get());
    if (!native)
      return Status::error("the kernel \"" + kernel->symbol() +
                           "\" belongs to another driver");
    arguments.writeAddresses();
    return engine->launch(*native, tiles, arguments.slots);
  }
  // What has been enqueued has run.
  Status doRecord(Event &) override { return Status::success(); }
  Status doWait(const Event &) override { return Status::success(); }
  Status doSynchronize() override { return Status::success(); }

private:
  std::shared_ptr<CPUEngine> engine;
};

class CPUDevice final : public Device {
public:
  CPUDevice(DeviceInfo info, std::shared_ptr<CPUEngine> engine,
            bool loadThroughFile)
      : description(std::move(info)), engine(std::move(engine)),
        loadThroughFile(loadThroughFile) {}

  const DeviceInfo &info() const override { return description; }

  Status checkTarget(const TargetSpec &target) const override {
    TRACEA_RETURN_IF_ERROR(Device::checkTarget(target));
    return requestFeatures(target.features)
        .withContext("the program (for \"" + target.name + "\")");
  }

  std::vector<Unsupported> unsupported() const override {
    return {{"asynchronous streams",
             "the calling thread takes part in the work, so every call returns "
             "when its work is done"}};
  }

protected:
  Expected<std::shared_ptr<Buffer>> doAllocate(int64_t bytes,
                                               int64_t alignment) override {
    Expected<std::shared_ptr<void>> memory = allocateAligned(bytes, alignment);
    if (!memory)
      return memory.status();
    return std::shared_ptr<Buffer>(
        std::make_shared<CPUBuffer>(std::move(*memory), bytes));
  }
  Expected<std::unique_ptr<Stream>> doCreateStream() override {
    return std::unique_ptr<Stream>(std::make_unique<CPUStream>(engine));
  }
  Expected<std::unique_ptr<Event>> doCreateEvent() override {
    return std::unique_ptr<Event>(std::make_unique<Event>());
  }
  Expected<std::shared_ptr<Module>> doLoadModule(Bytes code) override {
    return CPUModule::load(code, loadThroughFile);
  }

private:
  DeviceInfo description;
  std::shared_ptr<CPUEngine> engine;
  bool loadThroughFile;
};

constexpr int maxThreads = 4096;

Expected<int> chooseThreads(int wanted) {
  if (wanted < 0 || wanted > maxThreads)
    return Status::error("expected 0 to " + std::to_string(maxThreads) +
                         " threads, found " + std::to_string(wanted));
  if (wanted > 0)
    return wanted;
  const char *text = std::getenv("TRACEA_NUM_THREADS");
  if (!text || !*text)
    return countUsableProcessors();
  char *end = nullptr;
  errno = 0;
  long value = std::strtol(text, &end, 10);
  if (errno != 0 || *end != '\0' || value < 1 || value > maxThreads)
    return Status::error("TRACEA_NUM_THREADS: expected 1 to " +
                         std::to_string(maxThreads) + ", found \"" + text +
                         "\"");
  return static_cast<int>(value);
}

} // namespace

Expected<std::shared_ptr<Device>>
createCPUDevice(const CPUDeviceOptions &options) {
  Expected<int> threads = chooseThreads(options.threads);
  if (!threads)
    return threads.status();
  try {
    HostCPU host = detectHostCPU();
    DeviceInfo info;
    info.kind = "cpu";
    info.arch = host.arch;
    info.name = host.name;
    info.features = host.features;
    info.imageKinds = {ImageKind::Object};
    info.parallelism = *threads;
    info.hostAccessible = true;
    return std::shared_ptr<Device>(std::make_shared<CPUDevice>(
        std::move(info), std::make_shared<CPUEngine>(*threads),
        options.loadThroughFile));
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("cpu: out of memory");
  }
}

} // namespace tracea::runtime
