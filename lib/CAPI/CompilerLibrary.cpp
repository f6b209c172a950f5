//===- CompilerLibrary.cpp - Loads libtracea ------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <sys/stat.h>
#include <vector>

namespace tracea::capi {

static constexpr const char *libraryName = "libtracea.so";

/// Where to look, in this order.
static std::vector<std::string> candidates() {
  if (const char *named = std::getenv("TRACEA_COMPILER_LIBRARY"))
    return {named};
  std::vector<std::string> paths;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&candidates), &info) &&
      info.dli_fname) {
    std::string self = info.dli_fname;
    size_t slash = self.rfind('/');
    if (slash != std::string::npos)
      paths.push_back(self.substr(0, slash + 1) + libraryName);
  }
  paths.push_back(libraryName);
  return paths;
}

Expected<const TraceaCompilerInterface *> loadCompiler() {
  static std::mutex mutex;
  static const TraceaCompilerInterface *loaded = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (loaded)
    return loaded;
  std::string tried;
  for (const std::string &path : candidates()) {
    // Its symbols are nobody else's: other libraries may bring another LLVM.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *why = dlerror();
      tried +=
          (tried.empty() ? "" : "; ") + std::string(why ? why : path.c_str());
      continue;
    }
    void *entry = dlsym(library, TRACEA_COMPILER_ENTRY);
    const TraceaCompilerInterface *found =
        entry ? reinterpret_cast<TraceaCompilerEntry>(entry)() : nullptr;
    if (!found || found->version != traceaCompilerInterfaceVersion) {
      dlclose(library);
      return Status::error(
          path + ": expected the compiler's interface " +
              std::to_string(traceaCompilerInterfaceVersion) + ", found " +
              (found ? std::to_string(found->version) : "none"),
          ErrorKind::NoCompiler);
    }
    loaded = found;
    return loaded;
  }
  return Status::error(
      "the compiler's library is not there (set "
      "TRACEA_COMPILER_LIBRARY, or load a compiled program): " +
          tried,
      ErrorKind::NoCompiler);
}

std::string compilerFingerprint() {
  for (const std::string &path : candidates()) {
    struct stat info;
    if (path.find('/') == std::string::npos || stat(path.c_str(), &info) != 0)
      continue;
    return std::string(TRACEA_VERSION) + " " + std::to_string(info.st_size) +
           " " + std::to_string(info.st_mtim.tv_sec) + "." +
           std::to_string(info.st_mtim.tv_nsec);
  }
  return "";
}

} // namespace tracea::capi
