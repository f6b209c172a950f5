//===- Params.h - The caller's parameters, checked --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_PARAMS_H
#define TRACEA_LIB_CAPI_PARAMS_H

#include "Error.h"

namespace tracea::capi {

/// Fails where a field that this version does not know of is set.
template <typename Params>
Status checkReserved(const Params &params) {
  for (uint64_t word : params.reserved)
    if (word != 0)
      return Status::invalid(
          "params: expected reserved fields of zero, found " +
          std::to_string(word) + " (begin with the initialiser of tracea.h)");
  return Status::success();
}

inline Status checkPrecision(TraceaPrecision precision) {
  return precision >= TRACEA_PRECISION_EXACT &&
                 precision <= TRACEA_PRECISION_TF32X3
             ? Status::success()
             : Status::invalid("precision: expected a TraceaPrecision from 0 "
                               "to 2, found " +
                               std::to_string(static_cast<int>(precision)));
}

inline Status checkLayout(TraceaLayout layout) {
  return layout == TRACEA_LAYOUT_NCHW || layout == TRACEA_LAYOUT_NHWC
             ? Status::success()
             : Status::invalid("layout: expected TRACEA_LAYOUT_NCHW (0) or "
                               "TRACEA_LAYOUT_NHWC (1), found " +
                               std::to_string(static_cast<int>(layout)));
}

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_PARAMS_H
