//===- Recheck.h - Decides certificates again -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the model of a certificate alone, without the kernel: what the compiler
// claimed then is compared with what the same method finds now. Neither the
// claim nor the model is trusted.

#ifndef TRACEA_ANALYSIS_RECHECK_H
#define TRACEA_ANALYSIS_RECHECK_H

#include "tracea/Analysis/Coverage/Problem.h"
#include "tracea/Analysis/Protocol/Protocol.h"
#include <string>
#include <string_view>
#include <vector>

namespace tracea::analysis {

enum class RecheckVerdict {
  /// The model proves the claim.
  Confirmed,
  /// The model proves something else, or has a fault.
  Refuted,
  /// There is no model, or it is none of this check.
  Unreadable,
  /// The method gives up, or nobody knows the check.
  NotDecided
};

/// "confirmed", "refuted", "unreadable", "not decided".
const char *recheckVerdictName(RecheckVerdict verdict);

struct RecheckResult {
  RecheckVerdict verdict = RecheckVerdict::NotDecided;
  /// What was found, when that is not the claim.
  std::string message;
  /// What it took: "412 states".
  std::string figures;
  double milliseconds = 0;
};

/// The checks that the compiler demands a certificate of, where certificates
/// are demanded: those that its own pipeline makes.
const std::vector<std::string_view> &requiredChecks();

/// The checks whose certificates can be decided again.
std::vector<std::string_view> getRecheckedChecks();

RecheckResult recheckCertificate(std::string_view check, std::string_view claim,
                                 std::string_view model);
/// The same, of text that is first compared with its digest: names in it, and
/// figures that other figures would prove as well, are not changed unseen.
RecheckResult recheckCertificate(std::string_view check, std::string_view claim,
                                 std::string_view model,
                                 std::string_view digest);

/// Of the text of a certificate: 32 hexadecimal digits.
std::string getDigest(std::string_view check, std::string_view claim,
                      std::string_view model);

/// The claims of a protocol and of a coverage problem that were proved.
std::string describeProtocol(const Protocol &protocol);
std::string describeCoverage(const coverage::Problem &problem);

} // namespace tracea::analysis

#endif // TRACEA_ANALYSIS_RECHECK_H
