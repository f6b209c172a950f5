//===- SourceFile.h - Files and targets that commands name ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_TRACEA_SOURCEFILE_H
#define TRACEA_TOOLS_TRACEA_SOURCEFILE_H

#include "Support.h"
#include "tracea/TargetInfo/TargetInfo.h"

namespace tracea::driver {

/// The bytes of a module's or program's file, and whose it is; "-" is the
/// standard input.
Expected<std::vector<uint8_t>> readInput(const std::string &path,
                                         runtime::FileOrigin &origin);

/// The target of that name: "cpu" and "host" are this machine. An unknown one
/// is an error that names the closest.
Expected<target::TargetDescription> findTarget(const std::string &name);

/// The same of a list with commas. All are of one kind.
Expected<std::vector<target::TargetDescription>>
findTargets(const std::string &names);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_SOURCEFILE_H
