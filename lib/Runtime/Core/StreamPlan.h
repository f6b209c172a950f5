//===- StreamPlan.h - Which stream runs which step --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps that need nothing of each other may run at the same time, on streams of
// their own. The plan is made once for an entry, from what each step comes
// after: a list schedule, in which steps that more others wait for come first.
// It knows no times; where branches are so short that waiting for them is all
// that several streams would add, it has one stream.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CORE_STREAMPLAN_H
#define TRACEA_LIB_RUNTIME_CORE_STREAMPLAN_H

#include "tracea/Runtime/Manifest.h"

namespace tracea::runtime {

struct StreamPlan {
  struct Step {
    /// Stream 0 is the one that the run was asked to use.
    int stream = 0;
    /// Its place in `order`.
    int64_t position = 0;
    /// The steps of other streams that it has to wait for.
    std::vector<int64_t> waits;
    /// Whether another stream waits for it.
    bool isAwaited = false;
    /// By stream, the place of the last step that has ended when this one
    /// begins; -1 where none has.
    std::vector<int64_t> seen;
  };
  std::vector<Step> steps;
  /// The steps in the order in which they are enqueued: the program's, where
  /// one stream is in use.
  std::vector<size_t> order;
  /// How many streams are in use, at least 1.
  int numStreams = 1;
  /// What stream 0 waits for when all steps are enqueued.
  std::vector<int64_t> finalWaits;

  /// Whether the step `a` has ended when `b` begins. What is before all steps
  /// has the number -1, what is after them the number of steps.
  bool endsBefore(int64_t a, int64_t b) const;
};

/// For up to `numStreams` streams. The entry must have passed `validate`.
StreamPlan planStreams(const EntrySpec &entry, int numStreams);

} // namespace tracea::runtime

#endif // TRACEA_LIB_RUNTIME_CORE_STREAMPLAN_H
