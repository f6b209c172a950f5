//===- TraceaPipeChannels.cpp - Rings of slots and their phases -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and types of acquire, commit, wait and release. What holds of whole
// runs is proved by an analysis (Analysis/Protocol).

#include "mlir/IR/Builders.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// A phase counts the slots of its own ring.
static LogicalResult verifyRing(Operation *op, ChannelType channel,
                                PhaseType phase) {
  if (channel.getSlots() == phase.getSlots())
    return success();
  return op->emitOpError() << "expects a phase of the channel's "
                           << channel.getSlots() << " slots, found one of "
                           << phase.getSlots();
}

static LogicalResult verifyBuffers(Operation *op, ChannelType channel,
                                   ResultRange buffers) {
  if (TypeRange(channel.getBuffers()) == TypeRange(buffers))
    return success();
  return op->emitOpError() << "expects the buffers of " << channel << ", found "
                           << TypeRange(buffers);
}

LogicalResult AcquireOp::verify() {
  if (failed(verifyRing(*this, getChannel().getType(), getPhase().getType())))
    return failure();
  return verifyBuffers(*this, getChannel().getType(), getBuffers());
}

LogicalResult WaitOp::verify() {
  if (failed(verifyRing(*this, getChannel().getType(), getPhase().getType())))
    return failure();
  return verifyBuffers(*this, getChannel().getType(), getBuffers());
}

LogicalResult CommitOp::verify() {
  return verifyRing(*this, getChannel().getType(), getPhase().getType());
}

LogicalResult ReleaseOp::verify() {
  return verifyRing(*this, getChannel().getType(), getPhase().getType());
}
