//===- Arguments.cpp - The command line of a campaign ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arguments.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

using namespace tracea::campaign;

void Arguments::fail(const std::string &message) const {
  std::fprintf(stderr, "%s: %s\n", program, message.c_str());
  std::exit(2);
}

bool Arguments::next() {
  if (++position >= argc)
    return false;
  flag = argv[position];
  if (flag == "--help") {
    std::fputs(help, stdout);
    std::exit(0);
  }
  return true;
}

std::string Arguments::text() {
  if (position + 1 == argc)
    fail("expected a value after " + flag);
  return argv[++position];
}

int64_t Arguments::number() {
  std::string value = text();
  char *end;
  errno = 0;
  long long result = std::strtoll(value.c_str(), &end, 10);
  if (value.empty() || *end || result < 0 || errno)
    fail("expected a number after " + flag + ", found '" + value + "'");
  return result;
}

bool Arguments::take(CommonOptions &options, const char *cases) {
  if (flag == "--seed")
    options.seed = static_cast<uint64_t>(number()), options.isSeedGiven = true;
  else if (flag == cases)
    options.cases = number(), options.isNumberGiven = true;
  else if (flag == "--repro")
    options.repro = number();
  else if (flag == "--jobs")
    options.limits.processes = static_cast<int>(number());
  else if (flag == "--timeout")
    options.limits.seconds = static_cast<int>(number());
  else
    return false;
  return true;
}

uint64_t tracea::campaign::getSeed(uint64_t seed, int64_t number) {
  numerics::Random seeds(seed);
  return seeds.next() ^ (static_cast<uint64_t>(number) * 0xd1342543de82ef95u);
}

int tracea::campaign::finish(int64_t cases, int64_t failures) {
  std::printf("%lld passed, %lld failed\n",
              static_cast<long long>(std::max<int64_t>(0, cases - failures)),
              static_cast<long long>(failures));
  return failures ? 1 : 0;
}
