//===- ShiftedLoads.cpp - Rows that begin anywhere, read by whole words ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A lane that has 16 bytes of neighbours reads the two aligned words of memory
// that these lie in, and shifts them into place. What else the words hold is
// dropped; it is memory of the same buffer, which the team makes sure of once a
// tile. A tile at the buffer's ends, or whose rows a limit cuts, is read
// element by element: those beyond the limits as the tile's first one, so that
// no lane waits for one load before the next.

#include "Lanes/LaneCoordinates.h"
#include "Memory/WordShift.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// Emits one load of a register tile whose rows begin anywhere.
class ShiftedLoad {
public:
  ShiftedLoad(Emitter &b, LoadOp op, const GlobalWindow &window,
              ValueRange limits)
      : b(b), op(op), window(window), limits(limits),
        buffer(b.context.getBuffer(window)),
        tile(cast<RankedTensorType>(op.getResult().getType())),
        lanes(getLanes(tile)), bytes(getElementBytes(buffer.type)),
        neighbours(bytes ? kWordBytes / bytes : 0), coordinates(b, lanes) {}

  /// Whether lanes have words of neighbours in memory that is not aligned even
  /// to half of one.
  bool matches();
  Value load();

private:
  bool hasWords();
  VectorType getResultType() {
    return VectorType::get(lanes.getNumRegisters() * bytes / kPartBytes,
                           b.getI32Type());
  }
  Address placeOf(ArrayRef<int64_t> at);
  Value isInside();
  Value isWholeAlong(unsigned dim);
  SmallVector<Value> loadShifted(int64_t reg);
  Value loadWords();
  Value clear(Value words);
  Value loadElements();
  Value zeros() {
    return arith::ConstantOp::create(b, b.getZeroAttr(getResultType()));
  }

  Emitter &b;
  LoadOp op;
  const GlobalWindow &window;
  SmallVector<Value> limits;
  const GlobalBuffer &buffer;
  RankedTensorType tile;
  LanesAttr lanes;
  int64_t bytes;
  /// Elements of a word.
  int64_t neighbours;
  LaneCoordinates coordinates;
};
} // namespace

/// Whether each run of registers of a lane is a word of neighbours along the
/// columns.
bool ShiftedLoad::hasWords() {
  int64_t count = lanes.getNumRegisters();
  if (count % neighbours || !lanes.hasSeparateLanes())
    return false;
  for (ArrayRef<DenseI64ArrayAttr> basis : {lanes.getLane(), lanes.getWarp()})
    for (DenseI64ArrayAttr vector : basis)
      if (vector[1] % neighbours)
        return false;
  for (int64_t reg = 0; reg < count; ++reg) {
    SmallVector<int64_t> first =
        lanes.getCoordinate(reg / neighbours * neighbours, 0);
    first[1] += reg % neighbours;
    if (first != lanes.getCoordinate(reg, 0) ||
        (reg % neighbours == 0 && first[1] % neighbours))
      return false;
  }
  return true;
}

bool ShiftedLoad::matches() {
  if (tile.getRank() != 2 || bytes == 0 || kWordBytes % bytes ||
      neighbours < 2 || !b.target.hasAddressNumbers() ||
      buffer.alignment % (kWordBytes / 2) == 0 ||
      buffer.type.getElementType() != tile.getElementType() ||
      !runsAlongLast(window) || !hasWords())
    return false;
  // Rows further down are further on in memory.
  for (const WindowDim &dim : window.dims)
    if (dim.form.coefficients[0] < 0)
      return false;
  return !op.getPadding() || matchPattern(op.getPadding(), m_AnyZeroFloat()) ||
         matchPattern(op.getPadding(), m_Zero());
}

Address ShiftedLoad::placeOf(ArrayRef<int64_t> at) {
  SmallVector<Value> indices;
  for (int64_t x : at)
    indices.push_back(b.index(x));
  return b.global(window, indices);
}

/// Whether all words that any element of the tile lies in are the buffer's.
Value ShiftedLoad::isInside() {
  Type i64 = b.getI64Type();
  auto number = [&](const Address &place) {
    return b.target.getNumber(b, place);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  Value begin = number({buffer.base, {}});
  Value size = b.index(bytes);
  for (Value extent : buffer.sizes)
    size = b.createOrFold<arith::MulIOp>(size, extent);
  Value end = b.add(begin, b.createOrFold<arith::IndexCastOp>(i64, size));
  Value first = number(placeOf({0, 0}));
  SmallVector<int64_t> corner(tile.getShape());
  Value last = number(placeOf({corner[0] - 1, corner[1] - neighbours}));
  Value down = constant(-kWordBytes);
  first = arith::AndIOp::create(b, first, down);
  // The word of the last byte, and its end.
  last = b.add(last, constant(2 * kWordBytes - 1));
  last = arith::AndIOp::create(b, last, down);
  return arith::AndIOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::uge, first, begin),
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, last, end));
}

/// Whether the limit of a dimension cuts nothing; null when that is known.
Value ShiftedLoad::isWholeAlong(unsigned dim) {
  if (limits.empty())
    return {};
  return isWhole(b, limits[dim], {tile.getDimSize(dim)});
}

