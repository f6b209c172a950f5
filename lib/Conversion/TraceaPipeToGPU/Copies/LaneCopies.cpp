//===- LaneCopies.cpp - Copies that all lanes of a team start -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lanes copy pieces of rows: neighbouring lanes neighbouring pieces, as wide as
// memory and slot allow. A piece of 16, 8 or 4 bytes is one asynchronous copy,
// which fills with zeros what its source lacks. How wide pieces may be follows
// from the window and from what the kernel asks of its memory. Memory that
// promises nothing is copied by 4 bytes where the run finds it aligned to that,
// which all lanes find alike, or element by element.
// Where the rows of the tile are pixels of images or numbers of a table, a lane
// divides or loads once for each of its rows where the walk begins: outside of
// the loop over the steps.

#include "Copies/HeldCopies.h"
#include "Copies/StepMasks.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Conversion/TraceaPipeToGPU/ThreadOffsets.h"
#include "tracea/Conversion/TraceaPipeToGPU/Walks.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;

constexpr int64_t kLeastBytes = 4;

namespace {
/// A tile of rows cut into pieces, and which lane copies which: `columns`
/// lanes side by side, `rows` of a team below one another, in rounds.
struct Pieces {
  int64_t bytes, elements;
  int64_t columns, rows, rowRounds, columnRounds;

  Pieces(int64_t bytes, int64_t elementBytes, ArrayRef<int64_t> shape,
         int64_t threads)
      : bytes(bytes), elements(bytes / elementBytes) {
    int64_t perRow = shape[1] / elements;
    columns = std::min(perRow & -perRow, threads);
    rows = threads / columns;
    columnRounds = perRow / columns;
    rowRounds = llvm::divideCeil(shape[0], rows);
  }
};

/// Emits one copy that the lanes of a team make.
class LaneCopy {
public:
  static constexpr unsigned kBenefit = 2;

  LaneCopy(Emitter &b, CopyOp op, const StagedWindow &dest,
           const GlobalWindow &source, Value buffer)
      : b(b), op(op), dest(dest), source(source), buffer(buffer),
        memory(b.context.getBuffer(source)),
        type(cast<MemRefType>(op.getDest().getType())),
        elementBytes(getElementBytes(type)) {}

  /// Whether this is a copy of rows in which elements stay as they are.
  bool matches();
  void emit();

private:
  int64_t getStagedWidth() const;
  int64_t getSourceWidth() const;
  int64_t getStaticWidth() const;
  Value isAligned(int64_t bytes);
  void copyPieces(int64_t bytes);
  void startPiece(ValueRange inputs, Value inside, const Address &to,
                  const Pieces &pieces);
  Value loadPiece(ValueRange inputs, Value inside, const Pieces &pieces);
  SmallVector<Value> getRowInputs(const Pieces &pieces, int64_t origin);
  void forEachPiece(const Pieces &pieces, function_ref<void(ValueRange)> body);
  Address stagedPlace(ValueRange at);
  void copyNarrowPieces(int64_t bytes);
  void copyElements(int64_t bytes);
  bool runsAlongColumns();
  Value getValidBytes(ValueRange inputs, Value inside, const Pieces &pieces);
  SmallVector<int64_t> getCheckedRows();
  bool checksColumns();

  Emitter &b;
  CopyOp op;
  const StagedWindow &dest;
  const GlobalWindow &source;
  Value buffer;
  const GlobalBuffer &memory;
  MemRefType type;
  int64_t elementBytes;
  HeldCopies held;
};
} // namespace

bool LaneCopy::matches() {
  return type.getRank() == 2 && op.getLimits().empty() &&
         memory.type.getElementType() == type.getElementType() &&
         elementBytes > 0 && llvm::isPowerOf2_64(b.team.getNumThreads()) &&
         b.team.thread && runsAlongLast(dest.dims) && runsAlongColumns() &&
         getStagedWidth() >= kLeastBytes;
}

/// Whether the columns of the tile, and nothing else, run along the source's
/// last dimension; rows may walk.
bool LaneCopy::runsAlongColumns() {
  if (source.dims.empty() ||
      (!source.walks.empty() && op.getAlong() != ArrayRef<int64_t>{0}))
    return false;
  for (const WindowDim &dim : ArrayRef(source.dims).drop_back())
    if (dim.form.coefficients.back())
      return false;
  ArrayRef<int64_t> last = source.dims.back().form.coefficients;
  return last.back() == 1 &&
         llvm::all_of(last.drop_back(), [](int64_t c) { return c == 0; });
}

