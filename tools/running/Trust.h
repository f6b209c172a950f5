//===- Trust.h - Whose programs a tool runs ---------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_RUNNING_TRUST_H
#define TRACEA_TOOLS_RUNNING_TRUST_H

#include "Support.h"
#include "tracea/Runtime/ProgramFile.h"

#include <CLI/CLI.hpp>

namespace tracea::driver {

/// `--trust`, as the commands spell it that run programs.
void addTrustOption(CLI::App &app, std::vector<std::string> &words);

/// What `--trust` says: "owner", "any", or the name of a key's file. Without
/// it the owner's files are trusted.
Expected<runtime::TrustPolicy>
parseTrust(const std::vector<std::string> &words);

/// Fails where the program, of the file that `name` stands for, must not run.
Status requireTrust(const std::string &name, const runtime::TrustPolicy &policy,
                    const runtime::ProgramFile &program,
                    const runtime::FileOrigin &origin);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_RUNNING_TRUST_H
