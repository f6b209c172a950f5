//===- Rings.h - Slots of rings, and where they lie -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_RINGS_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_RINGS_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// Offsets (i32) of the buffers of a slot in the workgroup's memory.
SmallVector<Value> getSlotBuffers(Emitter &b, const ChannelPlan &channel,
                                  Value slot);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_RINGS_H
