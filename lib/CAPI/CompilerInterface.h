//===- CompilerInterface.h - Between the two libraries ----------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libtracea gives to libtracea-runtime, which loads it when something is
// to be compiled. Both come from one build; the version is compared all the
// same.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_COMPILERINTERFACE_H
#define TRACEA_LIB_CAPI_COMPILERINTERFACE_H

#include <cstddef>
#include <cstdint>

extern "C" {

struct TraceaCompilerRequest {
  const char *module;
  size_t length;
  /// What messages call the module.
  const char *name;
  /// A name of the target tables, or "cpu".
  const char *target;
  /// "" is all public functions.
  const char *entry;
  const char *fuse;
  int32_t threads;
  int32_t requireProof;
};

/// Where results go; called before `compile` returns.
struct TraceaCompilerSink {
  void *context;
  /// The program file, and what the passes decided as a JSON array.
  void (*program)(void *context, const void *bytes, size_t size,
                  const char *remarks, size_t remarksSize);
  /// `invalid` where the module is at fault, rather than what it asks for.
  void (*failure)(void *context, const char *message, size_t size,
                  int32_t invalid);
};

struct TraceaCompilerInterface {
  uint32_t version;
  const char *productVersion;
  /// From any thread, several at a time.
  void (*compile)(const TraceaCompilerRequest *request,
                  const TraceaCompilerSink *sink);
};

constexpr uint32_t traceaCompilerInterfaceVersion = 1;

/// The one symbol of libtracea.
typedef const TraceaCompilerInterface *(*TraceaCompilerEntry)(void);
#define TRACEA_COMPILER_ENTRY "tracea_compiler_interface"

} // extern "C"

#endif // TRACEA_LIB_CAPI_COMPILERINTERFACE_H
