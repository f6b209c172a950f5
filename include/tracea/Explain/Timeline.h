//===- Timeline.h - One run of a protocol, step by step ---------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A protocol is proved for every interleaving and every trip count. This is one
// of the runs, to look at: all roles that can take a step in each column, what
// they do is seen from the next one on, bulk copies and asynchronous groups
// take some columns to land.

#ifndef TRACEA_EXPLAIN_TIMELINE_H
#define TRACEA_EXPLAIN_TIMELINE_H

#include "tracea/Algebra/Expected.h"
#include "tracea/Analysis/Protocol/Protocol.h"

namespace tracea::explain {

struct TimelineOptions {
  /// Iterations of every loop, and of every branch before it is not taken.
  int iterations = 3;
  /// Columns until a bulk copy or an asynchronous group is over.
  int latency = 2;
  int maxColumns = 2000;
};

/// What a role does in one column.
struct TimelineEvent {
  int role = 0, column = 0;
  analysis::Step step = analysis::Step::Exit;
  /// -1 for steps that are about no slot.
  int channel = -1, slot = -1;
  /// "copy A0".
  std::string label;
};

/// What a slot holds over some columns.
struct TimelineSpan {
  enum Kind { Filling, Full, Read } kind = Filling;
  int channel = 0, slot = 0;
  /// The end is exclusive.
  int begin = 0, end = 0;
};

struct Timeline {
  std::string name;
  std::vector<std::string> roles;
  struct Ring {
    /// "A", "B", ... and the name of the protocol.
    std::string letter, name;
    int slots = 1;
  };
  std::vector<Ring> rings;
  std::vector<TimelineEvent> events;
  /// Columns in which a role cannot go on: [role], ascending.
  std::vector<std::vector<int>> blocked;
  std::vector<TimelineSpan> spans;
  int columns = 0;
  int iterations = 0;
  /// All roles have ended; else the columns were used up.
  bool isComplete = false;
};

/// Fails for protocols of lowered code, whose slots are arithmetic, and for
/// those that do not go on.
algebra::Expected<Timeline> simulate(const analysis::Protocol &protocol,
                                     const TimelineOptions &options = {});

/// Columns that are shown, and what is left out behind them.
struct TimelinePiece {
  /// The end is exclusive.
  int begin = 0, end = 0;
  /// The columns from `repeatsFrom` to `end` come so many more times, in the
  /// slots that follow; the next piece begins after these.
  int repeats = 0, repeatsFrom = 0;
};

/// The run with its steady state once: stretches that repeat, each time a fixed
/// number of slots further on in every ring, are left out. A run of at most
/// `shownWhole` columns is one piece.
std::vector<TimelinePiece> foldTimeline(const Timeline &timeline,
                                        int shownWhole);
/// "columns 24 to 77 come 2 more times, in the slots that follow"; empty where
/// nothing is left out.
std::string describeRepeats(const TimelinePiece &piece);

/// Bands of columns: the roles' steps, below them the slots.
std::string timelineText(const Timeline &timeline, int columnsOfBand = 10);
std::string timelineSvg(const Timeline &timeline);

} // namespace tracea::explain

#endif // TRACEA_EXPLAIN_TIMELINE_H
