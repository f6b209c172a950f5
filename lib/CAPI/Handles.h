//===- Handles.h - Which handles are alive ----------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A handle that was freed, or never made, is found by its address: it is not
// among those that live. An address that a later handle has is that one's.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_HANDLES_H
#define TRACEA_LIB_CAPI_HANDLES_H

#include "Error.h"

#include <memory>

namespace tracea::capi {

/// Takes note of a handle, whatever it stands for.
void addHandle(const void *handle);
/// False where it does not live.
bool removeHandle(const void *handle);
/// Fails where it is NULL or does not live. What a thread asked for last it is
/// told without a lock, until some handle is freed.
Status requireHandle(const void *handle, const char *name);

/// Gives a handle to the caller.
template <typename Handle>
void give(std::unique_ptr<Handle> made, Handle **place) {
  addHandle(made.get());
  *place = made.release();
}

/// Frees what NULL, or a handle that lives, stands for.
template <typename Handle>
void freeHandle(const char *function, Handle *handle) {
  if (!handle)
    return;
  if (removeHandle(handle))
    delete handle;
  else
    report(function,
           Status::invalid("expected a handle that lives, found one that was "
                           "freed or never made"),
           TRACEA_INVALID_PARAMS);
}

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_HANDLES_H
