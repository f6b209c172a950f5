//===- Emitter.cpp - Barriers of slots
//--------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of NVVM that several patterns write: arrivals and waits at
// barriers in shared memory.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// How long a wait for a barrier may suspend its warp before it looks again.
constexpr int64_t kSuspendNanoseconds = 10000000;

Value NVVMEmitter::sharedPointer(Value offset) {
  return LLVM::GEPOp::create(*this, context.target.shared.getType(),
                             getI8Type(), context.target.shared,
                             LLVM::GEPArg(offset));
}

/// What `createpolicy.fractional` makes of all of an access.
Value NVVMEmitter::cachePolicy(Reuse reuse) {
  constexpr int64_t kEvictFirst = 0x12F0000000000000;
  constexpr int64_t kEvictLast = 0x14F0000000000000;
  if (reuse == Reuse::Unknown)
    return {};
  return arith::ConstantOp::create(
      *this,
      getI64IntegerAttr(reuse == Reuse::Once ? kEvictFirst : kEvictLast));
}

Value NVVMEmitter::barrierOf(const ChannelPlan &channel, int64_t first,
                             Value slot) {
  Value offset = add(mul(slot, 8), first);
  if (channel.owner && channel.copies > 1)
    offset = add(offset, mul(channel.owner->index, 8 * channel.slots));
  return sharedPointer(offset);
}

void NVVMEmitter::wait(Value barrier, Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(*this, barrier, parity,
                                        i32(kSuspendNanoseconds));
}

void NVVMEmitter::arrive(Value barrier) {
  NVVM::MBarrierArriveOp::create(*this, getI64Type(), barrier,
                                 /*count=*/nullptr);
}

void NVVMEmitter::arriveExpecting(Value barrier, int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(*this, /*res=*/Type(), barrier,
                                         i32(bytes), NVVM::MemScopeKind::CTA,
                                         /*relaxed=*/false,
                                         /*predicate=*/nullptr);
}
