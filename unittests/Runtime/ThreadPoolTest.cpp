//===- ThreadPoolTest.cpp - Tiles between threads -------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tile exactly once, whatever the counts, under many short jobs.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/ThreadPool.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#ifdef __linux__
#include <sched.h>
#endif

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

// What a thread has touched in one job is in its caches in the next.
TEST(ThreadPool, ThreadsComeBackToTheirTiles) {
  struct Owners {
    std::atomic<int> inside{0};
    std::array<std::atomic<int>, 3> threads{};
  };
  ThreadPool pool(3);
  for (int i = 0; i < 200; ++i) {
    Owners owners;
    pool.run(
        3,
        [](void *context, int64_t begin, int64_t end, int thread) {
          Owners &owners = *static_cast<Owners *>(context);
          for (int64_t t = begin; t < end; ++t) {
            owners.threads[static_cast<size_t>(t)] = thread;
            ++owners.inside;
            while (owners.inside.load() < 3)
              std::this_thread::yield();
          }
        },
        &owners);
    for (int t = 0; t < 3; ++t)
      ASSERT_EQ(owners.threads[static_cast<size_t>(t)], t) << "job " << i;
  }
}

// A thread that is done takes what another one has not come to.
TEST(ThreadPool, IdleThreadsTakeOthersTiles) {
  struct Stuck {
    std::atomic<int64_t> done{0};
    std::atomic<bool> isStuck{false};
  };
  ThreadPool pool(2);
  Stuck stuck;
  pool.run(
      64,
      [](void *context, int64_t begin, int64_t end, int thread) {
        Stuck &stuck = *static_cast<Stuck *>(context);
        // The caller stays in its first part until all others are done.
        if (thread == 0 && !stuck.isStuck.exchange(true)) {
          while (stuck.done.load() < 64 - (end - begin))
            std::this_thread::yield();
        }
        stuck.done += end - begin;
      },
      &stuck);
  EXPECT_EQ(stuck.done, 64);
}

TEST(ThreadPool, MoreTilesThanAShareCounts) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  constexpr int64_t tiles = (int64_t(1) << 33) + 5;
  pool.run(
      tiles,
      [](void *context, int64_t begin, int64_t end, int) {
        *static_cast<std::atomic<int64_t> *>(context) += end - begin;
      },
      &sum);
  EXPECT_EQ(sum, tiles);
}

TEST(ThreadPool, StopsWithoutWork) {
  {
    ThreadPool pool(4);
  }
  ThreadPool pool(4);
  Counter counter(10);
  pool.run(10, Counter::body, &counter);
}

#ifdef __linux__
namespace {

/// The processors that the two threads of a pool were on, both inside the job.
struct Places {
  std::atomic<int> inside{0};
  std::array<std::atomic<int>, 2> processors{};

  static void body(void *context, int64_t begin, int64_t end, int thread) {
    Places &places = *static_cast<Places *>(context);
    for (int64_t t = begin; t < end; ++t) {
      ++places.inside;
      while (places.inside.load() < 2)
        std::this_thread::yield();
      places.processors[static_cast<size_t>(thread)] = ::sched_getcpu();
    }
  }
};

/// Lets this thread run on the given processors alone, while it lives.
class Affinity {
public:
  explicit Affinity(std::vector<int> processors) {
    ::sched_getaffinity(0, sizeof before, &before);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int processor : processors)
      CPU_SET(processor, &set);
    ::sched_setaffinity(0, sizeof set, &set);
  }
  ~Affinity() { ::sched_setaffinity(0, sizeof before, &before); }

private:
  cpu_set_t before;
};

/// The first two processors that this process may use, if there are two.
std::vector<int> firstTwoProcessors() {
  cpu_set_t usable;
  ::sched_getaffinity(0, sizeof usable, &usable);
  std::vector<int> result;
  for (int i = 0; i < CPU_SETSIZE && result.size() < 2; ++i)
    if (CPU_ISSET(i, &usable))
      result.push_back(i);
  return result;
}

} // namespace

// A worker sleeps where its caller comes to: it moves out of the way, and moves
// again when the caller goes back.
TEST(ThreadPool, WorkersAreNeverOnTheCallersProcessor) {
  std::vector<int> two = firstTwoProcessors();
  if (two.size() < 2)
    GTEST_SKIP() << "one processor";
  Affinity both(two);
  ThreadPool pool(2);
  for (int i = 0; i < 6; ++i) {
    std::optional<Affinity> here;
    // The first job finds the processors that the caller may use, and the
    // caller may move between them meanwhile.
    if (i > 0)
      here.emplace(std::vector<int>{two[static_cast<size_t>(i % 2)]});
    Places places;
    pool.run(2, Places::body, &places);
    if (i > 0)
      EXPECT_NE(places.processors[0], places.processors[1]) << "job " << i;
  }
}

TEST(ThreadPool, WorkersStayUnpinnedWhereAsked) {
  std::vector<int> two = firstTwoProcessors();
  if (two.size() < 2)
    GTEST_SKIP() << "one processor";
  Affinity both(two);
  ::setenv("TRACEA_PIN_THREADS", "0", 1);
  ThreadPool pool(2);
  struct Allowed {
    std::atomic<int> inside{0};
    std::array<std::atomic<int>, 2> processors{};
  };
  Allowed allowed;
  pool.run(
      2,
      [](void *context, int64_t begin, int64_t end, int thread) {
        Allowed &allowed = *static_cast<Allowed *>(context);
        cpu_set_t set;
        ::sched_getaffinity(0, sizeof set, &set);
        allowed.processors[static_cast<size_t>(thread)] = CPU_COUNT(&set);
        // One thread alone does not finish.
        for (int64_t t = begin; t < end; ++t) {
          ++allowed.inside;
          while (allowed.inside.load() < 2)
            std::this_thread::yield();
        }
      },
      &allowed);
  ::unsetenv("TRACEA_PIN_THREADS");
  EXPECT_EQ(allowed.processors[1], 2);
}
#endif