/// The bytes of the slot's rows that stay together, at multiples of as many.
int64_t LaneCopy::getStagedWidth() const {
  const StagedLayout &layout = dest.layout;
  int64_t width = std::gcd(kWidestAccess, type.getDimSize(1) * elementBytes);
  width = std::gcd(width, layout.panel * elementBytes);
  width = std::gcd(width, dest.getTermsAlignment());
  if (int64_t whole = layout.swizzle.preservedVectorBytes())
    width = std::min(width, whole);
  for (auto [number, dim] : llvm::enumerate(dest.dims)) {
    int64_t step = layout.steps[number];
    width = std::gcd(width, dim.form.constant * step);
    width = std::gcd(width, dim.form.coefficients[0] * step);
  }
  return width;
}

/// The bytes that a row of the tile begins at multiples of, from the beginning
/// of a row of the source.
int64_t LaneCopy::getSourceWidth() const {
  const WindowDim &columns = source.dims.back();
  int64_t divisor =
      std::gcd<int64_t>(columns.form.constant, columns.form.coefficients[0]);
  for (const WindowDim::Term &term : columns.terms)
    divisor = std::gcd(divisor, term.factor * term.divisor);
  return std::gcd(kWidestAccess, divisor * elementBytes);
}

/// The widest pieces that nothing static forbids.
int64_t LaneCopy::getStaticWidth() const {
  int64_t width = std::gcd(getStagedWidth(), getSourceWidth());
  int64_t columns = memory.type.getShape().back();
  if (!ShapedType::isDynamic(columns) && source.dims.size() > 1)
    width = std::gcd(width, columns * elementBytes);
  return width;
}

/// Whether the rows of the source begin at multiples of so many bytes.
Value LaneCopy::isAligned(int64_t bytes) {
  Value bits = b.target.getNumber(b, {memory.base, {}});
  if (source.dims.size() > 1 &&
      ShapedType::isDynamic(memory.type.getShape().back())) {
    Value row = arith::IndexCastOp::create(
        b, b.getI64Type(), b.mul(memory.sizes.back(), elementBytes));
    bits = arith::OrIOp::create(b, bits, row);
  }
  Value low = arith::AndIOp::create(
      b, bits, arith::ConstantOp::create(b, b.getI64IntegerAttr(bytes - 1)));
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, low,
      arith::ConstantOp::create(b, b.getI64IntegerAttr(0)));
}

SmallVector<int64_t> LaneCopy::getCheckedRows() {
  SmallVector<int64_t> dims(op.getPadded());
  llvm::erase(dims, static_cast<int64_t>(source.dims.size()) - 1);
  return dims;
}

bool LaneCopy::checksColumns() {
  return llvm::is_contained(op.getPadded(),
                            static_cast<int64_t>(source.dims.size()) - 1);
}

/// The bytes of a piece that lie in the source (i32); null for all of them. A
/// piece begins at a multiple of its width: none begins before the first
/// column and ends behind it.
Value LaneCopy::getValidBytes(ValueRange inputs, Value inside,
                              const Pieces &pieces) {
  if (!inside && !checksColumns())
    return {};
  Value bytes = b.i32(pieces.bytes), none = b.i32(0);
  // Pieces of one column share what they ask of it.
  if (checksColumns()) {
    Value size = memory.sizes.back();
    Value column = b.coordinate(source.dims.back(), inputs);
    int64_t known = memory.type.getShape().back();
    if (ShapedType::isDynamic(known) || known % pieces.elements) {
      Value rest = arith::SubIOp::create(b, size, column);
      rest = arith::MinSIOp::create(b, rest, b.index(pieces.elements));
      bytes = b.mul(b.toI32(rest), elementBytes);
    }
    Value begins =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, size);
    bytes = arith::SelectOp::create(b, begins, bytes, none);
  }
  return inside ? arith::SelectOp::create(b, inside, bytes, none).getResult()
                : bytes;
}

static SmallVector<int64_t> doubling(int64_t first, int64_t below,
                                     function_ref<int64_t(int64_t)> offset) {
  SmallVector<int64_t> steps;
  for (int64_t at = first; at < below; at *= 2)
    steps.push_back(offset(at) - offset(0));
  return steps;
}

