//===- Ptxas.h - Machine code from PTX, where the tool is there -*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of cubins.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_CUDA_PTXAS_H
#define TRACEA_UNITTESTS_RUNTIME_CUDA_PTXAS_H

#include "tracea/Runtime/File.h"

#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

namespace tracea::runtime::test {

/// The path of NVIDIA's assembler, or nothing.
inline std::string findPtxas() {
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  path += ":/usr/local/cuda/bin";
  for (size_t at = 0; at < path.size();) {
    size_t end = std::min(path.find(':', at), path.size());
    std::string file = path.substr(at, end - at) + "/ptxas";
    if (::access(file.c_str(), X_OK) == 0)
      return file;
    at = end + 1;
  }
  return "";
}

/// A cubin; empty where the tool fails.
inline std::vector<uint8_t> assemble(const std::string &ptxas,
                                     const std::vector<uint8_t> &ptx,
                                     const std::string &arch) {
  const char *folder = std::getenv("TMPDIR");
  std::string base = std::string(folder && *folder ? folder : "/tmp") +
                     "/tracea-ptxas-" + std::to_string(::getpid());
  std::string from = base + ".ptx", to = base + ".cubin";
  std::vector<uint8_t> code;
  if (writeFileAtomic(from, {Bytes(ptx.data(), ptx.size())}).ok()) {
    std::string command =
        "'" + ptxas + "' -arch=" + arch + " '" + from + "' -o '" + to + "'";
    if (std::system(command.c_str()) == 0)
      if (Expected<std::vector<uint8_t>> made = readFile(to, 1 << 26))
        code = *made;
  }
  ::unlink(from.c_str());
  ::unlink(to.c_str());
  return code;
}

} // namespace tracea::runtime::test

#endif // TRACEA_UNITTESTS_RUNTIME_CUDA_PTXAS_H
