//===- Peak.cpp - The most that this machine's multiply-adds reach -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop of twelve independent accumulators, which hides latencies of up to
// five cycles at two a cycle. In assembly, so that no compiler flag matters.

#include "Peak.h"

#include "Contender.h"
#include "tracea/Runtime/CPU/HostCPU.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace tracea::bench;
using tracea::runtime::ElementType;

namespace {

/// Runs a loop so many times; the instructions in one turn are always twelve.
using Loop = void (*)(int64_t turns);

struct Unit {
  Loop loop = nullptr;
  int operationsPerInstruction = 0;
};

constexpr int kInstructionsPerTurn = 12;

#if defined(__x86_64__)

// Zeros stay zeros: no overflow, no denormal numbers.
#define TRACEA_X86_LOOP(name, op, reg)                                         \
  void name(int64_t turns) {                                                   \
    asm volatile("vzeroall\n\t"                                                \
                 "1:\n\t" op " %%" reg "0, %%" reg "0, %%" reg "1\n\t" op      \
                 " %%" reg "0, %%" reg "0, %%" reg "2\n\t" op " %%" reg        \
                 "0, %%" reg "0, %%" reg "3\n\t" op " %%" reg "0, %%" reg      \
                 "0, %%" reg "4\n\t" op " %%" reg "0, %%" reg "0, %%" reg      \
                 "5\n\t" op " %%" reg "0, %%" reg "0, %%" reg "6\n\t" op       \
                 " %%" reg "0, %%" reg "0, %%" reg "7\n\t" op " %%" reg        \
                 "0, %%" reg "0, %%" reg "8\n\t" op " %%" reg "0, %%" reg      \
                 "0, %%" reg "9\n\t" op " %%" reg "0, %%" reg "0, %%" reg      \
                 "10\n\t" op " %%" reg "0, %%" reg "0, %%" reg "11\n\t" op     \
                 " %%" reg "0, %%" reg "0, %%" reg "12\n\t"                    \
                 "dec %0\n\t"                                                  \
                 "jnz 1b\n\t"                                                  \
                 "vzeroupper"                                                  \
                 : "+r"(turns)                                                 \
                 :                                                             \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",       \
                   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",  \
                   "xmm13", "xmm14", "xmm15");                                 \
  }
TRACEA_X86_LOOP(fma512, "vfmadd231ps", "zmm")
TRACEA_X86_LOOP(fma256, "vfmadd231ps", "ymm")
TRACEA_X86_LOOP(dotBF16, "vdpbf16ps", "zmm")
TRACEA_X86_LOOP(dotI8, "vpdpbusd", "zmm")
#undef TRACEA_X86_LOOP

// Dot products of bf16 may be slower than multiply-adds of what they convert
// to.
std::vector<Unit> findUnits(ElementType type) {
  tracea::runtime::HostCPU host = tracea::runtime::detectHostCPU();
  bool wide = host.has("avx512f");
  std::vector<Unit> units;
  if (type == ElementType::I8) {
    if (wide && host.has("avx512vnni"))
      units.push_back({dotI8, 128});
    return units;
  }
  if (type == ElementType::BF16 && wide && host.has("avx512bf16"))
    units.push_back({dotBF16, 64});
  if (wide)
    units.push_back({fma512, 32});
  else if (host.has("avx2") && host.has("fma"))
    units.push_back({fma256, 16});
  return units;
}

#elif defined(__aarch64__)

void fmaNEON(int64_t turns) {
  asm volatile("movi v0.16b, #0\n\t"
               "1: fmla v1.4s, v0.4s, v0.4s\n\t"
               "fmla v2.4s, v0.4s, v0.4s\n\t"
               "fmla v3.4s, v0.4s, v0.4s\n\t"
               "fmla v4.4s, v0.4s, v0.4s\n\t"
               "fmla v5.4s, v0.4s, v0.4s\n\t"
               "fmla v6.4s, v0.4s, v0.4s\n\t"
               "fmla v7.4s, v0.4s, v0.4s\n\t"
               "fmla v16.4s, v0.4s, v0.4s\n\t"
               "fmla v17.4s, v0.4s, v0.4s\n\t"
               "fmla v18.4s, v0.4s, v0.4s\n\t"
               "fmla v19.4s, v0.4s, v0.4s\n\t"
               "fmla v20.4s, v0.4s, v0.4s\n\t"
               "subs %0, %0, #1\n\t"
               "b.ne 1b"
               : "+r"(turns)
               :
               : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16",
                 "v17", "v18", "v19", "v20");
}

std::vector<Unit> findUnits(ElementType type) {
  if (type == ElementType::I8)
    return {};
  return {{fmaNEON, 8}};
}

#else

std::vector<Unit> findUnits(ElementType) { return {}; }

#endif

/// Operations a second of one unit.
double measure(const Unit &unit, int threads) {
  constexpr int64_t kTurns = 1 << 20;
  constexpr int kRounds = 10;
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    // The clock runs from when all have started to when the last is done.
    std::atomic<int> ready{0};
    auto work = [&] {
      ready.fetch_add(1);
      while (ready.load() < threads)
        std::this_thread::yield();
      unit.loop(kTurns);
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i)
      others.emplace_back(work);
    ready.fetch_add(1);
    while (ready.load() < threads)
      std::this_thread::yield();
    double begin = now();
    unit.loop(kTurns);
    for (std::thread &other : others)
      other.join();
    double seconds = now() - begin;
    best =
        std::max(best, double(kTurns) * kInstructionsPerTurn *
                           unit.operationsPerInstruction * threads / seconds);
  }
  return best;
}

} // namespace

double tracea::bench::measurePeak(ElementType type, int threads) {
  double best = 0;
  for (const Unit &unit : findUnits(type))
    best = std::max(best, measure(unit, threads));
  return best;
}
