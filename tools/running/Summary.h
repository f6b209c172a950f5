//===- Summary.h - What a run says, and where its results go ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_RUNNING_SUMMARY_H
#define TRACEA_TOOLS_RUNNING_SUMMARY_H

#include "LoadedProgram.h"

namespace tracea::driver {

/// Whether results may be written to these files; "-" is the standard output,
/// where `json` wants to be alone.
Status checkOutputOptions(const std::vector<std::string> &paths, bool json);

/// Writes the results, all or none, as NumPy files.
Status writeOutputs(const std::vector<runtime::Tensor> &outputs,
                    const std::vector<std::string> &paths);

/// Lines on the run of `source`; `compileSeconds` where it was compiled.
std::string formatSummary(const LoadedProgram &program,
                          const std::string &source,
                          const std::vector<runtime::Tensor> &outputs,
                          const std::vector<std::string> &paths,
                          std::optional<double> compileSeconds, double seconds);
nlohmann::ordered_json describeRun(const LoadedProgram &program,
                                   const std::string &source,
                                   const std::vector<runtime::Tensor> &outputs,
                                   const std::vector<std::string> &paths,
                                   std::optional<double> compileSeconds,
                                   double seconds);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_RUNNING_SUMMARY_H
