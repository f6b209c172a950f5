//===- Session.h - A module or program, loaded with its inputs --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `run` and `bench` share: the source is compiled or read, an entry
// chosen, the inputs read and compared with it.

#ifndef TRACEA_TOOLS_TRACEA_SESSION_H
#define TRACEA_TOOLS_TRACEA_SESSION_H

#include "Frontend.h"
#include "LoadedProgram.h"
#include "Timing.h"

namespace tracea::driver {

struct SessionOptions : RunOptions {
  std::string source;
  /// Whose programs may run; see `parseTrust`.
  std::vector<std::string> trust;
  /// Empty: this machine, or what the device is.
  std::string target;
  bool requireProof = false;
};

/// The options above, as `run` and `bench` spell them.
void addSessionOptions(CLI::App &app, SessionOptions &options);

/// The source file, by what it holds.
struct Source {
  /// What messages call it.
  std::string name;
  /// The parsed module; null where the source is a program.
  std::unique_ptr<Frontend> module;
  std::optional<runtime::ProgramFile> program;
  /// Whose file it is.
  runtime::FileOrigin origin;

  static Expected<Source> open(const std::string &path);
};

class Session : public LoadedProgram {
public:
  /// Everything up to the first run. Diagnostics of the compiler are on stderr
  /// when this fails.
  static Expected<Session> open(const SessionOptions &options);

  /// What launches of a kernel compute. They share a kernel where their types
  /// are the same, and so is what they count for.
  FindWork findWork() const;

  Source source;
  /// What the compilation reported, where there was one.
  CompileReport report;
  double compileSeconds = 0;
};

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_SESSION_H
