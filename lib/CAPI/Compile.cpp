//===- Compile.cpp - From a module to a program ---------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

#include "CompilerLibrary.h"
#include "Devices.h"
#include "tracea/Runtime/File.h"
#include "tracea/Runtime/Trust.h"

#include <cstdlib>
#include <dirent.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tracea::capi {

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

namespace {
std::mutex folderMutex;
std::optional<std::string> chosenFolder;
} // namespace

std::string cacheFolder() {
  {
    std::lock_guard<std::mutex> lock(folderMutex);
    if (chosenFolder)
      return *chosenFolder;
  }
  if (const char *named = std::getenv("TRACEA_CACHE_DIR"))
    return named;
  const char *cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/')
    return std::string(cache) + "/tracea";
  const char *home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/tracea" : "";
}

/// Makes the folder and those above it, for this user alone.
static bool makeFolder(const std::string &path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    (void)mkdir(path.substr(0, slash).c_str(), 0700);
  (void)mkdir(path.c_str(), 0700);
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// Whether one of the targets, with commas between them, is the machine at
/// hand.
static bool namesThisMachine(const std::string &targets) {
  std::string list = "," + targets + ",";
  return list.find(",cpu,") != std::string::npos ||
         list.find(",host,") != std::string::npos;
}

/// The file of a module: all that its program depends on.
static std::string cachePath(const std::string &folder,
                             const std::string &module,
                             const CompileRequest &request) {
  std::string fingerprint = compilerFingerprint();
  if (folder.empty() || fingerprint.empty())
    return "";
  std::string key = fingerprint;
  // Code for "this machine" is as good as its processor.
  if (namesThisMachine(request.target)) {
    Expected<OpenDevice *> device = openDeviceNumber(TRACEA_CPU);
    if (!device)
      return "";
    const runtime::DeviceInfo &info = (*device)->device->info();
    key += "\n" + info.name + " " + std::to_string(info.parallelism);
    for (const std::string &feature : info.features)
      key += " " + feature;
  }
  key += "\n" + request.target + "\n" + request.entry + "\n" + request.fuse +
         "\n" + std::to_string(request.threads) + " " +
         std::to_string(request.requireProof) + "\n" + module;
  XXH128_canonical_t sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits(key.data(), key.size()));
  std::string name = folder + "/";
  for (unsigned char byte : sum.digest) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return name + ".tracea";
}

//===----------------------------------------------------------------------===//
// The compiler
//===----------------------------------------------------------------------===//

namespace {
struct Outcome {
  std::vector<uint8_t> bytes;
  std::string remarks;
  std::string message;
  bool failed = true;
  bool invalid = false;
};
} // namespace

static Expected<Compiled> compileNow(const std::string &module,
                                     const CompileRequest &request) {
  Expected<const TraceaCompilerInterface *> compiler = loadCompiler();
  if (!compiler)
    return compiler.status();
  TraceaCompilerRequest asked = {module.data(),         module.size(),
                                 request.name.c_str(),  request.target.c_str(),
                                 request.entry.c_str(), request.fuse.c_str(),
                                 request.threads,       request.requireProof};
  Outcome outcome;
  TraceaCompilerSink sink = {
      &outcome,
      [](void *context, const void *bytes, size_t size, const char *remarks,
         size_t remarksSize) {
        Outcome &outcome = *static_cast<Outcome *>(context);
        const uint8_t *first = static_cast<const uint8_t *>(bytes);
        outcome.bytes.assign(first, first + size);
        outcome.remarks.assign(remarks, remarksSize);
        outcome.failed = false;
      },
      [](void *context, const char *message, size_t size, int32_t invalid) {
        Outcome &outcome = *static_cast<Outcome *>(context);
        outcome.message.assign(message, size);
        outcome.invalid = invalid != 0;
      }};
  (*compiler)->compile(&asked, &sink);
  if (outcome.failed)
    return Status::error(outcome.message, outcome.invalid
                                              ? ErrorKind::InvalidArgument
                                              : ErrorKind::Unsupported);
  Expected<runtime::ProgramFile> program =
      runtime::ProgramFile::parse(outcome.bytes);
  if (!program)
    return program.status();
  return Compiled{std::move(*program), std::move(outcome.remarks), false};
}

Expected<Compiled> compile(const std::string &module,
                           const CompileRequest &request) {
  std::string folder = request.useCache ? cacheFolder() : "";
  std::string path = cachePath(folder, module, request);
  if (!path.empty()) {
    // What cannot be read, or is not this user's, is made anew.
    Expected<runtime::ProgramFile> kept = runtime::ProgramFile::load(path);
    if (kept)
      return Compiled{std::move(*kept), "", true};
  }
  Expected<Compiled> fresh = compileNow(module, request);
  if (fresh && !path.empty() && makeFolder(folder))
    // A full disk is no reason to fail.
    (void)fresh->program.save(path);
  return fresh;
}

static bool isProgramName(const std::string &name) {
  constexpr size_t digits = 32;
  return name.size() == digits + 7 && name.compare(digits, 7, ".tracea") == 0 &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

static Status clearFolder(const std::string &folder) {
  DIR *entries = folder.empty() ? nullptr : opendir(folder.c_str());
  if (!entries)
    return Status::success();
  std::string failed;
  while (const dirent *entry = readdir(entries)) {
    std::string name = entry->d_name;
    if (isProgramName(name) && unlink((folder + "/" + name).c_str()) != 0)
      failed = folder + "/" + name;
  }
  closedir(entries);
  return failed.empty()
             ? Status::success()
             : Status::error("cannot delete '" + failed + "'", ErrorKind::IO);
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_cache_set_directory(const char *path) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    std::string folder = path ? path : "";
    if (!folder.empty() && !makeFolder(folder))
      return Status::error("path: expected a folder that can be made, found '" +
                               folder + "'",
                           ErrorKind::IO);
    std::lock_guard<std::mutex> lock(folderMutex);
    chosenFolder = std::move(folder);
    return Status::success();
  });
}

TraceaStatus tracea_cache_directory(char *buffer, size_t size, size_t *length) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    return copyText(cacheFolder(), buffer, size, length);
  });
}

TraceaStatus tracea_cache_clear(void) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR,
                 [&]() -> Status { return clearFolder(cacheFolder()); });
}
