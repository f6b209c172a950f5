//===- Stopwatch.h - Time since something began -----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_TRACEA_STOPWATCH_H
#define TRACEA_TOOLS_TRACEA_STOPWATCH_H

#include <chrono>

namespace tracea::driver {

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_STOPWATCH_H
