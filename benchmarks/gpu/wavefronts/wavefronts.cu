//===- wavefronts.cu - Shared memory against the model of its banks -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   wavefronts measure [--count N] [--seed S] [--csv FILE] [--counts FILE]
//   wavefronts count   [--count N] [--seed S] [--every K]
//
// `measure` times every pattern and compares with the model; `count` launches
// every K-th pattern once, for a profiler, whose table `--counts` then takes.
//
//===----------------------------------------------------------------------===//

#include "Device.cuh"
#include "Report.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace tracea::wavefronts;

static void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "error: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

namespace {
/// An array on the device.
template <typename T>
class Buffer {
public:
  explicit Buffer(size_t size) : size(size) {
    check(cudaMalloc(&data, size * sizeof(T)), "cudaMalloc");
  }
  explicit Buffer(const std::vector<T> &host) : Buffer(host.size()) {
    check(
        cudaMemcpy(data, host.data(), size * sizeof(T), cudaMemcpyHostToDevice),
        "copy to the device");
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() { cudaFree(data); }
  std::vector<T> fetch() const {
    std::vector<T> host(size);
    check(
        cudaMemcpy(host.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost),
        "copy from the device");
    return host;
  }
  T *data = nullptr;

private:
  size_t size;
};

/// The patterns [first, last) all run `op`.
struct Range {
  size_t first, last;
};

struct Options {
  unsigned count = 150, every = 16;
  uint64_t seed = 1;
  std::string csv, counts;
};
} // namespace

/// Most of a multiprocessor's shared memory, so that blocks are alone on one.
constexpr int soleBytes = 128 << 10;

template <Op op>
static void measureRange(std::vector<Measured> &all, Range range, int blocks) {
  std::vector<uint32_t> offsets, active;
  for (size_t p = range.first; p < range.last; ++p) {
    const Pattern &pattern = all[p].pattern;
    offsets.insert(offsets.end(), pattern.offsets.begin(),
                   pattern.offsets.end());
    active.push_back(pattern.active);
  }
  Buffer<uint32_t> places(offsets), lanes(active), cycles(2 * active.size()),
      sink(warps * numLanes);
  check(cudaFuncSetAttribute(measure<op>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             soleBytes),
        "shared memory of the kernel");
  measure<op><<<blocks, warps * numLanes, soleBytes>>>(
      places.data, lanes.data, active.size(), /*zero=*/0, cycles.data,
      sink.data);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernel");
  std::vector<uint32_t> result = cycles.fetch();
  for (size_t p = 0; p < active.size(); ++p)
    all[range.first + p].cycles =
        double(int64_t(result[2 * p + 1]) - result[2 * p]) /
        ((longChain - shortChain) * unrolled * warps);
}

template <Op op>
static void countRange(const std::vector<Measured> &all, Range range,
                       unsigned every) {
  Buffer<uint32_t> sink(numLanes);
  check(cudaFuncSetAttribute(
            count<op>, cudaFuncAttributeMaxDynamicSharedMemorySize, soleBytes),
        "shared memory of the kernel");
  for (size_t p = range.first; p < range.last; ++p) {
    if (p % every)
      continue;
    const Pattern &pattern = all[p].pattern;
    Buffer<uint32_t> places(
        std::vector<uint32_t>(pattern.offsets.begin(), pattern.offsets.end()));
    Buffer<uint32_t> lanes(std::vector<uint32_t>{pattern.active});
    count<op><<<1, numLanes, soleBytes>>>(places.data, lanes.data, sink.data);
    check(cudaGetLastError(), "launch");
  }
  check(cudaDeviceSynchronize(), "kernel");
}

template <Op op>
struct RunMeasure {
  static void run(std::vector<Measured> &all, Range range, int blocks) {
    measureRange<op>(all, range, blocks);
  }
};
template <Op op>
struct RunCount {
  static void run(std::vector<Measured> &all, Range range, int every) {
    countRange<op>(all, range, every);
  }
};

template <template <Op> class Run, size_t... i>
static void dispatch(std::vector<Measured> &all, size_t op, Range range,
                     int argument, std::index_sequence<i...>) {
  ((op == i ? Run<Op(i)>::run(all, range, argument) : void()), ...);
}

template <template <Op> class Run>
static void runAll(std::vector<Measured> &all, int argument) {
  size_t first = 0;
  while (first < all.size()) {
    unsigned instruction = all[first].pattern.instruction;
    size_t last = first;
    while (last < all.size() && all[last].pattern.instruction == instruction)
      ++last;
    dispatch<Run>(all, size_t(instructions()[instruction].op), {first, last},
                  argument,
                  std::make_index_sequence<size_t(Op::StoreMatrix4) + 1>());
    first = last;
  }
}

int main(int argc, char **argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  Options options;
  bool wrong = mode != "measure" && mode != "count";
  for (int i = 2; i < argc && !wrong; i += 2) {
    std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--count")
      options.count = std::atoi(value.c_str());
    else if (name == "--every")
      options.every = std::max(1, std::atoi(value.c_str()));
    else if (name == "--seed")
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--csv")
      options.csv = value;
    else if (name == "--counts")
      options.counts = value;
    else
      wrong = true;
    wrong |= value.empty();
  }
  if (wrong) {
    std::fprintf(stderr,
                 "usage: wavefronts measure|count [--count N] [--seed S]"
                 " [--every K] [--csv FILE] [--counts FILE]\n");
    return 2;
  }

  std::vector<Measured> all;
  for (Pattern &pattern : makePatterns(options.count, options.seed))
    all.push_back({std::move(pattern), 0, -1});
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "device");
  if (mode == "count") {
    runAll<RunCount>(all, options.every);
    return 0;
  }
  // Twice: the first run warms the clock up.
  for (int run = 0; run < 2; ++run)
    runAll<RunMeasure>(all, device.multiProcessorCount);
  if (!options.counts.empty() &&
      !readCounts(options.counts, options.every, countedIssues, all))
    return 1;
  if (!options.csv.empty() && !writeTable(options.csv, all))
    return 1;
  std::printf("%s, compute capability %d.%d, %zu patterns, seed %llu\n",
              device.name, device.major, device.minor, all.size(),
              (unsigned long long)options.seed);
  return printSummary(all) ? 0 : 1;
}
