//===- Session.h - A module or program, loaded with its inputs --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `run` and `bench` share: the source is compiled or read, an entry
// chosen, the inputs read and compared with it.

#ifndef TRACEA_TOOLS_TRACEA_SESSION_H
#define TRACEA_TOOLS_TRACEA_SESSION_H

#include "Frontend.h"
#include "Support.h"
#include "tracea/Runtime/Executable.h"

#include <CLI/CLI.hpp>

namespace tracea::driver {

struct SessionOptions {
  std::string source;
  /// Whose programs may run; see `parseTrust`.
  std::vector<std::string> trust;
  /// Empty: this machine, or what the device is.
  std::string target;
  /// "cpu", "cuda" or "cuda:1"; empty: what the target or program is for.
  std::string device;
  std::string entry;
  int threads = 0;
  /// How many streams of the device a run may use.
  int streams = 1;
  /// Whether runs that come again are recorded and launched as a whole.
  bool graph = false;
  std::vector<std::string> inputs;
  /// "0=128x256": the sizes of a random input.
  std::vector<std::string> shapes;
  bool random = false;
  /// The seed as it was given: a number of 64 bits.
  std::string seed = "0";
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

/// The entry that is meant: the one asked for, else the only one, else "main".
Expected<std::string> chooseEntry(const std::string &source,
                                  const std::vector<std::string> &names,
                                  const std::string &wanted);

struct InputTensor {
  runtime::Tensor tensor;
  /// The file, or "random, seed 0".
  std::string origin;
};

class Session {
public:
  /// Everything up to the first run. Diagnostics of the compiler are on stderr
  /// when this fails.
  static Expected<Session> open(const SessionOptions &options);

  const runtime::EntrySpec &entry() const { return execution->entry(); }
  std::vector<runtime::Tensor> inputTensors() const;
  /// The same for later runs, to which constants are not given again.
  std::vector<runtime::Tensor> otherTensors() const;
  /// Of a launch of the kernel, or null. Launches share a kernel where their
  /// types are the same, and so is what they count for.
  const LaunchNote *findLaunch(const std::string &kernel) const;

  Source source;
  std::string entryName;
  std::shared_ptr<runtime::Device> device;
  std::shared_ptr<runtime::Executable> executable;
  std::unique_ptr<runtime::Execution> execution;
  std::vector<InputTensor> inputs;
  /// What the compilation reported, where there was one.
  CompileReport report;
  double compileSeconds = 0;
};

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_SESSION_H
