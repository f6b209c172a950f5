//===- HeldCopies.cpp - What copies by lanes share ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Copies/HeldCopies.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

void HeldCopies::store(Emitter &b, CopyOp copy, AcquireOp acquire) const {
  OpBuilder::InsertionGuard guard(b);
  for (Operation *user : acquire.getChannel().getUsers()) {
    auto commit = dyn_cast<CommitOp>(user);
    if (commit && commit->getBlock() == copy->getBlock() &&
        commit.getPhase() == acquire.getPhase())
      b.setInsertionPoint(commit);
  }
  for (const Entry &entry : entries)
    b.store(entry.value, entry.place, static_cast<unsigned>(entry.bytes));
}

Value mlir::tracea_pipe::loadElement(Emitter &b, Type type, const Address &from,
                                     Value inside) {
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  if (!inside)
    return b.load(type, from, bytes);
  // Before the branch, where loads of several elements share it.
  Value zero =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
  return b.choose(
      type, inside, [&]() { return b.load(type, from, bytes); },
      [&]() { return zero; });
}
