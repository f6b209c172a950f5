//===- ThreadPoolTest.cpp - Tiles between threads -------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tile exactly once, whatever the counts, under many short jobs.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/ThreadPool.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace tracea::runtime;

namespace {
struct Counter {
  explicit Counter(int64_t tiles) : seen(static_cast<size_t>(tiles)) {}
  std::vector<std::atomic<int>> seen;
  std::atomic<int> maxThread{0};
  std::atomic<int64_t> calls{0};

  static void body(void *context, int64_t begin, int64_t end, int thread) {
    Counter &counter = *static_cast<Counter *>(context);
    for (int64_t t = begin; t < end; ++t)
      ++counter.seen[static_cast<size_t>(t)];
    ++counter.calls;
    int known = counter.maxThread.load();
    while (known < thread &&
           !counter.maxThread.compare_exchange_weak(known, thread)) {
    }
  }
};
} // namespace

TEST(ThreadPool, EveryTileOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t tiles : {0, 1, 2, 3, 7, 100, 4099}) {
      Counter counter(tiles);
      pool.run(tiles, Counter::body, &counter);
      for (const std::atomic<int> &seen : counter.seen)
        ASSERT_EQ(seen.load(), 1);
      EXPECT_LT(counter.maxThread, threads);
      if (threads == 1) {
        EXPECT_EQ(counter.calls, tiles == 0 ? 0 : 1);
      }
    }
  }
}

TEST(ThreadPool, ManyShortJobs) {
  ThreadPool pool(4);
  for (int i = 0; i < 20000; ++i) {
    Counter counter(i % 9);
    pool.run(i % 9, Counter::body, &counter);
    for (const std::atomic<int> &seen : counter.seen)
      ASSERT_EQ(seen.load(), 1) << "job " << i;
  }
}

TEST(ThreadPool, SleepingWorkersWake) {
  ThreadPool pool(3);
  for (int i = 0; i < 5; ++i) {
    // Long enough for all workers to fall asleep.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<int> inside{0};
    // Each tile waits for company, so one thread alone could not finish.
    pool.run(
        3,
        [](void *context, int64_t begin, int64_t end, int) {
          std::atomic<int> &inside = *static_cast<std::atomic<int> *>(context);
          for (int64_t t = begin; t < end; ++t) {
            ++inside;
            while (inside.load() < 3)
              std::this_thread::yield();
          }
        },
        &inside);
    EXPECT_EQ(inside, 3);
  }
}

TEST(ThreadPool, StopsWithoutWork) {
  {
    ThreadPool pool(4);
  }
  ThreadPool pool(4);
  Counter counter(10);
  pool.run(10, Counter::body, &counter);
}
