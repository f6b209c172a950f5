//===- Checker.h - Decides a protocol for every trip count ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One schedule and one bit of knowledge for each fact decide every
// interleaving; trip counts are read lazily, one decision at a time.

#ifndef TRACEA_ANALYSIS_PROTOCOL_CHECKER_H
#define TRACEA_ANALYSIS_PROTOCOL_CHECKER_H

#include "tracea/Analysis/Protocol/Protocol.h"

namespace tracea::analysis {

/// What a correct protocol has, and an incorrect one lacks.
enum class Property : uint8_t {
  Deadlock,
  Overwrite,
  UnfilledRead,
  ReadAfterRelease,
  ParityAliasing,
  Bytes,
  ArrivalCount,
  Drain,
  Initialization,
  Roles,
  NamedBarrier,
  SlotRange,
  PendingValue
};

const char *propertyName(Property property);

/// Another place that has to do with a finding.
struct Note {
  int role = -1;
  Site site = kNoSite;
  std::string message;
};

/// One event of a counterexample.
struct Event {
  int role = -1;
  Site site = kNoSite;
  std::string text;
};

/// A counterexample.
struct Finding {
  Property property = Property::Deadlock;
  std::string message;
  int role = -1;
  Site site = kNoSite;
  /// The ring in question, or -1.
  int channel = -1;
  std::vector<Note> notes;
  /// The trip counts of the run, for instance "T = 1; K = 2, 3 or more".
  std::string trips;
  /// The events of the run that touch the place in question, oldest first.
  std::vector<Event> trace;
  /// Events of the whole run.
  int64_t length = 0;
};

struct CheckStatistics {
  int64_t states = 0;
  int64_t steps = 0;
  /// Decisions between the first and the last reader of a trip count.
  int64_t lead = 0;
  double milliseconds = 0;
};

enum class Verdict : uint8_t { Proved, Refuted, NotDecided };

struct CheckResult {
  Verdict verdict = Verdict::NotDecided;
  /// Why it was not decided.
  std::string reason;
  Finding finding;
  CheckStatistics statistics;
};

struct CheckOptions {
  /// Decisions that one role may be ahead of another.
  int maxLead = 60;
  int64_t maxStates = 200000;
  /// Bytes that states may take.
  int64_t maxBytes = int64_t(1) << 30;
  /// Events that a trace keeps.
  int maxTrace = 16;
};

CheckResult checkProtocol(const Protocol &protocol,
                          const CheckOptions &options = {});

/// The finding as text of a few lines.
std::string printFinding(const Protocol &protocol, const Finding &finding);

} // namespace tracea::analysis

#endif // TRACEA_ANALYSIS_PROTOCOL_CHECKER_H
