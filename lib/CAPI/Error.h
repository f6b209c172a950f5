//===- Error.h - Failures as C sees them ------------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_ERROR_H
#define TRACEA_LIB_CAPI_ERROR_H

#include "tracea.h"
#include "tracea/Runtime/Status.h"

#include <exception>
#include <new>
#include <string>

namespace tracea::capi {

using runtime::ErrorKind;
using runtime::Expected;
using runtime::Status;

/// Remembers the message for this thread.
void setLastError(const char *function, const std::string &message);

/// What a failure without a kind of its own is on a device of this number.
TraceaStatus deviceError(int32_t device);

/// Remembers a failure and says what it is; `other` stands for failures that
/// have no kind.
TraceaStatus report(const char *function, const Status &status,
                    TraceaStatus other);

/// Runs the body of a function of the interface, which returns a Status: no
/// exception leaves it.
template <typename Body>
TraceaStatus guarded(const char *function, TraceaStatus other, Body &&body) {
  try {
    Status status = body();
    if (status.ok())
      return TRACEA_SUCCESS;
    return report(function, status, other);
  } catch (const std::bad_alloc &) {
    return report(function, Status::outOfMemory("out of memory"), other);
  } catch (const std::exception &failure) {
    return report(function, Status::error(failure.what()),
                  TRACEA_INTERNAL_ERROR);
  }
}

/// Text into the caller's buffer, by the rule that tracea.h states.
Status copyText(const std::string &text, char *buffer, size_t size,
                size_t *length);

/// Fails where an output or a handle is missing.
Status requirePointer(const void *pointer, const char *name);

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_ERROR_H
