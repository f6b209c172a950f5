//===- DiscreteDevice.cpp - A device at arm's length ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Its memory is mapped without any access rights except while the stream's
// work runs, so that a host access ends the test; and its streams only collect
// work until somebody waits for it, so that memory that is gone too early is
// seen as such.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <sys/mman.h>

namespace tracea::runtime::test {

namespace {

/// All memory of one device.
class Memory {
public:
  void *map(int64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t size = std::max<size_t>(static_cast<size_t>(bytes), 1);
    void *where = ::mmap(nullptr, size, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (where == MAP_FAILED)
      return nullptr;
    ranges.push_back({where, size});
    return where;
  }
  void unmap(void *where) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found =
        std::find_if(ranges.begin(), ranges.end(),
                     [&](const auto &range) { return range.first == where; });
    ::munmap(found->first, found->second);
    ranges.erase(found);
  }
  /// Runs `work` with the memory accessible.
  template <typename F>
  Status with(F &&work) {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto &range : ranges)
      ::mprotect(range.first, range.second, PROT_READ | PROT_WRITE);
    Status status = work();
    for (auto &range : ranges)
      ::mprotect(range.first, range.second, PROT_NONE);
    return status;
  }

private:
  std::mutex mutex;
  std::vector<std::pair<void *, size_t>> ranges;
};

class DiscreteBuffer final : public Buffer {
public:
  DiscreteBuffer(std::shared_ptr<Memory> memory, void *where, int64_t bytes)
      : Buffer(where, bytes), memory(std::move(memory)) {}
  ~DiscreteBuffer() override { memory->unmap(address()); }

private:
  std::shared_ptr<Memory> memory;
};

class DiscreteStream final : public Stream {
public:
  DiscreteStream(std::shared_ptr<Memory> memory, std::unique_ptr<Stream> inner)
      : memory(std::move(memory)), inner(std::move(inner)) {}

protected:
  static char *at(const Buffer &buffer, int64_t offset) {
    return static_cast<char *>(buffer.address()) + offset;
  }
  Status later(std::function<Status()> work) {
    queue.push_back(std::move(work));
    return Status::success();
  }
  Status move(void *to, const void *from, int64_t bytes) {
    return later([=] {
      std::memcpy(to, from, static_cast<size_t>(bytes));
      return Status::success();
    });
  }
  Status doCopyToDevice(Buffer &to, int64_t offset, const void *from,
                        int64_t bytes) override {
    return move(at(to, offset), from, bytes);
  }
  Status doCopyToHost(void *to, const Buffer &from, int64_t offset,
                      int64_t bytes) override {
    return move(to, at(from, offset), bytes);
  }
  Status doCopy(Buffer &to, int64_t toOffset, const Buffer &from,
                int64_t fromOffset, int64_t bytes) override {
    return move(at(to, toOffset), at(from, fromOffset), bytes);
  }
  Status doFill(Buffer &to, int64_t offset, int64_t bytes,
                uint8_t value) override {
    char *where = at(to, offset);
    return later([=] {
      std::memset(where, value, static_cast<size_t>(bytes));
      return Status::success();
    });
  }
  Status doLaunch(const std::shared_ptr<Kernel> &kernel, int64_t tiles,
                  Span<const int64_t> args) override {
    std::vector<int64_t> slots(args.begin(), args.end());
    return later([this, kernel, tiles, slots] {
      return inner->launch(kernel, tiles, slots);
    });
  }
  Status doSynchronize() override {
    std::vector<std::function<Status()>> work;
    work.swap(queue);
    return memory->with([&] {
      for (std::function<Status()> &item : work)
        TRACEA_RETURN_IF_ERROR(item());
      return Status::success();
    });
  }

private:
  std::shared_ptr<Memory> memory;
  std::unique_ptr<Stream> inner;
  std::vector<std::function<Status()>> queue;
};

class DiscreteDevice final : public Device {
public:
  explicit DiscreteDevice(std::shared_ptr<Device> inner)
      : inner(std::move(inner)), description(this->inner->info()) {
    description.hostAccessible = false;
  }
  const DeviceInfo &info() const override { return description; }
  std::vector<Unsupported> unsupported() const override { return {}; }

protected:
  Expected<std::shared_ptr<Buffer>> doAllocate(int64_t bytes,
                                               int64_t alignment) override {
    if (alignment > 4096)
      return Status::error("discrete: expected an alignment up to 4096");
    void *where = memory->map(bytes);
    if (!where)
      return Status::error("out of memory: cannot map " +
                           std::to_string(bytes) + " bytes");
    return std::shared_ptr<Buffer>(
        std::make_shared<DiscreteBuffer>(memory, where, bytes));
  }
  Expected<std::unique_ptr<Stream>> doCreateStream() override {
    Expected<std::unique_ptr<Stream>> stream = inner->createStream();
    if (!stream)
      return stream.status();
    return std::unique_ptr<Stream>(
        std::make_unique<DiscreteStream>(memory, std::move(*stream)));
  }
  Expected<std::shared_ptr<Module>> doLoadModule(Bytes code) override {
    return inner->loadModule(code);
  }

private:
  std::shared_ptr<Device> inner;
  DeviceInfo description;
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
};

} // namespace

std::shared_ptr<Device> makeDiscrete(std::shared_ptr<Device> device) {
  return std::make_shared<DiscreteDevice>(std::move(device));
}

} // namespace tracea::runtime::test
