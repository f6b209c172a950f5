//===- Dependencies.cpp - Which steps wait for which ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pass over the steps, with the last writer of each buffer and its readers
// since then.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Dependencies.h"

#include "tracea/Runtime/Constants.h"

#include <algorithm>

namespace tracea::runtime {

static bool isTemp(const EntrySpec &entry, int64_t buffer) {
  return buffer >= 0 && static_cast<size_t>(buffer) < entry.buffers.size() &&
         entry.buffers[static_cast<size_t>(buffer)].kind == BufferKind::Temp;
}

std::vector<BufferUse> getBufferUses(const EntrySpec &entry,
                                     const StepSpec &step) {
  std::vector<BufferUse> uses;
  for (const ArgSpec &arg : step.args)
    if (arg.hasView() && isTemp(entry, arg.view.buffer)) {
      bool isTarget = !step.isLaunch() && &arg == &step.args.back();
      uses.push_back({arg.view.buffer, isTarget});
    }
  for (int64_t buffer : step.writes)
    if (isTemp(entry, buffer))
      uses.push_back({buffer, true});
  // Where a buffer is used in several ways, its write comes first.
  std::sort(uses.begin(), uses.end(),
            [](const BufferUse &a, const BufferUse &b) {
              return a.buffer != b.buffer ? a.buffer < b.buffer
                                          : a.isWritten > b.isWritten;
            });
  uses.erase(std::unique(uses.begin(), uses.end(),
                         [](const BufferUse &a, const BufferUse &b) {
                           return a.buffer == b.buffer;
                         }),
             uses.end());
  return uses;
}

std::vector<std::vector<Dependency>> findDependencies(const EntrySpec &entry) {
  struct History {
    int64_t writer = -1;
    std::vector<int64_t> readers;
  };
  std::vector<History> histories(entry.buffers.size());
  std::vector<std::vector<Dependency>> result;
  for (size_t s = 0; s < entry.steps.size(); ++s) {
    std::vector<Dependency> &needed = result.emplace_back();
    for (const BufferUse &use : getBufferUses(entry, entry.steps[s])) {
      size_t b = static_cast<size_t>(use.buffer);
      History &history = histories[b];
      bool isFirst = history.writer < 0 && history.readers.empty();
      bool isWritten = use.isWritten || (isFirst && entry.buffers[b].contents ==
                                                        TempContents::Zero);
      if (isWritten)
        for (int64_t reader : history.readers)
          needed.push_back({reader, use.buffer});
      if (history.writer >= 0 && (!isWritten || history.readers.empty()))
        needed.push_back({history.writer, use.buffer});
      if (isWritten)
        history = {static_cast<int64_t>(s), {}};
      else
        history.readers.push_back(static_cast<int64_t>(s));
    }
    std::sort(needed.begin(), needed.end(),
              [](const Dependency &a, const Dependency &b) {
                return a.step != b.step ? a.step < b.step : a.buffer < b.buffer;
              });
    needed.erase(std::unique(needed.begin(), needed.end(),
                             [](const Dependency &a, const Dependency &b) {
                               return a.step == b.step;
                             }),
                 needed.end());
  }
  return result;
}

void addDependencies(EntrySpec &entry) {
  std::vector<std::vector<Dependency>> needed = findDependencies(entry);
  for (size_t s = 0; s < entry.steps.size(); ++s) {
    entry.steps[s].after.clear();
    for (const Dependency &dependency : needed[s])
      entry.steps[s].after.push_back(dependency.step);
  }
}

void assumeDependencies(EntrySpec &entry) {
  for (StepSpec &step : entry.steps) {
    step.writes.clear();
    if (step.isLaunch())
      for (const BufferUse &use : getBufferUses(entry, step))
        step.writes.push_back(use.buffer);
  }
  addDependencies(entry);
}

std::vector<int64_t> findLongestPaths(const EntrySpec &entry) {
  std::vector<char> once = findConstantSteps(entry);
  std::vector<int64_t> paths(entry.steps.size());
  // A step comes after earlier ones alone.
  for (size_t s = entry.steps.size(); s-- > 0;) {
    paths[s] += once[s] ? 0 : 1;
    for (int64_t before : entry.steps[s].after) {
      int64_t &path = paths[static_cast<size_t>(before)];
      path = std::max(path, paths[s]);
    }
  }
  return paths;
}

} // namespace tracea::runtime
