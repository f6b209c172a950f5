//===- Measure.h - Rounds of contenders in turns -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//

#ifndef TRACEA_BENCHMARKS_CPU_MEASURE_H
#define TRACEA_BENCHMARKS_CPU_MEASURE_H

#include "Cases.h"

#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace tracea::bench {

struct Protocol {
  int rounds = 9;
  /// Idle time before every sample.
  double restSeconds = 0.06;
  /// What a sample lasts at least: calls are repeated to fill it.
  double sampleSeconds = 0.01;
  /// See WorkerTask.
  bool cpuTime = false;
};

/// One contender's part of a row.
struct Side {
  std::string name;
  /// Why it does not take part; empty when it does.
  std::string reason;
  std::string implementation;
  /// See Contender.
  std::string undecided;
  double compileSeconds = 0;
  double error = 0;
  /// Seconds of a call, by round; empty unless the result was right.
  std::vector<double> samples;

  bool hasTime() const { return !samples.empty(); }
  double median() const;
  double fastest() const;
  /// The range of the middle half, over the median.
  double spread() const;
};

struct Row {
  const Case *entry = nullptr;
  int threads = 1;
  std::vector<Side> sides;

  const Side *find(const std::string &name) const;
  /// The fastest peer that has a time, or null.
  const Side *bestPeer() const;
  /// Of the best peer's time to Tracea's; 0 where one of them is missing.
  double ratio() const;
  /// The same of everybody's fastest samples: where a machine is shared, these
  /// are those that nobody disturbed.
  double ratioOfFastest() const;
  /// Of the separate kernels' time to the fused one's; 0 where there is none.
  double fusionGain() const;
};

Row measure(const Case &entry, int threads, const Protocol &protocol);

llvm::json::Object toJSON(const Row &row, double peak);

} // namespace tracea::bench

#endif // TRACEA_BENCHMARKS_CPU_MEASURE_H
