//===- StreamPlan.cpp - Which stream runs which step ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list schedule (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969)
// by the longest path to the end: a step that more steps wait for is enqueued
// earlier, where it begins first. Then the streams are made to wait. What a
// stream knows to have ended is a number for each other stream (a vector
// clock): no step is waited for twice, nor one whose end follows from others.
//
//===----------------------------------------------------------------------===//

#include "StreamPlan.h"

#include "tracea/Runtime/Constants.h"
#include "tracea/Runtime/Dependencies.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace tracea::runtime {

/// What a step is taken to last, and what the wait for one of another stream
/// adds: a launch is most of a small kernel, an event a part of that.
constexpr int64_t kStep = 4, kWait = 1;

bool StreamPlan::endsBefore(int64_t a, int64_t b) const {
  int64_t numSteps = static_cast<int64_t>(steps.size());
  if (a < 0 || b >= numSteps)
    return a < b;
  if (b < 0 || a >= numSteps)
    return false;
  const Step &first = steps[static_cast<size_t>(a)];
  return steps[static_cast<size_t>(b)]
             .seen[static_cast<size_t>(first.stream)] >= first.position;
}

namespace {
/// Steps in the order in which they are enqueued, each with its stream.
struct ListSchedule {
  std::vector<size_t> order;
  std::vector<size_t> streams;
  int64_t length = 0;
};
} // namespace

/// All steps on one stream, as the program has them.
static ListSchedule makeSerial(const EntrySpec &entry) {
  ListSchedule schedule;
  schedule.order.resize(entry.steps.size());
  std::iota(schedule.order.begin(), schedule.order.end(), size_t(0));
  schedule.streams.assign(entry.steps.size(), 0);
  std::vector<char> once = findConstantSteps(entry);
  schedule.length = kStep * std::count(once.begin(), once.end(), false);
  return schedule;
}

static ListSchedule makeSchedule(const EntrySpec &entry, size_t numStreams) {
  size_t numSteps = entry.steps.size();
  std::vector<int64_t> paths = findLongestPaths(entry);
  std::vector<char> once = findConstantSteps(entry);
  std::vector<std::vector<size_t>> followers(numSteps);
  std::vector<size_t> missing(numSteps);
  for (size_t s = 0; s < numSteps; ++s) {
    missing[s] = entry.steps[s].after.size();
    for (int64_t before : entry.steps[s].after)
      followers[static_cast<size_t>(before)].push_back(s);
  }
  // Of equals the earlier one.
  auto isBehind = [&](size_t a, size_t b) {
    return paths[a] != paths[b] ? paths[a] < paths[b] : a > b;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(isBehind)> ready(
      isBehind);
  for (size_t s = 0; s < numSteps; ++s)
    if (missing[s] == 0)
      ready.push(s);

  ListSchedule schedule;
  schedule.streams.resize(numSteps);
  std::vector<int64_t> ends(numSteps), free(numStreams);
  std::vector<int64_t> tails(numStreams, -1);
  while (!ready.empty()) {
    size_t s = ready.top();
    ready.pop();
    const std::vector<int64_t> &after = entry.steps[s].after;
    // Where it begins first; of these, behind a step that it waits for anyway.
    size_t best = 0;
    int64_t begin = 0;
    bool isChained = false;
    for (size_t stream = 0; stream < numStreams; ++stream) {
      int64_t first = free[stream];
      for (int64_t before : after) {
        auto other = static_cast<size_t>(before);
        first = std::max(first,
                         ends[other] +
                             (schedule.streams[other] == stream ? 0 : kWait));
      }
      bool follows =
          std::find(after.begin(), after.end(), tails[stream]) != after.end();
      if (stream > 0 &&
          (first > begin || (first == begin && (isChained || !follows))))
        continue;
      best = stream;
      begin = first;
      isChained = follows;
    }
    schedule.order.push_back(s);
    schedule.streams[s] = best;
    tails[best] = static_cast<int64_t>(s);
    free[best] = ends[s] = begin + (once[s] ? 0 : kStep);
    schedule.length =
        std::max(schedule.length, ends[s] + (best == 0 ? 0 : kWait));
    for (size_t follower : followers[s])
      if (--missing[follower] == 0)
        ready.push(follower);
  }
  return schedule;
}

StreamPlan planStreams(const EntrySpec &entry, int numStreams) {
  StreamPlan plan;
  plan.steps.resize(entry.steps.size());
  size_t most = static_cast<size_t>(std::max(numStreams, 1));
  ListSchedule schedule = makeSerial(entry);
  if (most > 1)
    if (ListSchedule parallel = makeSchedule(entry, most);
        parallel.length < schedule.length)
      schedule = std::move(parallel);
  // Streams by their first step, the run's own one first.
  std::vector<int> names(most, -1);
  names[0] = 0;
  for (size_t s : schedule.order)
    if (int &name = names[schedule.streams[s]]; name < 0)
      name = plan.numStreams++;

  // By stream, its last step and what it then knows to have ended.
  std::vector<int64_t> tails(most, -1);
  std::vector<std::vector<int64_t>> clocks(most,
                                           std::vector<int64_t>(most, -1));
  auto waitFor = [&](int64_t step, std::vector<int64_t> &clock,
                     std::vector<int64_t> &waits) {
    StreamPlan::Step &other = plan.steps[static_cast<size_t>(step)];
    auto stream = static_cast<size_t>(other.stream);
    if (clock[stream] >= other.position)
      return;
    other.isAwaited = true;
    waits.push_back(step);
    for (size_t i = 0; i < most; ++i)
      clock[i] = std::max(clock[i], other.seen[i]);
    clock[stream] = other.position;
  };
  for (size_t position = 0; position < schedule.order.size(); ++position) {
    size_t s = schedule.order[position];
    StreamPlan::Step &step = plan.steps[s];
    step.stream = names[schedule.streams[s]];
    step.position = static_cast<int64_t>(position);
    // Later steps first: the ends of others follow from theirs.
    std::vector<int64_t> after = entry.steps[s].after;
    std::sort(after.begin(), after.end(), [&](int64_t a, int64_t b) {
      return plan.steps[static_cast<size_t>(a)].position >
             plan.steps[static_cast<size_t>(b)].position;
    });
    std::vector<int64_t> &clock = clocks[static_cast<size_t>(step.stream)];
    for (int64_t before : after)
      waitFor(before, clock, step.waits);
    step.seen = clock;
    clock[static_cast<size_t>(step.stream)] = step.position;
    tails[static_cast<size_t>(step.stream)] = static_cast<int64_t>(s);
  }
  plan.order = std::move(schedule.order);
  for (int stream = 1; stream < plan.numStreams; ++stream)
    waitFor(tails[static_cast<size_t>(stream)], clocks[0], plan.finalWaits);
  return plan;
}

} // namespace tracea::runtime
