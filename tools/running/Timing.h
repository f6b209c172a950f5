//===- Timing.h - Measured rounds of an execution ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_RUNNING_TIMING_H
#define TRACEA_TOOLS_RUNNING_TIMING_H

#include "LoadedProgram.h"
#include "Stopwatch.h"

#include <functional>

namespace tracea::driver {

/// What a launch of a kernel computes: floating-point operations for each
/// element of the tensor `argument`, and, where `sumDim` names a dimension of
/// the first tensor, for each of its elements too; a multiply-add is two. 0
/// where unknown.
struct KernelWork {
  double flopsPerElement = 0;
  size_t argument = 0;
  std::optional<size_t> sumDim;
};
/// Of a kernel, by its name; programs do not say.
using FindWork = std::function<std::optional<KernelWork>(const std::string &)>;

struct KernelTiming {
  std::string kernel;
  std::string op;
  std::string variant;
  /// Launches in one run; the time is that of the median round.
  int64_t launches = 0;
  double seconds = 0;
  /// Floating-point operations in one run; 0 where unknown.
  double flops = 0;
  /// Bytes of the views that the kernel is given, each counted once: the least
  /// that it must move.
  double bytes = 0;
};

struct Timing {
  int64_t rounds = 0;
  /// Of samples, which are means over their rounds.
  double median = 0;
  double fastest = 0;
  double slowest = 0;
  /// Floating-point operations of a round, of those kernels where they are
  /// known.
  double flops = 0;
  /// Measured in further rounds, which wait after each launch.
  std::vector<KernelTiming> kernels;
};

struct MeasureOptions {
  double seconds = 1;
  /// Sets of inputs and outputs that rounds take in turns: one set is found in
  /// the caches by the round after, enough of them come from memory.
  int copies = 1;
  /// Seconds of sleep before each sample, which then is of at least 10 ms: as
  /// programs find the machine that are not always running. 0: each round is a
  /// sample.
  double rest = 0;
};

/// The options above that are about what is measured, as all commands spell
/// them.
void addMeasureOptions(CLI::App &app, MeasureOptions &options);

/// Runs the entry for at least `seconds` and three samples, after a warm-up.
Expected<Timing> measure(LoadedProgram &program, const MeasureOptions &options,
                         const FindWork &findWork = nullptr);

std::string formatTiming(const Timing &timing);
nlohmann::ordered_json toJSON(const Timing &timing);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_RUNNING_TIMING_H
