//===- Queries.cpp - Questions about the operations of kernels ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extractor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

Value mlir::tracea::getRing(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AcquireOp, CommitOp, WaitOp, ReleaseOp>(
          [](auto ring) { return ring.getChannel(); })
      .Default(Value());
}

bool mlir::tracea::isPhase(Value value) {
  return isa<PhaseType>(value.getType());
}

bool mlir::tracea::isInFlight(Value value) {
  return isa<InFlightType>(value.getType());
}

bool mlir::tracea::hasRingOps(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return getRing(inner) ||
                       isa<StartOp, AdvanceOp, RolesOp, ChannelOp, MmaAsyncOp,
                           CopyOutOp, CommitGroupOp, WaitGroupOp, SyncOp,
                           OrderBarrierOp, OrderWaitOp, OrderArriveOp,
                           ClusterArriveOp, ClusterWaitOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t mlir::tracea::getBytes(Type type) {
  auto shaped = cast<ShapedType>(type);
  if (!shaped.hasStaticShape())
    return 0;
  Type element = shaped.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return shaped.getNumElements() * ((bits + 7) / 8);
}

Value mlir::tracea::getViewRoot(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto view = dyn_cast<ViewOp>(def))
      value = view.getSource();
    else if (auto view = dyn_cast<ViewLikeOpInterface>(def))
      value = view.getViewSource();
    else
      break;
  }
  return value;
}
