//===- WorkerPlaces.cpp - Processors of a pool's workers ------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/WorkerPlaces.h"

#include <cstdlib>
#include <cstring>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace tracea::runtime {

#ifdef __linux__

static bool pin(std::thread &worker, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return ::pthread_setaffinity_np(worker.native_handle(), sizeof set, &set) ==
         0;
}

void WorkerPlaces::assign(std::vector<std::thread> &workers) {
  const char *wish = std::getenv("TRACEA_PIN_THREADS");
  cpu_set_t usable;
  if ((wish && std::strcmp(wish, "0") == 0) ||
      ::sched_getaffinity(0, sizeof usable, &usable) != 0 ||
      CPU_COUNT(&usable) != static_cast<int>(workers.size()) + 1)
    return;
  callers = ::sched_getcpu();
  if (callers < 0 || callers >= CPU_SETSIZE || !CPU_ISSET(callers, &usable))
    return;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &usable) && processor != callers)
      processors.push_back(processor);
  for (size_t i = 0; i < workers.size(); ++i)
    if (!pin(workers[i], processors[i])) {
      // The system does not let this process choose: workers that were pinned
      // before stay where they are, which is as good a place as any.
      processors.clear();
      return;
    }
}

void WorkerPlaces::swapWithCaller(std::vector<std::thread> &workers) {
  int here = ::sched_getcpu();
  if (here == callers)
    return;
  for (size_t i = 0; i < processors.size(); ++i)
    if (processors[i] == here) {
      if (pin(workers[i], callers)) {
        processors[i] = callers;
        callers = here;
      }
      return;
    }
}

#else

void WorkerPlaces::assign(std::vector<std::thread> &) {}
void WorkerPlaces::swapWithCaller(std::vector<std::thread> &) {}

#endif

} // namespace tracea::runtime
