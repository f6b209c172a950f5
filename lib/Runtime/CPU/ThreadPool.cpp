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

ThreadPool::ThreadPool(int threads) : count(std::max(threads, 1)) {
  // About 20 to 60 microseconds. Spinning threads beyond the number of
  // processors would only take time from those that work.
  spins = count <= countUsableProcessors() ? 1500 : 0;
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
  for (int i = 0; i < spins; ++i) {
    uint64_t job = published.load();
    if (job != seen)
      return job;
    pauseBriefly();
  }
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

void ThreadPool::share(int thread) {
  int64_t begin = next.load(std::memory_order_relaxed);
  while (begin < tiles) {
    // Half of an even share of what is left: few calls at the beginning, fine
    // balance at the end.
    int64_t chunk =
        std::max<int64_t>((tiles - begin) / (2 * int64_t(count)), 1);
    if (!next.compare_exchange_weak(begin, begin + chunk,
                                    std::memory_order_relaxed))
      continue;
    body(context, begin, begin + chunk, thread);
    begin = next.load(std::memory_order_relaxed);
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
  next.store(0);
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
  for (int i = 0; i < spins && active.load() != 0; ++i)
    pauseBriefly();
  if (active.load() == 0)
    return;
  std::unique_lock<std::mutex> lock(mutex);
  callerSleeps.store(true);
  done.wait(lock, [&] { return active.load() == 0; });
  callerSleeps.store(false);
}

} // namespace tracea::runtime
