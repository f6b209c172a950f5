//===- DiscreteDevice.cpp - A device at arm's length ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Its memory is mapped without any access rights except while the stream's
// work runs, so that a host access ends the test; and its streams only collect
// work until somebody waits for it, so that memory that is gone too early is
// seen as such. What its buffers call their address is none that a kernel could
// use: kernels have to be given buffers and offsets.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <sys/mman.h>

namespace tracea::runtime::test {

namespace {

/// All memory of one device. Buffers tell places that are no addresses.
class Memory {
public:
  static constexpr uintptr_t distance = uintptr_t(1) << 56;
  static void *hide(void *where) {
    return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(where) +
                                    distance);
  }
  static char *find(const Buffer &buffer, int64_t offset) {
    return reinterpret_cast<char *>(
               reinterpret_cast<uintptr_t>(buffer.address()) - distance) +
           offset;
  }
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
      : Buffer(Memory::hide(where), bytes), memory(std::move(memory)) {}
  ~DiscreteBuffer() override { memory->unmap(Memory::find(*this, 0)); }

private:
  std::shared_ptr<Memory> memory;
};

/// The work of a stream that has not run. A stream whose work waits for that of
/// another one runs it as far as it must.
struct Queue {
  std::deque<std::function<Status()>> work;

  template <typename F>
  Status runUntil(F &&isDone) {
    while (!work.empty() && !isDone()) {
      std::function<Status()> item = std::move(work.front());
      work.pop_front();
      TRACEA_RETURN_IF_ERROR(item());
    }
    return Status::success();
  }
};

/// Where an event was recorded, and whether its place has been passed.
struct Mark {
  std::weak_ptr<Queue> queue;
  bool isPassed = false;
};

class DiscreteEvent final : public Event {
public:
  std::shared_ptr<Mark> mark;
};

class DiscreteStream final : public Stream {
public:
  DiscreteStream(std::shared_ptr<Memory> memory, std::unique_ptr<Stream> inner)
      : memory(std::move(memory)), inner(std::move(inner)) {}
  const std::shared_ptr<Queue> &getQueue() const { return queue; }

protected:
  static char *at(const Buffer &buffer, int64_t offset) {
    return Memory::find(buffer, offset);
  }
  Status later(std::function<Status()> work) {
    queue->work.push_back(std::move(work));
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
                  const LaunchArguments &arguments) override {
    std::vector<int64_t> slots(arguments.slots.begin(), arguments.slots.end());
    for (const BufferArgument &argument : arguments.buffers)
      slots[argument.slot] = static_cast<int64_t>(
          reinterpret_cast<uintptr_t>(at(*argument.buffer, argument.offset)));
    return later([this, kernel, tiles, slots]() mutable {
      return inner->launch(kernel, tiles, {slots, {}, {}});
    });
  }
  Status doRecord(Event &event) override {
    auto mark = std::make_shared<Mark>();
    mark->queue = queue;
    static_cast<DiscreteEvent &>(event).mark = mark;
    return later([mark] {
      mark->isPassed = true;
      return Status::success();
    });
  }
  Status doWait(const Event &event) override {
    std::shared_ptr<Mark> mark = static_cast<const DiscreteEvent &>(event).mark;
    if (!mark)
      return Status::success();
    return later([mark] {
      std::shared_ptr<Queue> other = mark->queue.lock();
      return other ? other->runUntil([&] { return mark->isPassed; })
                   : Status::success();
    });
  }
  Status doSynchronize() override {
    return memory->with([&] { return queue->runUntil([] { return false; }); });
  }

private:
  std::shared_ptr<Memory> memory;
  std::unique_ptr<Stream> inner;
  std::shared_ptr<Queue> queue = std::make_shared<Queue>();
};

class DiscreteDevice final : public Device {
public:
  explicit DiscreteDevice(std::shared_ptr<Device> inner)
      : inner(std::move(inner)), description(this->inner->info()) {
    description.hostAccessible = false;
  }
  const DeviceInfo &info() const override { return description; }
  std::vector<Unsupported> unsupported() const override { return {}; }
  Status waitIdle() override {
    return memory->with([&] {
      std::lock_guard<std::mutex> lock(queuesMutex);
      for (const std::weak_ptr<Queue> &weak : queues)
        if (std::shared_ptr<Queue> queue = weak.lock())
          TRACEA_RETURN_IF_ERROR(queue->runUntil([] { return false; }));
      return Status::success();
    });
  }

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
    auto made = std::make_unique<DiscreteStream>(memory, std::move(*stream));
    std::lock_guard<std::mutex> lock(queuesMutex);
    queues.push_back(made->getQueue());
    return std::unique_ptr<Stream>(std::move(made));
  }
  Expected<std::unique_ptr<Event>> doCreateEvent() override {
    return std::unique_ptr<Event>(std::make_unique<DiscreteEvent>());
  }
  Expected<std::shared_ptr<Module>> doLoadModule(Bytes code) override {
    return inner->loadModule(code);
  }

private:
  std::shared_ptr<Device> inner;
  DeviceInfo description;
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
  std::mutex queuesMutex;
  std::vector<std::weak_ptr<Queue>> queues;
};

} // namespace

std::shared_ptr<Device> makeDiscrete(std::shared_ptr<Device> device) {
  return std::make_shared<DiscreteDevice>(std::move(device));
}

} // namespace tracea::runtime::test
