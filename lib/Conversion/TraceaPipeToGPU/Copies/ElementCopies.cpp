//===- ElementCopies.cpp - Copies of any form, element by element ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What no other pattern copies: neighbouring lanes take elements that are
// neighbours in the launcher's memory, each finds its places by itself, and
// converts what it has read.
//
//===----------------------------------------------------------------------===//

#include "Lanes/LaneCoordinates.h"
#include "tracea/Conversion/TraceaPipeToGPU/LaneStores.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Conversion/TraceaPipeToGPU/Walks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The dimension of a tile whose neighbours are neighbours in memory: the one
/// that goes along the last dimension of more than one element.
static unsigned getNearDim(Emitter &b, const GlobalWindow &memory,
                           ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> extents = b.context.getBuffer(memory).type.getShape();
  for (auto [extent, dim] :
       llvm::reverse(llvm::zip_equal(extents, memory.dims)))
    if (extent != 1)
      for (unsigned near = shape.size(); near-- > 0;)
        if (memory.dependsOn(dim, near))
          return near;
  return shape.size() - 1;
}

/// Runs `body` for each element of a tile: neighbouring lanes have neighbouring
/// elements along dimension `near`. Coordinates are indices.
static void forEachElement(Emitter &b, ArrayRef<int64_t> shape, unsigned near,
                           function_ref<void(ValueRange)> body) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  // All lanes run the same number of rounds, so that none leaves a meeting
  // early.
  int64_t threads = b.team.getNumThreads();
  auto loop = scf::ForOp::create(
      b, b.index(0), b.index(llvm::divideCeil(count, threads)), b.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value rest =
      b.add(b.mul(loop.getInductionVar(), threads), b.toIndex(b.team.thread));
  Value some;
  if (count % threads)
    some = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, rest,
                                 b.index(count));
  b.onlyIf(some, [&]() {
    SmallVector<unsigned> order{near};
    for (unsigned dim = shape.size(); dim-- > 0;)
      if (dim != near)
        order.push_back(dim);
    SmallVector<Value> at(shape.size());
    for (unsigned dim : ArrayRef(order).drop_back()) {
      at[dim] = b.createOrFold<arith::RemUIOp>(rest, b.index(shape[dim]));
      rest = b.createOrFold<arith::DivUIOp>(rest, b.index(shape[dim]));
    }
    at[order.back()] = rest;
    body(at);
  });
}

static Value convertScalar(Emitter &b, Value value, Type to) {
  Type from = value.getType();
  if (from == to)
    return value;
  unsigned fromBits = from.getIntOrFloatBitWidth(),
           toBits = to.getIntOrFloatBitWidth();
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (fromBits == toBits)
      return arith::TruncFOp::create(
          b, to, arith::ExtFOp::create(b, b.getF32Type(), value));
    if (fromBits < toBits)
      return arith::ExtFOp::create(b, to, value);
    return arith::TruncFOp::create(b, to, value);
  }
  if (isa<FloatType>(to))
    return arith::SIToFPOp::create(b, to, value);
  if (isa<FloatType>(from))
    return arith::FPToSIOp::create(b, to, value);
  if (fromBits < toBits)
    return arith::ExtSIOp::create(b, to, value);
  return arith::TruncIOp::create(b, to, value);
}

static SmallVector<Value> toI32(Emitter &b, ValueRange indices) {
  SmallVector<Value> result;
  for (Value index : indices)
    result.push_back(b.toI32(index));
  return result;
}

void mlir::tracea_pipe::emitElementStores(Emitter &b, CopyOutOp op,
                                          const StagedWindow &source,
                                          const GlobalWindow &dest,
                                          Value buffer, ValueRange limits) {
  auto type = cast<MemRefType>(op.getSource().getType());
  int64_t bytes = source.layout.elementBytes;
  unsigned near = getNearDim(b, dest, type.getShape());
  forEachElement(b, type.getShape(), near, [&](ValueRange at) {
    Value inside = isBelow(b, at, limits);
    Address to = b.global(dest, at);
    b.onlyIf(inside, [&]() {
      Value value = b.load(type.getElementType(),
                           b.staged(source, buffer, toI32(b, at)), bytes);
      b.store(value, to, bytes);
    });
  });
}

namespace {
struct LowerCopy : KernelPattern<CopyOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    const StagedWindow &window = context.getWindow(op.getDestMutable());
    if (!window.buffer.getDefiningOp<AcquireOp>())
      return op.emitOpError() << "expects a slot that 'acquire' gave";
    const GlobalWindow &source = context.getGlobalWindow(op.getSourceMutable());
    auto type = cast<MemRefType>(op.getDest().getType());
    auto memory = cast<MemRefType>(op.getSource().getType());
    Type from = memory.getElementType();
    unsigned near = getNearDim(b, source, type.getShape());
    forEachElement(b, type.getShape(), near, [&](ValueRange at) {
      Value inside = isBelow(b, at, adaptor.getLimits());
      Address place =
          b.global(source, getMapInputs(b, source, at), op.getPadded(), inside);
      Value value = b.choose(
          from, inside,
          [&]() { return b.load(from, place, getElementBytes(memory)); },
          [&]() -> Value {
            return arith::ConstantOp::create(
                b, cast<TypedAttr>(b.getZeroAttr(from)));
          });
      value = convertScalar(b, value, type.getElementType());
      b.store(value, b.staged(window, adaptor.getDest(), toI32(b, at)),
              window.layout.elementBytes);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCopyOut : KernelPattern<CopyOutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(CopyOutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    emitElementStores(b, op, context.getWindow(op.getSourceMutable()),
                      context.getGlobalWindow(op.getDestMutable()),
                      adaptor.getSource(), adaptor.getLimits());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateElementCopyPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns.add<LowerCopy, LowerCopyOut>(converter, patterns.getContext(),
                                        context);
}
