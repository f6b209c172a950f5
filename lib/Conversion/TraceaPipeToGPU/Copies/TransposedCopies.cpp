//===- TransposedCopies.cpp - Copies by lanes that exchange dimensions ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A block whose rows are the columns of its source: every element of 4 or 8
// bytes is a copy of its own, for no wider piece stays together. Eight lanes
// read neighbours of the source, one sector of memory, and four of these eights
// write neighbours of the block; with a swizzle by rows they write to all
// banks. Where the columns of the block are pixels of images, a lane divides
// once for each of its columns where the walk begins.

#include "Copies/HeldCopies.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Conversion/TraceaPipeToGPU/ThreadOffsets.h"
#include "tracea/Conversion/TraceaPipeToGPU/Walks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// How the threads of a team share a block of `rows` of `columns`: bits of the
/// thread's number for rows, then for columns, then for rows again.
struct Shares {
  Shares(ArrayRef<int64_t> shape, int64_t threads) {
    constexpr int64_t kNeighbours = 8;
    nearRows = std::min(kNeighbours, shape[0]);
    columns = std::min(shape[1], threads / nearRows);
    farRows = std::min(shape[0] / nearRows, threads / (nearRows * columns));
    rowRounds = shape[0] / (nearRows * farRows);
    columnRounds = shape[1] / columns;
  }
  int64_t getThreads() const { return nearRows * columns * farRows; }

  int64_t nearRows, columns, farRows, rowRounds, columnRounds;
};

class TransposedCopy {
public:
  /// Before copies of rows.
  static constexpr unsigned kBenefit = 3;

  TransposedCopy(Emitter &b, CopyOp op, const StagedWindow &dest,
                 const GlobalWindow &source, Value buffer)
      : b(b), op(op), dest(dest), source(source), buffer(buffer),
        memory(b.context.getBuffer(source)),
        type(cast<MemRefType>(op.getDest().getType())),
        bytes(getElementBytes(type)) {}

  bool matches();
  void emit();

private:
  SmallVector<Address> getPlaces(const Shares &shares);
  Address getSource(const Address &first, int64_t rows, int64_t columns);
  bool hasColumnStride() const;
  Value getColumn(const Shares &shares);
  SmallVector<Value> getInputs(const Shares &shares, Value row, Value column,
                               int64_t round);
  Value getSize(Value inside);
  void copyRounds(const Shares &shares, ArrayRef<Address> places, Value row,
                  Value column, HeldCopies *held);

  Emitter &b;
  CopyOp op;
  const StagedWindow &dest;
  const GlobalWindow &source;
  Value buffer;
  const GlobalBuffer &memory;
  MemRefType type;
  int64_t bytes;
};
} // namespace

/// The block's rows run along the source's last dimension, and its columns
/// along others, alone or on a walk; both extents are powers of two.
bool TransposedCopy::matches() {
  size_t rank = source.dims.size();
  if (type.getRank() != 2 || !op.getLimits().empty() || rank < 2 ||
      (!source.walks.empty() && op.getAlong() != ArrayRef<int64_t>{1}) ||
      memory.type.getElementType() != type.getElementType() ||
      (bytes != 4 && bytes != 8) || !b.team.thread ||
      !llvm::isPowerOf2_64(b.team.getNumThreads()) ||
      !llvm::isPowerOf2_64(type.getDimSize(0)) ||
      !llvm::isPowerOf2_64(type.getDimSize(1)) || !runsAlongLast(dest.dims) ||
      dest.dims.front().form.coefficients[0] != 1)
    return false;
  for (auto [number, dim] : llvm::enumerate(source.dims)) {
    bool isLast = number + 1 == rank;
    if (source.getFactor(dim, 0) != isLast ||
        (isLast && source.dependsOn(dim, 1)))
      return false;
  }
  return true;
}

/// Whether neighbouring columns are rows of the source, and their distance its
/// last extent.
bool TransposedCopy::hasColumnStride() const {
  for (auto [number, dim] : llvm::enumerate(source.dims))
    if (source.getFactor(dim, 1) != (number + 2 == source.dims.size()))
      return false;
  return source.walks.empty();
}

/// This thread's first column.
Value TransposedCopy::getColumn(const Shares &shares) {
  Value thread = arith::IndexCastOp::create(b, b.getIndexType(), b.team.thread);
  Value number =
      b.createOrFold<arith::DivUIOp>(thread, b.index(shares.nearRows));
  return b.createOrFold<arith::RemUIOp>(number, b.index(shares.columns));
}

