//===- Commands.h - The driver's subcommands --------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each adds its options to `app` and, when it is the one that was asked for,
// leaves its exit code in `exitCode`.

#ifndef TRACEA_TOOLS_TRACEA_COMMANDS_H
#define TRACEA_TOOLS_TRACEA_COMMANDS_H

namespace CLI {
class App;
} // namespace CLI

namespace tracea::driver {

void addCompileCommand(CLI::App &app, int &exitCode);
void addRunCommand(CLI::App &app, int &exitCode);
void addBenchCommand(CLI::App &app, int &exitCode);
void addExplainCommand(CLI::App &app, int &exitCode);
void addDoctorCommand(CLI::App &app, int &exitCode);
void addKeygenCommand(CLI::App &app, int &exitCode);

/// The option that loads plugins, of commands that compile modules.
void addPluginOption(CLI::App &command);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_COMMANDS_H
