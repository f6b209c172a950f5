//===- PackedFilters.h - Filters in panels of a register tile ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PACKEDFILTERS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PACKEDFILTERS_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// A convolution's filter as panels of `width` filters, [panel, r, s, c, filter
/// of the panel], with zeros behind the last filter: one that register tiles
/// read where it lies. A kernel before the operation packs it.
Value packFilter(KernelRewriter &rewriter, Conv2DOp op, int64_t width);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PACKEDFILTERS_H
