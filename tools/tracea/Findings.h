//===- Findings.h - What the doctor finds -----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the doctor's parts.

#ifndef TRACEA_TOOLS_TRACEA_FINDINGS_H
#define TRACEA_TOOLS_TRACEA_FINDINGS_H

#include <string>
#include <utility>
#include <vector>

namespace tracea::driver {

enum class Verdict { Good, Warning, Bad };

struct Finding {
  Verdict verdict = Verdict::Good;
  std::string section;
  std::string text;
  /// What to do about it.
  std::string hint;
};

using Findings = std::vector<Finding>;

inline void good(Findings &findings, const char *section, std::string text) {
  findings.push_back({Verdict::Good, section, std::move(text), ""});
}
inline void warn(Findings &findings, const char *section, std::string text,
                 std::string hint) {
  findings.push_back(
      {Verdict::Warning, section, std::move(text), std::move(hint)});
}
inline void bad(Findings &findings, const char *section, std::string text,
                std::string hint) {
  findings.push_back({Verdict::Bad, section, std::move(text), std::move(hint)});
}

/// NVIDIA's driver, its devices, and the assembler. A machine without any of
/// them is well.
void checkCUDA(Findings &findings);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_FINDINGS_H
