//===- FakeCUDA.h - A CUDA driver on the host -------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared library with the entry points of libcuda that Tracea uses, for
// machines without a GPU. Kernels are those of FakeKernels.cpp, found by the
// names in the PTX that is loaded. Like the real thing at its worst, streams do
// nothing before somebody waits, the host cannot touch device memory, and calls
// that a capture forbids break it.
//
// Tests steer it through the functions below, which are its own.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKECUDA_H
#define TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKECUDA_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tracea::fakecuda {

/// What the fake claims to be. Takes effect with the next call that asks.
struct Machine {
  int driverVersion = 13000;
  int devices = 2;
  /// 90 for compute capability 9.0.
  int capability = 90;
  int multiprocessors = 4;
  size_t memoryBytes = size_t(256) << 20;
  bool memoryPools = true;
};

/// One launch, as it was recorded when it ran.
struct LaunchRecord {
  std::string kernel;
  unsigned grid[3] = {};
  unsigned block[3] = {};
  unsigned cluster[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
  bool programmatic = false;
};

/// Back to the state of a new process; everything allocated is forgotten.
void reset(const Machine &machine = {});

/// The call of that name fails once with `result`, after `skip` calls that
/// succeed.
void failCall(const std::string &name, int result, int skip = 0);
/// The next kernel ends the context with `result`, as a wrong address does:
/// the launch succeeds, waiting and every later call fail.
void failKernel(int result);

/// How often a call was made since the last reset.
int64_t countCalls(const std::string &name);
/// All names that were called since the last reset, in the order of first use.
std::vector<std::string> calledNames();
std::vector<LaunchRecord> launches();

/// What is alive: memory, pinned memory, streams, events, modules, pools,
/// graphs, retained contexts; and contexts that are left on this thread's
/// stack.
struct Alive {
  int64_t allocations = 0;
  int64_t hostAllocations = 0;
  int64_t streams = 0;
  int64_t events = 0;
  int64_t modules = 0;
  int64_t pools = 0;
  int64_t graphs = 0;
  int64_t contexts = 0;
  int64_t stacked = 0;
};
Alive alive();

} // namespace tracea::fakecuda

#endif // TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKECUDA_H