/// What this lane's row of the rows from `origin` on walks through, computed
/// where the walk begins.
SmallVector<Value> LaneCopy::getRowInputs(const Pieces &pieces,
                                          int64_t origin) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.getWalks().front().getDefiningOp());
  Value row = b.createOrFold<arith::DivUIOp>(b.toIndex(b.team.thread),
                                             b.index(pieces.columns));
  return getWalkCoordinates(b, op.getWalks().front(), b.add(row, origin));
}

void LaneCopy::copyPieces(int64_t bytes) {
  int64_t threads = b.team.getNumThreads();
  Pieces pieces(bytes, elementBytes, type.getShape(), threads);
  // The bits of the thread's number: columns, then rows.
  SmallVector<int64_t> steps = doubling(1, pieces.columns, [&](int64_t column) {
    return dest.getOffset({0, column * pieces.elements});
  });
  llvm::append_range(steps, doubling(1, pieces.rows, [&](int64_t row) {
                       return dest.getOffset({row, 0});
                     }));
  SmallVector<int64_t> rounds;
  SmallVector<std::pair<int64_t, int64_t>> origins;
  for (int64_t row = 0; row < pieces.rowRounds; ++row)
    for (int64_t column = 0; column < pieces.columnRounds; ++column) {
      origins.push_back(
          {row * pieces.rows, column * pieces.columns * pieces.elements});
      rounds.push_back(
          dest.getOffset({origins.back().first, origins.back().second}));
    }
  ArrayRef<int64_t> all(steps);
  size_t laneBits = b.target.getNumLaneBits();
  SmallVector<Address> places =
      ThreadOffsets(b, dest, buffer)
          .get(all.take_front(laneBits), all.drop_front(laneBits), rounds);

  Value thread = arith::IndexCastOp::create(b, b.getIndexType(), b.team.thread);
  Value column =
      b.mul(b.createOrFold<arith::RemUIOp>(thread, b.index(pieces.columns)),
            pieces.elements);
  Value row = b.createOrFold<arith::DivUIOp>(thread, b.index(pieces.columns));
  StepMasks masks(b, source, getCheckedRows());
  for (auto [origin, to] : llvm::zip(origins, places)) {
    SmallVector<Value> at = {b.add(row, origin.first),
                             b.add(column, origin.second)};
    Value some;
    if (origin.first + pieces.rows > type.getDimSize(0))
      some = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at[0],
                                   b.index(type.getDimSize(0)));
    b.onlyIf(some, [&, &to = to, &origin = origin]() {
      SmallVector<Value> inputs = at;
      if (!source.walks.empty()) {
        inputs = getRowInputs(pieces, origin.first);
        inputs.push_back(at[1]);
      }
      Value inside = masks.isInside(inputs);
      if (!b.context.plan.holdsCopies)
        return startPiece(inputs, inside, to, pieces);
      Value piece = loadPiece(inputs, inside, pieces);
      if (some)
        b.store(piece, to, static_cast<unsigned>(bytes));
      else
        held.add(piece, to, bytes);
    });
  }
}

void LaneCopy::startPiece(ValueRange inputs, Value inside, const Address &to,
                          const Pieces &pieces) {
  Address from = b.global(source, inputs);
  // Only whole pieces can leave out the first cache.
  b.target.copyAsync(b, to, from, pieces.bytes,
                     getValidBytes(inputs, inside, pieces),
                     /*streams=*/pieces.bytes == kWidestAccess);
}

/// A piece as registers, zeros where it is not of the source.
Value LaneCopy::loadPiece(ValueRange inputs, Value inside,
                          const Pieces &pieces) {
  Type element = b.getIntegerType(8 * elementBytes);
  auto type = VectorType::get(pieces.elements, element);
  Address from = b.global(source, inputs);
  Value valid = getValidBytes(inputs, inside, pieces);
  Value whole;
  if (valid)
    whole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, valid,
                                  b.i32(pieces.bytes));
  auto loadAll = [&]() {
    return b.load(type, from, static_cast<unsigned>(pieces.bytes));
  };
  auto loadPart = [&]() -> Value {
    int64_t columns = memory.type.getShape().back();
    if (!checksColumns() ||
        (!ShapedType::isDynamic(columns) && columns % pieces.elements == 0)) {
      Value zero =
          arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(element)));
      return vector::BroadcastOp::create(b, type, zero);
    }
    SmallVector<Value> elements;
    for (int64_t i = 0; i < pieces.elements; ++i) {
      Value isValid = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, valid,
                                            b.i32(i * elementBytes));
      elements.push_back(
          loadElement(b, element, b.advance(from, element, i), isValid));
    }
    return vector::FromElementsOp::create(b, type, elements);
  };
  return b.choose(type, whole, loadAll, loadPart);
}

