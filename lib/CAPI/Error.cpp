//===- Error.cpp - Failures as C sees them --------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Error.h"

#include <algorithm>
#include <cstring>

namespace tracea::capi {

static thread_local std::string lastError;

void setLastError(const char *function, const std::string &message) {
  try {
    lastError = std::string(function) + ": " + message;
  } catch (const std::bad_alloc &) {
    lastError.clear();
  }
}

TraceaStatus deviceError(int32_t device) {
  return device < 0 ? TRACEA_CPU_ERROR : TRACEA_CUDA_ERROR;
}

TraceaStatus report(const char *function, const Status &status,
                    TraceaStatus other) {
  setLastError(function, status.message());
  switch (status.kind()) {
  case ErrorKind::InvalidArgument:
    return TRACEA_INVALID_PARAMS;
  case ErrorKind::Unsupported:
    return TRACEA_UNSUPPORTED_CONFIG;
  case ErrorKind::OutOfMemory:
    return TRACEA_OUT_OF_MEMORY;
  case ErrorKind::IO:
    return TRACEA_IO_ERROR;
  case ErrorKind::NoCompiler:
    return TRACEA_NO_COMPILER;
  case ErrorKind::Other:
    break;
  }
  return other;
}

Status copyText(const std::string &text, char *buffer, size_t size,
                size_t *length) {
  if (!buffer && size > 0)
    return Status::invalid("buffer: expected memory of " +
                           std::to_string(size) + " bytes, found NULL");
  if (length)
    *length = text.size();
  if (size == 0)
    return Status::success();
  size_t kept = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), kept);
  buffer[kept] = 0;
  return Status::success();
}

Status requirePointer(const void *pointer, const char *name) {
  return pointer ? Status::success()
                 : Status::invalid(std::string(name) +
                                   ": expected a pointer, found NULL");
}

} // namespace tracea::capi

using namespace tracea::capi;

const char *tracea_status_name(TraceaStatus status) {
  switch (status) {
  case TRACEA_SUCCESS:
    return "TRACEA_SUCCESS";
  case TRACEA_INVALID_PARAMS:
    return "TRACEA_INVALID_PARAMS";
  case TRACEA_UNSUPPORTED_CONFIG:
    return "TRACEA_UNSUPPORTED_CONFIG";
  case TRACEA_CUDA_ERROR:
    return "TRACEA_CUDA_ERROR";
  case TRACEA_CPU_ERROR:
    return "TRACEA_CPU_ERROR";
  case TRACEA_HIP_ERROR:
    return "TRACEA_HIP_ERROR";
  case TRACEA_METAL_ERROR:
    return "TRACEA_METAL_ERROR";
  case TRACEA_OUT_OF_MEMORY:
    return "TRACEA_OUT_OF_MEMORY";
  case TRACEA_IO_ERROR:
    return "TRACEA_IO_ERROR";
  case TRACEA_NO_COMPILER:
    return "TRACEA_NO_COMPILER";
  case TRACEA_INTERNAL_ERROR:
    return "TRACEA_INTERNAL_ERROR";
  }
  return "unknown status";
}

size_t tracea_get_last_error(uint8_t *buffer, size_t size) {
  if (buffer && size > 0) {
    size_t kept = std::min(lastError.size(), size - 1);
    std::memcpy(buffer, lastError.data(), kept);
    buffer[kept] = 0;
  }
  return lastError.size();
}

void tracea_clear_error(void) { lastError.clear(); }

const char *tracea_version(void) { return TRACEA_VERSION; }

uint32_t tracea_abi_version(void) { return TRACEA_ABI_VERSION; }
