//===- PackedFilters.h - Filters in panels of a register tile ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_PACKEDFILTERS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_PACKEDFILTERS_H

#include "../ConstantPanels.h"

namespace mlir::tracea {

/// A convolution's filter as panels of `width` filters, [panel, r, s, c, filter
/// of the panel].
PanelForm getFilterPanels(Conv2DOp op, int64_t width);

/// The operation's inputs with `filter` in place of its own, and behind them
/// `more` if there is.
SmallVector<Value> getInputs(Conv2DOp op, Value filter, Value more = Value());

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_PACKEDFILTERS_H
