//===- StepTimer.cpp - What the steps of a compilation take ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepTimer.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <mutex>

using namespace mlir;
using namespace ::tracea::compiler;

void StepTimes::add(llvm::StringRef step, double seconds) {
  for (auto &[name, sum] : steps)
    if (name == step) {
      sum += seconds;
      return;
    }
  steps.emplace_back(step.str(), seconds);
}

namespace {
using Clock = std::chrono::steady_clock;

/// The time in which at least one pass proves, on whatever thread.
class ProofClock : public PassInstrumentation {
public:
  explicit ProofClock(Clock::duration &sum) : sum(sum) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (!proves(pass))
      return;
    std::lock_guard<std::mutex> lock(mutex);
    if (running++ == 0)
      start = Clock::now();
  }
  void runAfterPass(Pass *pass, Operation *) override { end(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { end(pass); }

private:
  static bool proves(Pass *pass) {
    StringRef argument = pass->getArgument();
    return argument.starts_with("tracea-verify-") ||
           argument.starts_with("tracea-classify-");
  }
  void end(Pass *pass) {
    if (!proves(pass))
      return;
    std::lock_guard<std::mutex> lock(mutex);
    if (--running == 0)
      sum += Clock::now() - start;
  }

  Clock::duration &sum;
  std::mutex mutex;
  int running = 0;
  Clock::time_point start;
};
} // namespace

namespace tracea::compiler {
LogicalResult runTimed(PassManager &manager, ModuleOp module,
                       StepTimes *times) {
  // Once for all passes: after each it would take a fifth of the time. Tests
  // of single passes verify after each.
  manager.enableVerifier(false);
  auto run = [&] {
    return success(succeeded(manager.run(module)) && succeeded(verify(module)));
  };
  if (!times)
    return run();
  Clock::duration proofs{};
  manager.addInstrumentation(std::make_unique<ProofClock>(proofs));
  Clock::time_point start = Clock::now();
  LogicalResult result = run();
  std::chrono::duration<double> proved(proofs), all(Clock::now() - start);
  times->add("passes", (all - proved).count());
  if (proofs.count())
    times->add("proofs", proved.count());
  return result;
}
} // namespace tracea::compiler
