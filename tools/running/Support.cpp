//===- Support.cpp - Messages, files and tables of the tools --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace tracea::driver;
namespace rt = tracea::runtime;

static const char *toolName = "tracea";

void tracea::driver::setToolName(const char *name) { toolName = name; }

void tracea::driver::printError(const std::string &message) {
  std::fprintf(stderr, "%s: error: %s\n", toolName, message.c_str());
}

std::string tracea::driver::displayName(const std::string &path) {
  return path == "-" ? "<stdin>" : path;
}

static std::string parentOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status tracea::driver::checkWritable(const std::string &path) {
  if (path == "-")
    return Status::success();
  if (path.empty())
    return Status::error(
        "expected the name of an output file, found an empty one");
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return Status::error(path + ": expected a file to write, found a "
                                  "directory");
    if (!S_ISREG(info.st_mode))
      return Status::success();
  }
  std::string parent = parentOf(path);
  if (::stat(parent.c_str(), &info) != 0)
    return Status::error(path + ": cannot write into '" + parent +
                         "': " + std::strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return Status::error(path + ": expected '" + parent +
                         "' to be a directory");
  if (::access(parent.c_str(), W_OK | X_OK) != 0)
    return Status::error(path + ": cannot write into '" + parent +
                         "': " + std::strerror(errno));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

void OutputFiles::add(std::string path, std::vector<uint8_t> bytes,
                      uint32_t mode) {
  files.push_back({std::move(path), std::move(bytes), mode});
}

Status OutputFiles::commit() {
  // Devices, pipes and the standard output cannot be taken back, so they come
  // after all files are on the disk.
  struct Staged {
    std::string from, to;
  };
  std::vector<Staged> staged;
  std::vector<const File *> direct;
  Status status;
  for (const File &file : files) {
    struct stat info;
    bool special = file.path == "-" || (::stat(file.path.c_str(), &info) == 0 &&
                                        !S_ISREG(info.st_mode));
    if (special) {
      direct.push_back(&file);
      continue;
    }
    std::string from = file.path + ".new-" + std::to_string(::getpid());
    rt::Bytes piece(file.bytes);
    status = rt::writeFileAtomic(from, {piece}, file.mode);
    if (!status.ok())
      break;
    staged.push_back({from, file.path});
  }
  for (const File *file : direct) {
    if (!status.ok())
      break;
    rt::Bytes piece(file->bytes);
    status = file->path == "-" ? writeStdout(file->bytes)
                               : rt::writeFileAtomic(file->path, {piece});
  }
  size_t renamed = 0;
  for (; status.ok() && renamed < staged.size(); ++renamed)
    if (std::rename(staged[renamed].from.c_str(), staged[renamed].to.c_str()) !=
        0) {
      status = Status::error(staged[renamed].to +
                             ": cannot write: " + std::strerror(errno));
      break;
    }
  for (; renamed < staged.size(); ++renamed)
    ::unlink(staged[renamed].from.c_str());
  return status;
}

static Status writeStdoutBytes(const void *data, size_t size) {
  errno = 0;
  if (std::fwrite(data, 1, size, stdout) != size || std::fflush(stdout) != 0)
    return Status::error(std::string("cannot write to the standard output: ") +
                         std::strerror(errno));
  return Status::success();
}

Status tracea::driver::writeStdout(const std::string &text) {
  return writeStdoutBytes(text.data(), text.size());
}

Status tracea::driver::writeStdout(const std::vector<uint8_t> &bytes) {
  return writeStdoutBytes(bytes.data(), bytes.size());
}

Status tracea::driver::writeJSON(const nlohmann::ordered_json &value) {
  // File names need not be UTF-8.
  return writeStdout(
      value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
      "\n");
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string tracea::driver::quoteList(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "'" : ", '") + name + "'";
  return list;
}

std::string tracea::driver::describeType(rt::ElementType type,
                                         const std::vector<int64_t> &shape) {
  return rt::nameOf(type) + rt::describeShape(shape);
}

std::string tracea::driver::describeType(const rt::InputSpec &input) {
  return input.isScalar ? rt::nameOf(input.type)
                        : describeType(input.type, input.shape);
}

std::string tracea::driver::formatNumber(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string tracea::driver::describeSeconds(double seconds) {
  if (seconds < 1e-3)
    return formatNumber("%.2f us", seconds * 1e6);
  if (seconds < 1)
    return formatNumber("%.3f ms", seconds * 1e3);
  return formatNumber("%.3f s", seconds);
}

std::string tracea::driver::describeBytes(double bytes) {
  if (bytes < 1024)
    return formatNumber("%.0f B", bytes);
  if (bytes < 1024.0 * 1024)
    return formatNumber("%.1f KiB", bytes / 1024);
  if (bytes < 1024.0 * 1024 * 1024)
    return formatNumber("%.1f MiB", bytes / (1024.0 * 1024));
  return formatNumber("%.1f GiB", bytes / (1024.0 * 1024 * 1024));
}

std::string
tracea::driver::formatTable(const std::vector<std::vector<std::string>> &rows,
                            const std::vector<size_t> &right) {
  std::vector<size_t> widths;
  for (const std::vector<std::string> &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size())
        widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i) {
      std::string pad(widths[i] - row[i].size(), ' ');
      bool toRight = std::find(right.begin(), right.end(), i) != right.end();
      line += " " + (toRight ? pad + row[i] : row[i] + pad) + " ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

Progress::Progress(const std::string &what) : shown(::isatty(2)) {
  if (shown)
    std::fprintf(stderr, "%s…", what.c_str());
}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (shown)
    std::fprintf(stderr, "\r\033[K");
  shown = false;
}
