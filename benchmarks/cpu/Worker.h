//===- Worker.h - Contenders in processes of their own -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A worker is this program, started again for one case. It makes contenders,
// and checks and times them when told to. With one thread all contenders share
// a worker. With more each has its own, for a library's idle threads may spin
// and take the cores from whoever is measured next. A worker that crashes costs
// a row, not the table.

#ifndef TRACEA_BENCHMARKS_CPU_WORKER_H
#define TRACEA_BENCHMARKS_CPU_WORKER_H

#include "Contender.h"

#include "llvm/Support/JSON.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace tracea::bench {

/// What a worker serves.
struct WorkerTask {
  /// Empty: no case, only the question which peers there are.
  std::string caseName;
  std::vector<std::string> contenders;
  int threads = 1;
  /// Time by the clock of the processor time that the worker gets, which other
  /// processes do not advance. With one thread alone.
  bool cpuTime = false;
};

/// The worker's side: serves requests from standard input until it ends.
int serve(const WorkerTask &task);

/// The other side: starts a worker and asks it.
class Worker {
public:
  explicit Worker(const WorkerTask &task);
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// What the worker says about itself once it is set up; an object with
  /// "failure" where it is not.
  const llvm::json::Object &greeting() const { return hello; }
  /// {"ok", "error", "message"}
  llvm::json::Object check(int contender);
  /// Calls that take so long: {"iterations"}
  llvm::json::Object calibrate(int contender, double seconds);
  /// Seconds for one call, as the mean of so many: {"seconds"}
  llvm::json::Object sample(int contender, int64_t iterations);

private:
  llvm::json::Object ask(const std::string &request);
  llvm::json::Object readReply();
  std::string describeEnd();

  pid_t process = -1;
  int toWorker = -1;
  int fromWorker = -1;
  std::string unread;
  llvm::json::Object hello;
};

} // namespace tracea::bench

#endif // TRACEA_BENCHMARKS_CPU_WORKER_H