/// The parts of what a lane has from register `reg` on.
SmallVector<Value> ShiftedLoad::loadShifted(int64_t reg) {
  Address place = b.global(window, toIndices(b, coordinates.get(reg)));
  Value low =
      arith::TruncIOp::create(b, b.getI32Type(), b.target.getNumber(b, place));
  Value off = arith::AndIOp::create(b, low, b.i32(kWordBytes - 1));
  auto at = [&](Value bytesOn) {
    return b.advance(
        place, b.getI8Type(),
        arith::ExtSIOp::create(b, b.getI64Type(), bytesOn).getResult());
  };
  Value back = arith::SubIOp::create(b, b.i32(0), off);
  SmallVector<Value> parts = loadWord(b, at(back));
  // The word of the last byte: the same one where memory happens to be aligned.
  llvm::append_range(
      parts,
      loadWord(b, at(arith::AndIOp::create(b, back, b.i32(kWordBytes - 1)))));
  return shiftWords(b, parts, off, bytes);
}

Value ShiftedLoad::loadWords() {
  SmallVector<Value> parts;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); reg += neighbours)
    llvm::append_range(parts, loadShifted(reg));
  return vector::FromElementsOp::create(b, getResultType(), parts);
}

/// Zeros in columns beyond their limit.
Value ShiftedLoad::clear(Value words) {
  Type i64 = b.getI64Type();
  Value limit =
      arith::MinSIOp::create(b, limits[1], b.index(tile.getDimSize(1)));
  limit = b.toI32(arith::MaxSIOp::create(b, limit, b.index(0)));
  SmallVector<Value> parts;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); reg += neighbours) {
    Value left =
        b.mul(arith::SubIOp::create(b, limit, coordinates.get(reg)[1]), bytes);
    for (int64_t i = 0; i < kParts; ++i) {
      // The part keeps as many of its low bits as lie inside the limits.
      Value kept = b.add(left, -kPartBytes * i);
      kept = arith::MinSIOp::create(b, kept, b.i32(kPartBytes));
      kept = b.mul(arith::MaxSIOp::create(b, kept, b.i32(0)), 8);
      Value mask = arith::ShLIOp::create(
          b, arith::ConstantOp::create(b, b.getI64IntegerAttr(1)),
          arith::ExtUIOp::create(b, i64, kept));
      mask = arith::TruncIOp::create(b, b.getI32Type(), mask);
      mask = b.add(mask, -1);
      Value part =
          vector::ExtractOp::create(b, words, reg / neighbours * kParts + i);
      parts.push_back(arith::AndIOp::create(b, part, mask));
    }
  }
  return vector::FromElementsOp::create(b, getResultType(), parts);
}

/// Element by element; there is a first one.
Value ShiftedLoad::loadElements() {
  // Nothing but their bits matters.
  Type element = b.getIntegerType(8 * bytes);
  Value zero =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(element)));
  Address first = placeOf({0, 0});
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
    SmallVector<Value> at = coordinates.get(reg);
    Value below = isBelow(b, at, limits, tile.getShape());
    Address place = b.global(window, toIndices(b, at));
    if (below)
      place = b.target.select(b, below, place, first);
    Value value = b.load(element, place, bytes);
    if (below)
      value = arith::SelectOp::create(b, below, value, zero);
    elements.push_back(value);
  }
  Value all = vector::FromElementsOp::create(
      b, VectorType::get(lanes.getNumRegisters(), element), elements);
  return vector::BitCastOp::create(b, getResultType(), all);
}

Value ShiftedLoad::load() {
  Value rows = isWholeAlong(0), columns = isWholeAlong(1);
  Value byWords = isInside();
  if (rows)
    byWords = arith::AndIOp::create(b, byWords, rows);
  // A limit of zero or less leaves no element.
  Value some;
  for (Value limit : limits) {
    if (std::optional<int64_t> known = getConstantIntValue(limit);
        known && *known > 0)
      continue;
    some = b.conjoin(some, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                                 limit, b.index(0)));
  }
  Type type = getResultType();
  auto byShifts = [&]() {
    Value words = loadWords();
    return b.choose(
        type, columns, [&]() { return words; }, [&]() { return clear(words); });
  };
  auto byElements = [&]() {
    return b.choose(
        type, some, [&]() { return loadElements(); },
        [&]() { return zeros(); });
  };
  Value loaded = b.choose(type, byWords, byShifts, byElements);
  return vector::BitCastOp::create(b, getLaneVector(tile), loaded);
}

namespace {
struct LowerShiftedLoad : KernelPattern<LoadOp> {
  LowerShiftedLoad(const TypeConverter &converter, MLIRContext *mlirContext,
                   KernelContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto window = context.globalWindows.find(&op.getSourceMutable());
    if (window == context.globalWindows.end() || !op.getPadded().empty())
      return failure();
    Emitter b(op, rewriter, context);
    ShiftedLoad load(b, op, window->second, adaptor.getLimits());
    if (!load.matches())
      return failure();
    rewriter.replaceOp(op, load.load());
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateShiftedLoadPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns.add<LowerShiftedLoad>(converter, patterns.getContext(), context);
}