/// What the source's coordinates are linear in, at `row` of this thread's
/// column of a round. The coordinates of a walk are computed where it begins.
SmallVector<Value> TransposedCopy::getInputs(const Shares &shares, Value row,
                                             Value column, int64_t round) {
  SmallVector<Value> inputs{row};
  if (source.walks.empty()) {
    inputs.push_back(b.add(column, round * shares.columns));
    return inputs;
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(source.walks.front().getDefiningOp());
  Value first = b.add(getColumn(shares), round * shares.columns);
  llvm::append_range(inputs,
                     getWalkCoordinates(b, source.walks.front(), first));
  return inputs;
}

/// Where the elements of this thread go: for each round of rows those of
/// columns.
SmallVector<Address> TransposedCopy::getPlaces(const Shares &shares) {
  auto offset = [&](int64_t row, int64_t column) {
    return dest.getOffset({row, column});
  };
  SmallVector<int64_t> steps, rounds;
  for (int64_t row = 1; row < shares.nearRows; row *= 2)
    steps.push_back(offset(row, 0) - offset(0, 0));
  for (int64_t column = 1; column < shares.columns; column *= 2)
    steps.push_back(offset(0, column) - offset(0, 0));
  for (int64_t row = 1; row < shares.farRows; row *= 2)
    steps.push_back(offset(row * shares.nearRows, 0) - offset(0, 0));
  int64_t rows = shares.nearRows * shares.farRows;
  for (int64_t row = 0; row < shares.rowRounds; ++row)
    for (int64_t column = 0; column < shares.columnRounds; ++column)
      rounds.push_back(offset(row * rows, column * shares.columns));
  ArrayRef<int64_t> all(steps);
  size_t laneBits = std::min(b.target.getNumLaneBits(), all.size());
  return ThreadOffsets(b, dest, buffer)
      .get(all.take_front(laneBits), all.drop_front(laneBits), rounds);
}

/// The bytes that are copied of an element; zeros take the place of others.
Value TransposedCopy::getSize(Value inside) {
  if (!inside)
    return {};
  return arith::SelectOp::create(b, inside, b.i32(bytes), b.i32(0));
}

/// The element that is `rows` and `columns` of the block from one at `first`:
/// accesses add what is constant, and no lane keeps a pointer for each.
Address TransposedCopy::getSource(const Address &first, int64_t rows,
                                  int64_t columns) {
  int64_t stride = memory.type.getShape().back();
  Type element = b.getIntegerType(8 * bytes);
  Address from = first;
  int64_t known = rows;
  if (columns && ShapedType::isDynamic(stride))
    from = b.advance(from, element,
                     arith::IndexCastOp::create(
                         b, b.getI64Type(), b.mul(memory.sizes.back(), columns))
                         .getResult());
  else if (columns) {
    int64_t across;
    if (llvm::MulOverflow(stride, columns, across) ||
        llvm::AddOverflow(known, across, known) || !llvm::isInt<32>(known)) {
      Value far = arith::ConstantOp::create(
          b, b.getI64IntegerAttr(static_cast<int64_t>(
                 static_cast<uint64_t>(stride) * columns)));
      return b.advance(b.advance(from, element, rows), element, far);
    }
  }
  return known ? b.advance(from, element, known) : from;
}

void TransposedCopy::emit() {
  int64_t threads = b.team.getNumThreads();
  Shares shares(type.getShape(), threads);
  SmallVector<Address> places = getPlaces(shares);
  Value thread = arith::IndexCastOp::create(b, b.getIndexType(), b.team.thread);
  auto part = [&](int64_t from, int64_t count) -> Value {
    Value number = b.createOrFold<arith::DivUIOp>(thread, b.index(from));
    return b.createOrFold<arith::RemUIOp>(number, b.index(count));
  };
  Value row = part(1, shares.nearRows);
  if (shares.farRows > 1)
    row =
        b.add(row, b.mul(part(shares.nearRows * shares.columns, shares.farRows),
                         shares.nearRows));
  Value column = getColumn(shares);

  Value some;
  if (shares.getThreads() < threads)
    some = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread,
                                 b.index(shares.getThreads()));
  HeldCopies held;
  b.onlyIf(some, [&]() {
    copyRounds(shares, places, row, column, some ? nullptr : &held);
  });
  held.store(b, op, dest.buffer.getDefiningOp<AcquireOp>());
}

/// Copies the elements of a thread that begins at `row` and `column`; what
/// passes through registers is stored at once if nobody holds it.
void TransposedCopy::copyRounds(const Shares &shares, ArrayRef<Address> places,
                                Value row, Value column, HeldCopies *held) {
  Type element = b.getIntegerType(8 * bytes);
  bool hasStride = hasColumnStride();
  SmallVector<SmallVector<Value>> inputs;
  SmallVector<Address> firsts;
  for (int64_t j = 0; j < (hasStride ? 1 : shares.columnRounds); ++j) {
    inputs.push_back(getInputs(shares, row, column, j));
    firsts.push_back(b.global(source, inputs.back()));
  }
  const Address *to = places.begin();
  int64_t rows = shares.nearRows * shares.farRows;
  for (int64_t i = 0; i < shares.rowRounds; ++i)
    for (int64_t j = 0; j < shares.columnRounds; ++j, ++to) {
      SmallVector<Value> at = inputs[hasStride ? 0 : j];
      at[0] = b.add(row, i * rows);
      if (hasStride)
        at[1] = b.add(column, j * shares.columns);
      Value inside;
      b.global(source, at, op.getPadded(), inside);
      Address from =
          hasStride ? getSource(firsts.front(), i * rows, j * shares.columns)
                    : getSource(firsts[j], i * rows, /*columns=*/0);
      if (!b.context.plan.holdsCopies) {
        b.target.copyAsync(b, *to, from, bytes, getSize(inside),
                           /*streams=*/false);
        continue;
      }
      Value value = loadElement(b, element, from, inside);
      if (held)
        held->add(value, *to, bytes);
      else
        b.store(value, *to, static_cast<unsigned>(bytes));
    }
}

void mlir::tracea_pipe::populateTransposedCopyPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns.add<LaneCopyPattern<TransposedCopy>>(converter,
                                                patterns.getContext(), context);
}
