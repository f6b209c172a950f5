//===- StreamPlan.cpp - Which stream runs which step ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a stream knows to have ended is a number for each other stream (a vector
// clock): no step is waited for twice, nor one whose end follows from others.
//
//===----------------------------------------------------------------------===//

#include "StreamPlan.h"

#include <algorithm>

namespace tracea::runtime {

bool StreamPlan::endsBefore(int64_t a, int64_t b) const {
  int64_t numSteps = static_cast<int64_t>(steps.size());
  if (a < 0 || b >= numSteps)
    return a < b;
  if (b < 0 || a >= numSteps)
    return false;
  int stream = steps[static_cast<size_t>(a)].stream;
  return steps[static_cast<size_t>(b)].seen[static_cast<size_t>(stream)] >= a;
}

StreamPlan planStreams(const EntrySpec &entry, int numStreams) {
  StreamPlan plan;
  plan.steps.resize(entry.steps.size());
  size_t most = static_cast<size_t>(std::max(numStreams, 1));
  // By stream, its last step and what it then knows to have ended.
  std::vector<int64_t> tails(most, -1);
  std::vector<std::vector<int64_t>> clocks(most,
                                           std::vector<int64_t>(most, -1));
  size_t used = 1;
  auto streamOf = [&](int64_t step) {
    return static_cast<size_t>(plan.steps[static_cast<size_t>(step)].stream);
  };
  auto waitFor = [&](int64_t step, std::vector<int64_t> &clock,
                     std::vector<int64_t> &waits) {
    StreamPlan::Step &other = plan.steps[static_cast<size_t>(step)];
    size_t stream = streamOf(step);
    if (clock[stream] >= step)
      return;
    other.isAwaited = true;
    waits.push_back(step);
    for (size_t i = 0; i < most; ++i)
      clock[i] = std::max(clock[i], other.seen[i]);
    clock[stream] = step;
  };

  for (size_t s = 0; s < entry.steps.size(); ++s) {
    const std::vector<int64_t> &after = entry.steps[s].after;
    StreamPlan::Step &step = plan.steps[s];
    // The latest of the steps before that still ends its stream.
    auto chained =
        std::find_if(after.rbegin(), after.rend(), [&](int64_t before) {
          return tails[streamOf(before)] == before;
        });
    size_t stream = 0;
    if (chained != after.rend())
      stream = streamOf(*chained);
    else if (s > 0 && used < most)
      stream = used++;
    else
      stream = static_cast<size_t>(
          std::min_element(tails.begin(), tails.end()) - tails.begin());
    step.stream = static_cast<int>(stream);
    // Later steps first: the ends of others follow from theirs.
    std::vector<int64_t> &clock = clocks[stream];
    for (auto before = after.rbegin(); before != after.rend(); ++before)
      waitFor(*before, clock, step.waits);
    step.seen = clock;
    clock[stream] = static_cast<int64_t>(s);
    tails[stream] = static_cast<int64_t>(s);
  }
  plan.numStreams = static_cast<int>(used);
  for (size_t stream = 1; stream < used; ++stream)
    waitFor(tails[stream], clocks[0], plan.finalWaits);
  return plan;
}

} // namespace tracea::runtime
