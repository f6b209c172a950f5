//===- Arguments.h - The command line of a campaign -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TEST_INTEGRATION_SUPPORT_ARGUMENTS_H
#define TRACEA_TEST_INTEGRATION_SUPPORT_ARGUMENTS_H

#include "../Numerics/Numerics.h"
#include "Processes.h"

#include <string>

namespace tracea::campaign {

/// The options that all campaigns have.
struct CommonOptions {
  uint64_t seed = 1;
  /// How many random cases, and the only one that is wanted, or -1.
  int64_t cases = 300, repro = -1;
  JobLimits limits;
  bool isSeedGiven = false, isNumberGiven = false;
};

/// Reads a command line from left to right.
class Arguments {
public:
  Arguments(const char *program, const char *help, int argc, char **argv)
      : program(program), help(help), argc(argc), argv(argv) {}

  /// Takes the next argument, which `flag` is from then on; not where there is
  /// none. `--help` ends the process.
  bool next();
  std::string flag;
  /// The argument that follows.
  std::string text();
  int64_t number();
  /// Takes an option that all campaigns have; `cases` is what counts them.
  bool take(CommonOptions &options, const char *cases);
  [[noreturn]] void fail(const std::string &message) const;

private:
  const char *program, *help;
  int argc, position = 0;
  char **argv;
};

/// The seed of one case of a campaign.
uint64_t getSeed(uint64_t seed, int64_t number);

/// The last line of a campaign, and what its process returns.
int finish(int64_t cases, int64_t failures);

} // namespace tracea::campaign

#endif // TRACEA_TEST_INTEGRATION_SUPPORT_ARGUMENTS_H
