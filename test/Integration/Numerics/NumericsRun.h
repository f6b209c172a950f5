//===- NumericsRun.h - Compiles, runs and judges cases ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSRUN_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSRUN_H

#include "Numerics.h"

#include <memory>

namespace tracea::numerics {

/// Where cases run.
struct Place {
  /// A target of the tables, or "host". Code for an older GPU than the one
  /// there is assembled by the driver.
  std::string target = "host";
  bool isGPU = false;
  /// The program that judges in place of this process, and its arguments: for
  /// another processor's code. It may work so many seconds on one case.
  std::vector<std::string> judge;
  int seconds = 0;
};

class Runner {
public:
  explicit Runner(Place place = {});
  ~Runner();

  /// Compiles and runs a case in several ways that `random` chooses. Empty when
  /// all is right, else what is wrong.
  std::string run(const Case &test, Random &random, bool allTargets);

  /// Compiles a case for a target of the tables, or "host", and demands all
  /// proofs. Empty when there is a program, else what the compiler says. With a
  /// variant, by some plan of it: "has no variant" where it serves nothing.
  std::string prove(const Case &test, const std::string &target,
                    const std::string &variant, Random &random);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSRUN_H
