//===- ElementCopies.cpp - Copies of any form, element by element ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What no other pattern copies: neighbouring lanes take elements that are
// neighbours in the launcher's memory, each finds its places by itself, and
// converts what it has read.
//
//===----------------------------------------------------------------------===//

#include "Copies/HeldCopies.h"
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

namespace {
/// An element of a tile that a lane has in one of its rounds.
struct Element {
  SmallVector<Value> at; // its coordinates, indices
  Value exists;          // i1; null where every lane has one
};

/// The elements that a lane visits: neighbouring lanes have neighbours along
/// one dimension. Only the first of a turn is found by division; from one round
/// to the next each coordinate moves by a constant and carries into the one
/// above it.
class ElementWalk {
public:
  ElementWalk(Emitter &b, ArrayRef<int64_t> shape, unsigned near);

  /// Runs `body` for all elements, so many at a time that at most `together`
  /// are in flight. All lanes run the same number of rounds, so that none
  /// leaves a meeting early.
  void run(int64_t together, function_ref<void(ArrayRef<Element>)> body);

private:
  SmallVector<Value> split(Value number);
  SmallVector<Value> next(ArrayRef<Value> digits);
  Element get(ArrayRef<Value> digits, bool mayMiss);

  Emitter &b;
  ArrayRef<int64_t> shape;
  SmallVector<unsigned> order; // of dimensions, the fastest first
  int64_t count = 1, threads;
};
} // namespace

ElementWalk::ElementWalk(Emitter &b, ArrayRef<int64_t> shape, unsigned near)
    : b(b), shape(shape), order{near}, threads(b.team.getNumThreads()) {
  for (unsigned dim = shape.size(); dim-- > 0;)
    if (dim != near)
      order.push_back(dim);
  for (int64_t extent : shape)
    count *= extent;
}

SmallVector<Value> ElementWalk::split(Value rest) {
  SmallVector<Value> digits;
  for (unsigned dim : ArrayRef(order).drop_back()) {
    digits.push_back(b.createOrFold<arith::RemUIOp>(rest, b.i32(shape[dim])));
    rest = b.createOrFold<arith::DivUIOp>(rest, b.i32(shape[dim]));
  }
  digits.push_back(rest);
  return digits;
}

SmallVector<Value> ElementWalk::next(ArrayRef<Value> digits) {
  SmallVector<Value> found;
  int64_t step = threads;
  Value carry;
  for (auto [digit, dim] : llvm::zip_equal(digits, order)) {
    bool isLast = found.size() + 1 == digits.size();
    int64_t extent = shape[dim], by = isLast ? step : step % extent;
    Value moved = by ? b.add(digit, by) : digit;
    if (carry)
      moved = b.add(moved, carry);
    if (!isLast && (by || carry)) {
      Value over = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, moved,
                                         b.i32(extent));
      moved = arith::SelectOp::create(b, over, b.add(moved, -extent), moved);
      carry = arith::ExtUIOp::create(b, b.getI32Type(), over);
    }
    found.push_back(moved);
    step /= extent;
  }
  return found;
}

Element ElementWalk::get(ArrayRef<Value> digits, bool mayMiss) {
  Element element{SmallVector<Value>(shape.size()), Value()};
  for (auto [digit, dim] : llvm::zip_equal(digits, order))
    element.at[dim] = b.toIndexUnsigned(digit);
  if (mayMiss)
    element.exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, digits.back(),
                              b.i32(shape[order.back()]));
  return element;
}

void ElementWalk::run(int64_t together,
                      function_ref<void(ArrayRef<Element>)> body) {
  int64_t rounds = llvm::divideCeil(count, threads);
  int64_t turns = llvm::divideCeil(rounds, together);
  int64_t each = llvm::divideCeil(rounds, std::max<int64_t>(turns, 1));
  auto visit = [&](Value first) {
    SmallVector<Value> digits = split(first);
    SmallVector<Element> elements;
    for (int64_t round = 0; round < each; ++round) {
      if (round)
        digits = next(digits);
      // Which are the last of all is known of the only turn alone.
      elements.push_back(get(digits, turns > 1
                                         ? count % (turns * each * threads)
                                         : (round + 1) * threads > count));
    }
    body(elements);
  };
  if (turns == 1) {
    visit(b.team.thread);
    return;
  }
  auto loop = scf::ForOp::create(b, b.index(0), b.index(turns), b.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  visit(b.add(b.mul(b.toI32(loop.getInductionVar()), each * threads),
              b.team.thread));
}

/// Loads of elements that are `inside` of memory, or zeros. Where all are, no
/// load waits behind another's branch.
static SmallVector<Value> loadElements(Emitter &b, Type type, unsigned bytes,
                                       ArrayRef<Address> places,
                                       ArrayRef<Value> inside) {
  auto loadAll = [&]() {
    return llvm::map_to_vector(places, [&](const Address &place) -> Value {
      return b.load(type, place, bytes);
    });
  };
  auto loadEach = [&]() {
    return llvm::map_to_vector(
        llvm::zip_equal(places, inside), [&](auto pair) -> Value {
          return loadElement(b, type, std::get<0>(pair), std::get<1>(pair));
        });
  };
  Value all;
  for (Value one : inside)
    if (one)
      all = b.conjoin(all, one);
  if (!all)
    return loadAll();
  if (places.size() == 1)
    return loadEach();
  SmallVector<Type> types(places.size(), type);
  auto either = scf::IfOp::create(b, types, all, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(either.thenBlock());
  scf::YieldOp::create(b, loadAll());
  b.setInsertionPointToStart(either.elseBlock());
  scf::YieldOp::create(b, loadEach());
  return llvm::to_vector_of<Value>(either.getResults());
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
  ElementWalk(b, type.getShape(), near).run(1, [&](ArrayRef<Element> elements) {
    const Element &element = elements.front();
    Value inside = isBelow(b, element.at, limits);
    if (element.exists)
      inside = b.conjoin(inside, element.exists);
    Address to = b.global(dest, element.at);
    b.onlyIf(inside, [&]() {
      Value value =
          b.load(type.getElementType(),
                 b.staged(source, buffer, toI32(b, element.at)), bytes);
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
    // Loads that are in flight together hide each other's latency.
    constexpr int64_t kTogether = 8;
    ElementWalk walk(b, type.getShape(), near);
    walk.run(kTogether, [&](ArrayRef<Element> elements) {
      SmallVector<Address> places;
      SmallVector<Value> isInside;
      for (const Element &element : elements) {
        Value inside = isBelow(b, element.at, adaptor.getLimits());
        if (element.exists)
          inside = b.conjoin(inside, element.exists);
        places.push_back(b.global(source, getMapInputs(b, source, element.at),
                                  op.getPadded(), inside));
        isInside.push_back(inside);
      }
      SmallVector<Value> values =
          loadElements(b, from, getElementBytes(memory), places, isInside);
      for (unsigned number = 0; number < elements.size(); ++number) {
        const Element &element = elements[number];
        Value value = convertScalar(b, values[number], type.getElementType());
        b.onlyIf(element.exists, [&]() {
          b.store(value,
                  b.staged(window, adaptor.getDest(), toI32(b, element.at)),
                  window.layout.elementBytes);
        });
      }
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
