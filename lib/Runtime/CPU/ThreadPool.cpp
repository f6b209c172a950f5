//===- ThreadPool.cpp - Shares tiles between threads ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job is open while its caller still hands out tiles. A worker counts itself
// in (`active`) before it looks whether the job is open; the caller closes the
// job before it looks whether anybody is in. With sequential consistency one
// of the two sees the other, so no worker touches a job that its caller has
// left, and a worker that wakes too late costs the caller nothing.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/ThreadPool.h"

#include "tracea/Runtime/CPU/HostCPU.h"

#include <algorithm>
#include <system_error>

namespace tracea::runtime {

static void pauseBriefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `isDone`, for at most `patience`; whether it is. After the first
/// looks at the clock other threads that want the processor come first.
template <typename Predicate>
static bool spinUntil(Predicate isDone, std::chrono::microseconds patience) {
  constexpr int looksBetweenClocks = 32;
  if (patience.count() == 0)
    return isDone();
  auto end = std::chrono::steady_clock::now() + patience;
  for (bool isLate = false; !isLate;) {
    for (int i = 0; i < looksBetweenClocks; ++i) {
      if (isDone())
        return true;
      pauseBriefly();
    }
    std::this_thread::yield();
    isLate = std::chrono::steady_clock::now() >= end;
  }
  return isDone();
}

ThreadPool::ThreadPool(int threads)
    : count(std::max(threads, 1)), shares(static_cast<size_t>(count)) {
  // Waking a thread takes 5 to 100 microseconds, the more in a virtual machine,
  // and shares of a job end some hundred microseconds apart where somebody else
  // has taken a processor for a while. Spinning threads beyond the number of
  // processors would only take time from those that work.
  if (count <= countUsableProcessors())
    patience = std::chrono::milliseconds(1);
}

ThreadPool::~ThreadPool() {
  stopping.store(true);
  {
    std::lock_guard<std::mutex> lock(mutex);
    published.fetch_add(1);
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::start() {
  started = true;
  try {
    workers.reserve(static_cast<size_t>(count - 1));
    for (int i = 1; i < count; ++i)
      workers.emplace_back([this, i] { work(i); });
    places.assign(workers);
  } catch (const std::system_error &) {
    // The threads that did start, and the caller, do all the work.
  } catch (const std::bad_alloc &) {
  }
}

uint64_t ThreadPool::awaitJob(uint64_t seen) {
  if (spinUntil([&] { return published.load() != seen; }, patience))
    return published.load();
  std::unique_lock<std::mutex> lock(mutex);
  sleepers.fetch_add(1);
  wake.wait(lock, [&] { return published.load() != seen; });
  sleepers.fetch_sub(1);
  return published.load();
}

void ThreadPool::work(int thread) {
  uint64_t seen = 0;
  while (true) {
    seen = awaitJob(seen);
    if (stopping.load())
      return;
    active.fetch_add(1);
    if (open.load())
      share(thread);
    if (active.fetch_sub(1) == 1 && callerSleeps.load()) {
      std::lock_guard<std::mutex> lock(mutex);
      done.notify_one();
    }
  }
}

static uint64_t packRange(uint64_t begin, uint64_t end) {
  return begin << 32 | end;
}

bool ThreadPool::runPart(int thread, int owner) {
  std::atomic<uint64_t> &left = shares[static_cast<size_t>(owner)].left;
  uint64_t range = left.load(std::memory_order_relaxed);
  while (true) {
    uint64_t begin = range >> 32, end = range & 0xffffffff;
    if (begin >= end)
      return false;
    // Few calls at the beginning, fine balance at the end.
    uint64_t part = std::max<uint64_t>((end - begin) / 2, 1);
    bool isOwn = thread == owner;
    uint64_t first = isOwn ? begin : end - part;
    if (!left.compare_exchange_weak(range,
                                    isOwn ? packRange(begin + part, end)
                                          : packRange(begin, end - part),
                                    std::memory_order_relaxed))
      continue;
    int64_t from = static_cast<int64_t>(first) * unit;
    int64_t to = static_cast<int64_t>(first + part) * unit;
    body(context, from, std::min(to, tiles), thread);
    return true;
  }
}

void ThreadPool::share(int thread) {
  while (runPart(thread, thread)) {
  }
  for (int i = 1; i < count; ++i) {
    int owner = thread + i < count ? thread + i : thread + i - count;
    while (runPart(thread, owner)) {
    }
  }
}

void ThreadPool::run(int64_t numTiles, Body newBody, void *newContext) {
  if (numTiles <= 0)
    return;
  if (count == 1 || numTiles == 1)
    return newBody(newContext, 0, numTiles, 0);
  if (!started)
    start();
  else
    places.giveWay(workers);
  body = newBody;
  context = newContext;
  tiles = numTiles;
  constexpr int64_t mostUnits = int64_t(1) << 31;
  unit = (tiles - 1) / mostUnits + 1;
  uint64_t units = static_cast<uint64_t>((tiles - 1) / unit + 1);
  uint64_t threads = static_cast<uint64_t>(count), begin = 0;
  for (uint64_t i = 0; i < threads; ++i) {
    uint64_t end = begin + units / threads + (i < units % threads);
    shares[i].left.store(packRange(begin, end), std::memory_order_relaxed);
    begin = end;
  }
  open.store(true);
  published.fetch_add(1);
  if (sleepers.load() > 0) {
    // Taking the lock lets a worker that is about to sleep finish falling
    // asleep, so that the notification reaches it.
    {
      std::lock_guard<std::mutex> lock(mutex);
    }
    wake.notify_all();
  }
  share(0);
  open.store(false);
  if (spinUntil([&] { return active.load() == 0; }, patience))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  callerSleeps.store(true);
  done.wait(lock, [&] { return active.load() == 0; });
  callerSleeps.store(false);
}

} // namespace tracea::runtime