/// Runs `body` for each piece of this lane, a loop: many narrow pieces would
/// take all registers for their addresses. Coordinates are indices.
void LaneCopy::forEachPiece(const Pieces &pieces,
                            function_ref<void(ValueRange)> body) {
  Value thread = arith::IndexCastOp::create(b, b.getIndexType(), b.team.thread);
  Value column =
      b.mul(b.createOrFold<arith::RemUIOp>(thread, b.index(pieces.columns)),
            pieces.elements);
  Value row = b.createOrFold<arith::DivUIOp>(thread, b.index(pieces.columns));
  auto loop = scf::ForOp::create(
      b, b.index(0), b.index(pieces.rowRounds * pieces.columnRounds),
      b.index(1));
  b.target.keepLoop(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar();
  Value rowRound =
      b.createOrFold<arith::DivUIOp>(round, b.index(pieces.columnRounds));
  Value columnRound =
      b.createOrFold<arith::RemUIOp>(round, b.index(pieces.columnRounds));
  SmallVector<Value> at = {
      b.add(row, b.mul(rowRound, pieces.rows)),
      b.add(column, b.mul(columnRound, pieces.columns * pieces.elements))};
  Value some;
  if (type.getDimSize(0) % pieces.rows)
    some = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at[0],
                                 b.index(type.getDimSize(0)));
  b.onlyIf(some, [&]() { body(at); });
}

Address LaneCopy::stagedPlace(ValueRange at) {
  return b.staged(dest, buffer, {b.toI32(at[0]), b.toI32(at[1])});
}

/// Copies in asynchronous pieces each of which has an address and limits of its
/// own.
void LaneCopy::copyNarrowPieces(int64_t bytes) {
  Pieces pieces(bytes, elementBytes, type.getShape(), b.team.getNumThreads());
  forEachPiece(pieces, [&](ValueRange at) {
    Value inside;
    SmallVector<Value> inputs = getMapInputs(b, source, at);
    Address from = b.global(source, inputs, getCheckedRows(), inside);
    Value valid = getValidBytes(inputs, inside, pieces);
    b.target.copyAsync(b, stagedPlace(at), from, bytes, valid,
                       /*streams=*/false);
  });
}

/// Rows of any alignment: elements are read one by one and leave together.
void LaneCopy::copyElements(int64_t bytes) {
  Pieces pieces(bytes, elementBytes, type.getShape(), b.team.getNumThreads());
  // Nothing but their bits matters.
  Type element = b.getIntegerType(8 * elementBytes);
  forEachPiece(pieces, [&](ValueRange at) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < pieces.elements; ++i) {
      Value inside;
      SmallVector<Value> one = {at[0], b.add(at[1], i)};
      Address from = b.global(source, getMapInputs(b, source, one),
                              op.getPadded(), inside);
      elements.push_back(loadElement(b, element, from, inside));
    }
    Value piece = vector::FromElementsOp::create(
        b, VectorType::get(pieces.elements, element), elements);
    b.store(piece, stagedPlace(at), static_cast<unsigned>(bytes));
  });
}

void LaneCopy::emit() {
  int64_t width = getStaticWidth();
  int64_t promised = std::gcd(width, memory.alignment);
  if (promised >= kLeastBytes) {
    copyPieces(promised);
    return held.store(b, op, dest.buffer.getDefiningOp<AcquireOp>());
  }
  if (width < kLeastBytes || b.context.plan.holdsCopies ||
      !b.target.hasAddressNumbers())
    return copyElements(getStagedWidth());
  b.either(
      isAligned(kLeastBytes), [&]() { copyNarrowPieces(kLeastBytes); },
      [&]() { copyElements(getStagedWidth()); });
}

void mlir::tracea_pipe::populateLaneCopyPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns,
                                                 KernelContext &context) {
  patterns.add<LaneCopyPattern<LaneCopy>>(converter, patterns.getContext(),
                                          context);
}
