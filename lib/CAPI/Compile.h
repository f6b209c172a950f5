//===- Compile.h - From a module to a program -------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the compiler's library, or from the cache on disk, which makes that
// library unnecessary.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_COMPILE_H
#define TRACEA_LIB_CAPI_COMPILE_H

#include "Error.h"
#include "tracea/Runtime/ProgramFile.h"

namespace tracea::capi {

struct CompileRequest {
  /// What messages call the module.
  std::string name = "<module>";
  /// A name of the target tables, or "cpu".
  std::string target = "cpu";
  std::string entry;
  std::string fuse = "safe";
  int32_t threads = 0;
  bool requireProof = false;
  bool useCache = true;
};

struct Compiled {
  runtime::ProgramFile program;
  /// What the passes decided, a JSON array; empty of a program from the cache.
  std::string remarks;
  bool isFromCache = false;
};

Expected<Compiled> compile(const std::string &module,
                           const CompileRequest &request);

/// Where compiled programs are kept; empty is nowhere.
std::string cacheFolder();

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_COMPILE_H
