//===- Contender.cpp - One way to compute a case -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//

#include "Contender.h"

#include <algorithm>
#include <ctime>

using namespace tracea::bench;

Contender::~Contender() = default;

static clockid_t clockId = CLOCK_MONOTONIC;

double tracea::bench::now() {
  timespec time;
  clock_gettime(clockId, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

void tracea::bench::useProcessorTime() { clockId = CLOCK_PROCESS_CPUTIME_ID; }

double tracea::bench::quickSeconds(Contender &contender, int numSets) {
  contender.run(0);
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    double begin = now();
    contender.run((i + 1) % numSets);
    best = std::min(best, now() - begin);
  }
  return best;
}

std::string tracea::bench::describePeer(const std::string &name) {
  return name == "onednn" ? describeOneDNN() : describeCBLAS(name);
}

MaybeContender tracea::bench::makeContender(const std::string &name,
                                            const Problem &problem,
                                            int threads) {
  if (name == "tracea")
    return makeTracea(problem, threads, /*separate=*/false);
  if (name == "separate")
    return makeTracea(problem, threads, /*separate=*/true);
  for (const Peer &peer : kPeers)
    if (name == peer.name)
      return peer.isBLAS ? makeCBLAS(name, problem, threads)
                         : makeOneDNN(problem);
  return {nullptr, "no contender is named '" + name + "'"};
}
