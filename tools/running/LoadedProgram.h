//===- LoadedProgram.h - A program with its inputs, on a device -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_RUNNING_LOADEDPROGRAM_H
#define TRACEA_TOOLS_RUNNING_LOADEDPROGRAM_H

#include "Inputs.h"
#include "tracea/Runtime/Executable.h"

#include <CLI/CLI.hpp>

namespace tracea::driver {

/// How a program is to be run.
struct RunOptions : InputOptions {
  /// "cpu", "cuda" or "cuda:1"; empty: what the target or program is for.
  std::string device;
  std::string entry;
  int threads = 0;
  /// How many streams of the device a run may use.
  int streams = 1;
  /// Whether runs that come again are recorded and launched as a whole.
  bool graph = false;
};

/// The options above, as all commands spell them that run something.
void addRunOptions(CLI::App &app, RunOptions &options);

/// What `--device` says.
struct DeviceName {
  /// "" where it says nothing.
  std::string kind;
  int ordinal = 0;
};
Expected<DeviceName> parseDevice(const std::string &text);

Expected<std::shared_ptr<runtime::Device>> openDevice(const DeviceName &name,
                                                      int threads);

/// The entry that is meant: the one asked for, else the only one, else "main".
Expected<std::string> chooseEntry(const std::string &source,
                                  const std::vector<std::string> &names,
                                  const std::string &wanted);

struct LoadedProgram {
  const runtime::EntrySpec &entry() const { return execution->entry(); }
  std::vector<runtime::Tensor> inputTensors() const;
  /// The same for later runs, to which constants are not given again.
  std::vector<runtime::Tensor> otherTensors() const;

  /// Loads the program on the device and makes its inputs. `name` is what
  /// messages call it; `entryName` and `device` are set.
  Status load(runtime::ProgramFile program, const std::string &name,
              const RunOptions &options);

  std::string entryName;
  std::shared_ptr<runtime::Device> device;
  std::shared_ptr<runtime::Executable> executable;
  std::unique_ptr<runtime::Execution> execution;
  std::vector<InputTensor> inputs;
};

} // namespace tracea::driver

#endif // TRACEA_TOOLS_RUNNING_LOADEDPROGRAM_H
