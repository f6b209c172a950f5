//===- ThreadPool.h - Shares tiles between threads --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread has an even share of neighbouring tiles, the same one in every
// job of as many tiles: what it has read and written is still in its own caches
// when it comes back. A thread that is done with its share takes tiles from the
// ends of others'. A worker without work spins for a millisecond, in which it
// lets others have its processor, so that a chain of launches costs no
// wake-ups, and then sleeps.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_CPU_THREADPOOL_H
#define TRACEA_RUNTIME_CPU_THREADPOOL_H

#include "tracea/Runtime/CPU/WorkerPlaces.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace tracea::runtime {

class ThreadPool {
public:
  /// Runs the tiles [begin, end); `thread` is 0 for the caller and 1 … for the
  /// workers. Must not throw.
  using Body = void (*)(void *context, int64_t begin, int64_t end, int thread);

  /// `threads` counts the caller. The workers start with the first job.
  explicit ThreadPool(int threads);
  /// No job may be running.
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return count; }

  /// Runs all tiles of [0, tiles), some of them on the calling thread, and
  /// returns when all are done. One job at a time: the caller serializes.
  /// Where the system refuses to start a worker, the others do its share.
  void run(int64_t tiles, Body body, void *context);

private:
  void start();
  void work(int thread);
  /// Runs what is left of this thread's share, then of others'.
  void share(int thread);
  /// Takes half of what is left of the share of `owner`, at least a unit, and
  /// runs it; whether there was something.
  bool runPart(int thread, int owner);
  /// Waits for a job later than `seen`; the newest one's number.
  uint64_t awaitJob(uint64_t seen);

  const int count;
  /// How long a thread spins before it sleeps.
  std::chrono::microseconds patience{0};
  std::vector<std::thread> workers;
  WorkerPlaces places;
  bool started = false;

  // The job; written by the caller while no worker is inside.
  Body body = nullptr;
  void *context = nullptr;
  int64_t tiles = 0;
  /// Tiles that are taken together, so that shares count units in 32 bits.
  int64_t unit = 1;

  /// The units [begin, end) that are left of a thread's share, begin in the
  /// upper half of the word. The owner takes from the front, others from the
  /// back.
  struct alignas(64) Share {
    std::atomic<uint64_t> left{0};
  };
  std::vector<Share> shares;

  /// The number of the last job.
  alignas(64) std::atomic<uint64_t> published{0};
  /// Whether workers may still join the last job.
  std::atomic<bool> open{false};
  std::atomic<bool> stopping{false};
  std::atomic<int> sleepers{0};
  /// Workers inside the job.
  alignas(64) std::atomic<int> active{0};
  std::atomic<bool> callerSleeps{false};

  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
};

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_CPU_THREADPOOL_H
