//===- Support.h - Messages, files and tables of the tools ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_RUNNING_SUPPORT_H
#define TRACEA_TOOLS_RUNNING_SUPPORT_H

#include "tracea/Runtime/File.h"
#include "tracea/Runtime/Manifest.h"
#include "tracea/Runtime/Tensor.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tracea::driver {

using runtime::Expected;
using runtime::Status;

/// What messages begin with; "tracea" unless a tool says otherwise.
void setToolName(const char *name);
/// Prints "tracea: error: …" to stderr.
void printError(const std::string &message);

/// What messages call the source: the path, or "<stdin>".
std::string displayName(const std::string &path);

/// Fails when nothing can be written at `path`, as far as that can be known
/// before writing: asked before long work.
Status checkWritable(const std::string &path);

/// Files that appear together: each is complete beside its destination before
/// the first one takes its name. "-" is the standard output.
class OutputFiles {
public:
  void add(std::string path, std::vector<uint8_t> bytes,
           uint32_t mode = runtime::modeOfData);
  Status commit();

private:
  struct File {
    std::string path;
    std::vector<uint8_t> bytes;
    uint32_t mode;
  };
  std::vector<File> files;
};

/// To the standard output; a failure (a full disk, a closed pipe) is an error.
Status writeStdout(const std::string &text);
Status writeStdout(const std::vector<uint8_t> &bytes);
/// Writes an object with two spaces of indentation and a line end.
Status writeJSON(const nlohmann::ordered_json &value);

/// "'a', 'b'"
std::string quoteList(const std::vector<std::string> &names);
/// "f32[?, 64]"
std::string describeType(const runtime::InputSpec &input);
std::string describeType(runtime::ElementType type,
                         const std::vector<int64_t> &shape);
/// "12.3 us"
std::string describeSeconds(double seconds);
/// "1.5 MiB"
std::string describeBytes(double bytes);
/// Formats one number as printf does, with "%.3g" for example.
std::string formatNumber(const char *format, double value);

/// Rows of cells, aligned; the first row is the head. Columns are left-aligned
/// unless listed in `right`.
std::string formatTable(const std::vector<std::vector<std::string>> &rows,
                        const std::vector<size_t> &right = {});

/// A line on stderr that says what is going on, and goes away; only where
/// stderr is a terminal.
class Progress {
public:
  explicit Progress(const std::string &what);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  void clear();

private:
  bool shown;
};

} // namespace tracea::driver

#endif // TRACEA_TOOLS_RUNNING_SUPPORT_H
