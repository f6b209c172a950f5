//===- UnrollAndJam.cpp - Iterations are computed side by side ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register tile of several rows of an image is a loop over rows whose
// iterations go together: what they all read, as a panel of filters, is loaded
// once for all of them. Upstream's unroll-and-jam makes one loop of inner loops
// only where these carry nothing; here they carry the sums.

#include "tracea/Dialect/TraceaPipe/IR/UnrollAndJam.h"
#include "Patterns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// Builds several iterations of a loop side by side, each with its own mapping
/// from the values of the loop.
class Jam {
public:
  Jam(OpBuilder &b, SmallVector<IRMapping> copies)
      : b(b), copies(std::move(copies)) {}

  /// Emits all but the terminator of `block`.
  void emit(Block &block) {
    for (Operation &op : block.without_terminator())
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && isEqual(loop))
        emitLoop(loop);
      else if (op.getNumRegions() == 0 && isPure(&op) && isShared(op))
        emitShared(op);
      else
        for (IRMapping &copy : copies)
          b.clone(op, copy);
  }

private:
  /// Whether all copies of a value are one.
  bool isSame(Value value) {
    Value first = copies.front().lookupOrDefault(value);
    return llvm::all_of(copies, [&](IRMapping &copy) {
      return isEqualConstantIntOrValue(copy.lookupOrDefault(value), first);
    });
  }
  bool isShared(Operation &op) {
    return llvm::all_of(op.getOperands(),
                        [&](Value operand) { return isSame(operand); });
  }
  bool isEqual(scf::ForOp loop) {
    return isSame(loop.getLowerBound()) && isSame(loop.getUpperBound()) &&
           isSame(loop.getStep());
  }
  void emitShared(Operation &op) {
    Operation *shared = b.clone(op, copies.front());
    for (IRMapping &copy : MutableArrayRef(copies).drop_front())
      copy.map(op.getResults(), shared->getResults());
  }
  void emitLoop(scf::ForOp loop) {
    SmallVector<Value> start, ends;
    for (IRMapping &copy : copies)
      for (Value init : loop.getInitArgs())
        start.push_back(copy.lookupOrDefault(init));
    IRMapping &first = copies.front();
    auto jammed = scf::ForOp::create(
        b, loop.getLoc(), first.lookupOrDefault(loop.getLowerBound()),
        first.lookupOrDefault(loop.getUpperBound()),
        first.lookupOrDefault(loop.getStep()), start);
    size_t carried = loop.getInitArgs().size();
    for (auto [number, copy] : llvm::enumerate(copies)) {
      copy.map(loop.getInductionVar(), jammed.getInductionVar());
      copy.map(loop.getRegionIterArgs(),
               jammed.getRegionIterArgs().slice(number * carried, carried));
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(jammed.getBody());
    emit(*loop.getBody());
    for (IRMapping &copy : copies)
      for (Value end : loop.getBody()->getTerminator()->getOperands())
        ends.push_back(copy.lookupOrDefault(end));
    // A loop that carries nothing has its terminator.
    if (carried)
      scf::YieldOp::create(b, loop.getLoc(), ends);
    for (auto [number, copy] : llvm::enumerate(copies))
      copy.map(loop.getResults(),
               jammed.getResults().slice(number * carried, carried));
  }

  OpBuilder &b;
  SmallVector<IRMapping> copies;
};
} // namespace

static void unrollAndJam(scf::ForOp loop, int64_t count) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value first = loop.getLowerBound(), step = loop.getStep();
  Value span = b.createOrFold<arith::MulIOp>(step, constant(count));
  Value length = b.createOrFold<arith::SubIOp>(loop.getUpperBound(), first);
  // Iterations that are left over stay as they are. Of a loop that does not
  // run there is less than nothing.
  length = b.createOrFold<arith::MaxSIOp>(length, constant(0));
  Value rest = b.createOrFold<arith::RemUIOp>(length, span);
  Value end = b.createOrFold<arith::AddIOp>(
      first, b.createOrFold<arith::SubIOp>(length, rest));
  auto jammed = scf::ForOp::create(b, first, end, span);
  OpBuilder body = OpBuilder::atBlockBegin(jammed.getBody());
  SmallVector<IRMapping> copies(count);
  for (auto [number, copy] : llvm::enumerate(copies)) {
    Value at = jammed.getInductionVar();
    if (number > 0)
      at = arith::AddIOp::create(
          body, loop.getLoc(), at,
          body.createOrFold<arith::MulIOp>(
              loop.getLoc(), step,
              arith::ConstantIndexOp::create(body, loop.getLoc(), number)));
    copy.map(loop.getInductionVar(), at);
  }
  Jam(body, std::move(copies)).emit(*loop.getBody());
  if (isZeroInteger(rest)) {
    loop.erase();
    return;
  }
  loop.setLowerBound(end);
  loop->removeAttr(kUnrollAndJamAttrName);
}

void mlir::tracea_pipe::unrollAndJamLoops(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) {
    if (loop->hasAttr(kUnrollAndJamAttrName))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    unrollAndJam(
        loop, loop->getAttrOfType<IntegerAttr>(kUnrollAndJamAttrName).getInt());
}
