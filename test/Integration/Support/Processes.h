//===- Processes.h - Jobs in processes of their own -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a random test runs may read beyond its buffers, never end, or end the
// compiler. In a process of its own that is one job's result.

#ifndef TRACEA_TEST_INTEGRATION_SUPPORT_PROCESSES_H
#define TRACEA_TEST_INTEGRATION_SUPPORT_PROCESSES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tracea::campaign {

/// Ends this process when it has worked so many seconds from now, or ten times
/// as long have passed; 0: never. What other processes do at the time does not
/// count as work.
void limitTime(int seconds);

/// What `body` returns, computed in a process of its own that may work so many
/// seconds; else how it ended.
std::string inChild(int seconds, const std::function<std::string()> &body);

/// What a program prints that reads `input` and may work so many seconds; else
/// how it ended.
std::string inProgram(int seconds, const std::vector<std::string> &command,
                      const std::string &input);

/// Ends a process of `inChild` with this result, from anywhere.
[[noreturn]] void finishChild(const std::string &result);

/// What became of a job.
struct JobResult {
  /// What it returned.
  std::vector<std::string> fields;
  /// What it said until it returned or ended.
  std::string said;
  /// How its process ended; empty: it returned.
  std::string end;
};

using Say = std::function<void(const std::string &text)>;
using Work =
    std::function<std::vector<std::string>(int64_t number, const Say &say)>;

struct JobLimits {
  /// Processes at the same time; 0: one per processor.
  int processes = 0;
  /// Seconds that one job may work.
  int seconds = 60;
};

/// Does jobs 0 to `count` - 1, each process several in turn, and calls `take`
/// in their order, whoever is first. `prepare` makes, once in each process,
/// what does a job. Returns how many processes ended badly between jobs.
int64_t
runJobs(int64_t count, const JobLimits &limits,
        const std::function<Work()> &prepare,
        const std::function<void(int64_t number, const JobResult &)> &take);

} // namespace tracea::campaign

#endif // TRACEA_TEST_INTEGRATION_SUPPORT_PROCESSES_H
