//===- WorkerPlaces.h - Processors of a pool's workers ----------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A worker that wakes where its caller runs waits for it: a system that looks
// for an idle processor at that moment may find none, and lets both share one
// for the milliseconds until it balances its load. So where a pool has a thread
// for every processor each worker has one of its own, which is never the
// caller's.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_CPU_WORKERPLACES_H
#define TRACEA_RUNTIME_CPU_WORKERPLACES_H

#include <thread>
#include <vector>

namespace tracea::runtime {

class WorkerPlaces {
public:
  /// Gives each of `workers` one of the processors that the calling thread may
  /// use, other than the one it is on. Does nothing where these are not one
  /// more than the workers, where TRACEA_PIN_THREADS is 0, and on systems that
  /// pin no threads.
  void assign(std::vector<std::thread> &workers);

  /// Makes room for the calling thread: a worker whose processor it has come to
  /// takes the one that it has left.
  void giveWay(std::vector<std::thread> &workers) {
    if (!processors.empty())
      swapWithCaller(workers);
  }

private:
  void swapWithCaller(std::vector<std::thread> &workers);

  /// Of each worker; empty where none is pinned.
  std::vector<int> processors;
  int callers = -1;
};

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_CPU_WORKERPLACES_H
