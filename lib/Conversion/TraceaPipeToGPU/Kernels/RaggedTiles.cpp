//===- RaggedTiles.cpp - Groups of tiles found from their ends ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every lane walks over the ends of the groups, without branches: what depends
// on the one before it is a maximum and a sum. Few groups are written out, so
// that all ends are read at a time.

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Up to so many groups are searched without a loop.
constexpr int64_t kMostUnrolled = 32;
/// Of more, a loop reads as many bytes of ends in each round: what the few
/// registers of a warp that copies can hold.
constexpr int64_t kRoundBytes = 32;

namespace {
/// The walk over groups g of the rows; numbers of rows are i32, like the
/// coordinates of copies.
class GroupWalk {
public:
  GroupWalk(Emitter &b, Value ends, Value rows, int64_t tile)
      : b(b), buffer(b.context.arguments.find(ends)->second),
        rows(b.toI32(rows)), tile(tile) {}

  /// A group of rows: its number, and where its rows begin and end.
  struct Group {
    Value number, begin, end;
    /// The tiles of the groups before it, and its own.
    Value before, tiles;
  };
  /// Calls `visit` for each group in turn with what it returned for the one
  /// before, at first `carried`.
  SmallVector<Value>
  run(ValueRange carried,
      function_ref<SmallVector<Value>(const Group &, ValueRange)> visit);

  Value getNumGroups() { return b.toI32(buffer.sizes[0]); }
  /// The rows behind the last group, after `run`.
  Group rest;

private:
  Value readEnd(Value number);
  Value countTiles(Value begin, Value end);

  Emitter &b;
  const GlobalBuffer &buffer;
  Value rows;
  int64_t tile;
};
} // namespace

/// An end as a number from 0 to that of rows.
Value GroupWalk::readEnd(Value number) {
  Type element = buffer.type.getElementType();
  Address place = b.target.getGlobal(
      b, buffer, [&](unsigned) { return b.toIndex(number); });
  Value end = b.target.loadUnchanged(b, element, place,
                                     element.getIntOrFloatBitWidth() / 8);
  if (element.isInteger(32))
    return end;
  Value most = arith::ExtSIOp::create(b, element, rows);
  Value none = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  end = arith::MinSIOp::create(b, arith::MaxSIOp::create(b, end, none), most);
  return arith::TruncIOp::create(b, b.getI32Type(), end);
}

/// Without a sign, the sum cannot overflow.
Value GroupWalk::countTiles(Value begin, Value end) {
  Value size = arith::SubIOp::create(b, end, begin);
  if (tile == 1)
    return size;
  return arith::DivUIOp::create(b, b.add(size, b.i32(tile - 1)), b.i32(tile));
}

SmallVector<Value> GroupWalk::run(
    ValueRange carried,
    function_ref<SmallVector<Value>(const Group &, ValueRange)> visit) {
  auto step = [&](Value number, Value begin, Value before, ValueRange carried) {
    Group group;
    group.number = number;
    group.begin = begin;
    group.before = before;
    Value end = arith::MaxSIOp::create(b, begin, readEnd(number));
    group.end = arith::MinSIOp::create(b, end, rows);
    group.tiles = countTiles(begin, group.end);
    SmallVector<Value> next = {group.end, b.add(before, group.tiles)};
    llvm::append_range(next, visit(group, carried));
    return next;
  };
  SmallVector<Value> state = {b.i32(0), b.i32(0)};
  llvm::append_range(state, carried);
  int64_t count = buffer.type.getDimSize(0);
  Value groups = getNumGroups();
  if (!ShapedType::isDynamic(count) && count <= kMostUnrolled) {
    for (int64_t i = 0; i < count; ++i)
      state = step(b.i32(i), state[0], state[1], ArrayRef(state).drop_front(2));
  } else {
    int64_t round = 8 * kRoundBytes / buffer.type.getElementTypeBitWidth();
    auto loop = scf::ForOp::create(b, b.i32(0), groups, b.i32(round), state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> now =
        llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    Value last = b.add(groups, -1);
    // The last group once more is an empty one behind it.
    for (int64_t i = 0; i < round; ++i) {
      Value number =
          arith::MinSIOp::create(b, b.add(loop.getInductionVar(), i), last);
      now = step(number, now[0], now[1], ArrayRef(now).drop_front(2));
    }
    scf::YieldOp::create(b, now);
    state.assign(loop.getResults().begin(), loop.getResults().end());
  }
  rest.number = groups;
  rest.begin = state[0];
  rest.end = rows;
  rest.before = state[1];
  rest.tiles = countTiles(rest.begin, rows);
  return SmallVector<Value>(ArrayRef(state).drop_front(2));
}

static LogicalResult checkEnds(Operation *op, Value ends,
                               const KernelContext &context) {
  if (context.arguments.contains(ends))
    return success();
  return op->emitOpError() << "expects ends that are an argument of the kernel";
}

namespace {
struct LowerRaggedCount : KernelPattern<RaggedCountOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(RaggedCountOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (failed(checkEnds(op, op.getEnds(), context)))
      return failure();
    GroupWalk walk(b, op.getEnds(), adaptor.getRows(), op.getTile());
    walk.run({}, [](const GroupWalk::Group &, ValueRange) {
      return SmallVector<Value>();
    });
    Value all = b.add(walk.rest.before, walk.rest.tiles);
    rewriter.replaceOp(
        op, {b.toIndexUnsigned(all), b.toIndexUnsigned(walk.rest.before)});
    return success();
  }
};

struct LowerRaggedTile : KernelPattern<RaggedTileOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(RaggedTileOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (failed(checkEnds(op, op.getEnds(), context)))
      return failure();
    Value index = b.toI32(adaptor.getIndex());
    // The tile's group, first row and end, if it is one of the group's.
    auto visit = [&](const GroupWalk::Group &group, ValueRange found) {
      Value number = arith::SubIOp::create(b, index, group.before);
      Value isHere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number,
                                           group.tiles);
      Value first = b.add(group.begin, b.mul(number, op.getTile()));
      Value own[] = {group.number, first, group.end};
      SmallVector<Value> next;
      for (auto [mine, other] : llvm::zip_equal(own, found))
        next.push_back(arith::SelectOp::create(b, isHere, mine, other));
      return next;
    };
    GroupWalk walk(b, op.getEnds(), adaptor.getRows(), op.getTile());
    Value rows = b.toI32(adaptor.getRows());
    Value none[] = {walk.getNumGroups(), rows, rows};
    SmallVector<Value> found = walk.run(none, visit);
    found = visit(walk.rest, found);
    for (Value &value : found)
      value = b.toIndexUnsigned(value);
    rewriter.replaceOp(op, found);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateRaggedTilePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns.add<LowerRaggedCount, LowerRaggedTile>(
      converter, patterns.getContext(), context);
}
