//===- Report.h - What was measured beside what was predicted -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_BENCHMARKS_GPU_WAVEFRONTS_REPORT_H
#define TRACEA_BENCHMARKS_GPU_WAVEFRONTS_REPORT_H

#include "Pattern.h"

namespace tracea::wavefronts {

struct Measured {
  Pattern pattern;
  /// Of one instruction, with the pipe full.
  double cycles = 0;
  /// The profiler's wavefronts of one instruction; negative if not counted.
  double counted = -1;
};

/// Reads Nsight Compute's raw page as CSV, whose launches are every `every`-th
/// pattern in order and issued the instruction `issues` times. False, with a
/// message, when the file is not that.
bool readCounts(const std::string &path, unsigned every, unsigned issues,
                std::vector<Measured> &all);

/// Every pattern with its addresses, as CSV. False, with a message, when the
/// file cannot be written.
bool writeTable(const std::string &path, const std::vector<Measured> &all);

/// One line for each instruction and family. Whether no pattern took longer
/// than predicted.
bool printSummary(const std::vector<Measured> &all);

} // namespace tracea::wavefronts

#endif // TRACEA_BENCHMARKS_GPU_WAVEFRONTS_REPORT_H
