//===- tracea-call-latency.cpp - Host time of a call of tracea.h ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   tracea-call-latency
//
// Small problems on the CPU, one thread: what a call takes beside the kernel.
// The kernel's own time is that of an execution whose shapes are prepared. Once
// called again and again, and once behind work that fills the caches.
//
//===----------------------------------------------------------------------===//

#include "tracea.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

/// The median of batches of calls, in nanoseconds a call.
static double measure(const std::function<void()> &call) {
  using Clock = std::chrono::steady_clock;
  constexpr int batches = 51, calls = 2000;
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i)
    call();
  for (int batch = 0; batch < batches; ++batch) {
    Clock::time_point start = Clock::now();
    for (int i = 0; i < calls; ++i)
      call();
    std::chrono::duration<double, std::nano> time = Clock::now() - start;
    times.push_back(time.count() / calls);
  }
  std::sort(times.begin(), times.end());
  return times[batches / 2];
}

/// The same where everything else has gone through the caches before each
/// call, as the data of larger kernels does.
static double measureCold(const std::function<void()> &call) {
  using Clock = std::chrono::steady_clock;
  constexpr int calls = 301;
  static std::vector<char> others(size_t(16) << 20);
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    for (size_t at = 0; at < others.size(); at += 64)
      ++others[at];
    Clock::time_point start = Clock::now();
    call();
    std::chrono::duration<double, std::nano> time = Clock::now() - start;
    times.push_back(time.count());
  }
  std::sort(times.begin(), times.end());
  return times[calls / 2];
}

static void report(const char *name, const std::function<void()> &call) {
  std::printf("%-20s %10.0f ns %10.0f ns\n", name, measure(call),
              measureCold(call));
}

int main() {
  try {
    alignas(64) static float a[64], b[64], c[64];
    tracea::TensorView x(a, {8, 8}), w(b, {8, 8}), y(c, {8, 8});
    std::printf("%-20s %13s %13s\n", "call", "again", "caches cold");
    report("tracea_gemm 8x8x8", [&] { tracea::gemm(x, w, nullptr, y); });
    report("tracea_softmax 8x8", [&] { tracea::softmax(x, y); });

    tracea::Graph graph;
    graph.output(
        graph.gemm(graph.input("a", {8, 8}), graph.input("b", {8, 8})));
    tracea::Execution execution(graph.compile());
    std::vector<tracea::TensorView> inputs = {x, w}, outputs = {y};
    report("tracea_execution_run", [&] { execution.run(inputs, outputs); });
  } catch (const tracea::Error &error) {
    std::fprintf(stderr, "tracea-call-latency: error: %s\n", error.what());
    return 1;
  }
}
