//===- LaneStores.cpp - Staged rows that lanes carry out ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory whose rows begin anywhere is not written by the copy unit. A warp
// takes a row of the staged tile, or several short ones, and neighbouring lanes
// have neighbouring elements. A tile that no limit cuts leaves by whole words
// of memory, each shifted out of two staged ones; what is left at both ends of
// the rows follows by elements, the rows of a tile side by side. Of a tile that
// is cut, each lane goes down its columns as far as there are rows.

#include "LaneCoordinates.h"
#include "Lowering.h"
#include "ThreadOffsets.h"
#include "WordShift.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Elements of a lane that are read before the first of them is written.
constexpr int64_t kBatch = 16;
/// Words of a row that are worth the elements at its ends.
constexpr int64_t kLeastWords = 8;

namespace {
/// One copy from staged memory by all lanes of a team.
class LaneStore {
public:
  LaneStore(Emitter &b, CopyOutOp op, const StagedWindow &source,
            const GlobalWindow &dest, Value buffer, ValueRange limits)
      : b(b), source(source), dest(dest), buffer(buffer), limits(limits),
        memory(b.context.arguments.find(dest.buffer)->second),
        type(cast<MemRefType>(op.getSource().getType())) {}

  /// Whether this is a copy of rows that the lanes share evenly.
  bool matches();
  void emit();

private:
  void placeLanes();
  Value getRowStride(int64_t count);
  Value step(Value pointer, Value elements);
  bool hasWords();
  SmallVector<Value> getShifted(Value row, Value word, Value next, Value off);
  void copyWords();
  void copyEnds();
  void copyWhole();
  void copyPart();

  Emitter &b;
  const StagedWindow &source;
  const GlobalWindow &dest;
  Value buffer;
  ValueRange limits;
  const GlobalBuffer &memory;
  MemRefType type;
  /// Lanes side by side, and rows of a round of the team.
  int64_t columns = 1, rows = 1;
  /// The lane's first element, indices.
  Value row, column;
};
} // namespace

bool LaneStore::matches() {
  if (type.getRank() != 2 || !b.team.thread ||
      memory.type.getElementType() != type.getElementType() ||
      type.getElementTypeBitWidth() % 8 ||
      !llvm::isPowerOf2_64(b.team.numWarps) || !runsAlongLast(source.dims) ||
      !runsAlongLast(dest.dims))
    return false;
  int64_t extent = type.getDimSize(1);
  columns = std::min(extent & -extent, kWarpSize);
  rows = b.team.getNumThreads() / columns;
  return type.getDimSize(0) % rows == 0;
}

void LaneStore::placeLanes() {
  Value lane = b.team.lane, place = b.team.warp;
  auto toIndex = [&](Value x) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), x);
  };
  column = lane;
  if (columns < kWarpSize) {
    column = arith::AndIOp::create(b, lane, b.i32(columns - 1));
    Value below =
        arith::ShRUIOp::create(b, lane, b.i32(llvm::Log2_64(columns)));
    place = b.add(b.mul(place, kWarpSize / columns), below);
  }
  row = toIndex(place);
  column = toIndex(column);
}

/// Elements of the memory from one row to that `count` further down.
Value LaneStore::getRowStride(int64_t count) {
  Value stride = b.index(0), inner = b.index(1);
  for (auto [dim, size] :
       llvm::reverse(llvm::zip_equal(dest.dims, memory.sizes))) {
    if (int64_t factor = dim.form.coefficients[0])
      stride = b.add(stride, b.mul(inner, factor * count));
    inner = b.createOrFold<arith::MulIOp>(inner, size);
  }
  return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), stride);
}

/// The pointer so many elements further on.
Value LaneStore::step(Value pointer, Value elements) {
  Type element = b.getIntegerType(type.getElementTypeBitWidth());
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                             LLVM::GEPArg(elements));
}

/// Whether the lanes share the words of the staged rows evenly, and their ends.
bool LaneStore::hasWords() {
  int64_t bytes = source.layout.elementBytes;
  int64_t rowBytes = type.getDimSize(1) * bytes, words = rowBytes / kWordBytes;
  int64_t threads = b.team.getNumThreads(), down = type.getDimSize(0);
  int64_t preserved = source.layout.swizzle.preservedVectorBytes();
  return bytes < kPartBytes && rowBytes % kWordBytes == 0 &&
         llvm::isPowerOf2_64(words) && words >= kLeastWords &&
         words <= threads && down % (threads / words) == 0 &&
         (threads == down || threads == 2 * down) && !source.hasTerms() &&
         source.layout.panel * bytes % kWordBytes == 0 &&
         (preserved == 0 || preserved >= kWordBytes) &&
         source.dims.back().form.constant * bytes % kWordBytes == 0;
}

/// The word of memory that begins `off` bytes behind the start of word `word`
/// of a staged row; `next` is the word behind that one.
SmallVector<Value> LaneStore::getShifted(Value row, Value word, Value next,
                                         Value off) {
  int64_t bytes = source.layout.elementBytes;
  SmallVector<Value> parts;
  for (Value at : {word, next}) {
    Value offset = b.stagedOffset(source, {row, b.mul(at, kWordBytes / bytes)});
    llvm::append_range(parts,
                       loadWord(b, b.sharedPointer(b.add(buffer, offset))));
  }
  return shiftWords(b, parts, off, bytes);
}

static Value getBytesOn(Emitter &b, Value pointer, Value bytes) {
  Value wide = arith::ExtSIOp::create(b, b.getI64Type(), bytes);
  return LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer,
                             LLVM::GEPArg(wide));
}

/// Bytes from `pointer` to the next multiple of a word (i32).
static Value getBytesToWord(Emitter &b, Value pointer) {
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer);
  Value low = arith::TruncIOp::create(b, b.getI32Type(), address);
  return arith::AndIOp::create(b, arith::SubIOp::create(b, b.i32(0), low),
                               b.i32(kWordBytes - 1));
}

static Value isZero(Emitter &b, Value x) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, b.i32(0));
}

/// The whole words of memory that rows of the tile cover.
void LaneStore::copyWords() {
  int64_t bytes = source.layout.elementBytes;
  int64_t words = type.getDimSize(1) * bytes / kWordBytes;
  int64_t perRound = b.team.getNumThreads() / words;
  Value last = b.i32(words - 1);
  Value word = arith::AndIOp::create(b, b.team.thread, last);
  Value next = arith::AndIOp::create(b, b.add(word, 1), last);
  Value down =
      arith::ShRUIOp::create(b, b.team.thread, b.i32(llvm::Log2_64(words)));
  Value isInner =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, word, last);
  Value inside, stride = getRowStride(perRound);
  Value pointer = b.globalPointer(
      dest, {arith::IndexCastOp::create(b, b.getIndexType(), down), b.index(0)},
      /*checked=*/{}, inside);
  for (int64_t i = 0; i < type.getDimSize(0); i += perRound) {
    Value off = getBytesToWord(b, pointer);
    Value parts = vector::FromElementsOp::create(
        b, VectorType::get(kParts, b.getI32Type()),
        getShifted(b.add(down, i), word, next, off));
    Value isWhole = arith::OrIOp::create(b, isInner, isZero(b, off));
    auto ifOp = scf::IfOp::create(b, isWhole, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ifOp.thenBlock());
      LLVM::StoreOp::create(
          b, parts, getBytesOn(b, pointer, b.add(off, b.mul(word, kWordBytes))),
          kWordBytes);
    }
    if (i + perRound < type.getDimSize(0))
      pointer = step(pointer, stride);
  }
}

/// What is left of each row: the last staged word, shifted by the first one, is
/// the row's tail and then its head. One or two lanes have a row.
void LaneStore::copyEnds() {
  int64_t bytes = source.layout.elementBytes;
  int64_t words = type.getDimSize(1) * bytes / kWordBytes;
  int64_t count = kWordBytes / bytes;
  bool isHalved = b.team.getNumThreads() == 2 * type.getDimSize(0);
  Value thread = b.team.thread;
  Value down = isHalved
                   ? arith::ShRUIOp::create(b, thread, b.i32(1)).getResult()
                   : thread;
  Value isSecond;
  if (isHalved)
    isSecond = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                     arith::AndIOp::create(b, thread, b.i32(1)),
                                     b.i32(0));
  Value inside;
  Value pointer = b.globalPointer(
      dest, {arith::IndexCastOp::create(b, b.getIndexType(), down), b.index(0)},
      /*checked=*/{}, inside);
  Value off = getBytesToWord(b, pointer);
  Type element = b.getIntegerType(8 * bytes);
  Value all = vector::BitCastOp::create(
      b, VectorType::get(count, element),
      vector::FromElementsOp::create(
          b, VectorType::get(kParts, b.getI32Type()),
          getShifted(down, b.i32(words - 1), b.i32(0), off)));
  Value isSome =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, off, b.i32(0));
  auto ifOp = scf::IfOp::create(b, isSome, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  int64_t perLane = isHalved ? count / 2 : count;
  for (int64_t i = 0; i < perLane; ++i) {
    Value value = vector::ExtractOp::create(b, all, i);
    Value at = b.i32(i * bytes);
    if (isHalved) {
      value = arith::SelectOp::create(
          b, isSecond, vector::ExtractOp::create(b, all, perLane + i), value);
      at = arith::SelectOp::create(b, isSecond, b.i32((perLane + i) * bytes),
                                   at);
    }
    at = b.add(at, off);
    Value isTail = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at,
                                         b.i32(kWordBytes));
    at = b.add(at, arith::SelectOp::create(b, isTail,
                                           b.i32((words - 1) * kWordBytes),
                                           b.i32(-kWordBytes)));
    LLVM::StoreOp::create(b, value, getBytesOn(b, pointer, at), bytes);
  }
}

void LaneStore::copyWhole() {
  if (hasWords()) {
    copyWords();
    return copyEnds();
  }
  SmallVector<int64_t> laneSteps, warpSteps, rounds;
  auto offset = [&](int64_t row, int64_t column) {
    return source.getOffset({row, column}) - source.getOffset({0, 0});
  };
  for (int64_t at = 1; at < columns; at *= 2)
    laneSteps.push_back(offset(0, at));
  for (int64_t at = 1; at < kWarpSize / columns; at *= 2)
    laneSteps.push_back(offset(at, 0));
  for (int64_t at = kWarpSize / columns; at < rows; at *= 2)
    warpSteps.push_back(offset(at, 0));
  for (int64_t i = 0; i < type.getDimSize(0); i += rows)
    for (int64_t j = 0; j < type.getDimSize(1); j += columns)
      rounds.push_back(source.getOffset({i, j}));
  SmallVector<Value> from =
      ThreadOffsets(b, source, buffer).get(laneSteps, warpSteps, rounds);

  int64_t bytes = source.layout.elementBytes;
  // Nothing but their bits matters.
  Type element = b.getIntegerType(8 * bytes);
  Value inside, stride = getRowStride(rows);
  Value pointer = b.globalPointer(dest, {row, column}, /*checked=*/{}, inside);
  SmallVector<Value> values, pointers;
  auto flush = [&]() {
    for (auto [value, to] : llvm::zip_equal(values, pointers))
      LLVM::StoreOp::create(b, value, to, bytes);
    values.clear();
    pointers.clear();
  };
  size_t round = 0;
  for (int64_t i = 0; i < type.getDimSize(0); i += rows) {
    for (int64_t j = 0; j < type.getDimSize(1); j += columns) {
      values.push_back(LLVM::LoadOp::create(b, element, from[round++], bytes));
      pointers.push_back(
          LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                              LLVM::GEPArg(static_cast<int32_t>(j))));
      if (static_cast<int64_t>(values.size()) == kBatch)
        flush();
    }
    if (i + rows < type.getDimSize(0))
      pointer = step(pointer, stride);
  }
  flush();
}

void LaneStore::copyPart() {
  int64_t bytes = source.layout.elementBytes;
  Type element = b.getIntegerType(8 * bytes);
  SmallVector<Value> at, isColumn;
  for (int64_t j = 0; j < type.getDimSize(1); j += columns) {
    at.push_back(b.add(column, j));
    isColumn.push_back(arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             at.back(), limits[1]));
  }
  // As many rounds for every lane, of rows that there are.
  auto loop = scf::ForOp::create(b, b.index(0), b.index(type.getDimSize(0)),
                                 b.index(rows));
  auto unroll = LLVM::LoopUnrollAttr::get(b.getContext(), b.getBoolAttr(true),
                                          {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(
                                       b.getContext(), {}, {}, {}, unroll, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value down = b.add(loop.getInductionVar(), row);
  Value isRow =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, down, limits[0]);
  for (auto [j, some] : llvm::zip_equal(at, isColumn)) {
    Value isInside = arith::AndIOp::create(b, isRow, some);
    auto ifOp = scf::IfOp::create(b, isInside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    Value inside;
    Value to = b.globalPointer(dest, {down, j}, /*checked=*/{}, inside);
    Value offset = b.stagedOffset(source, {b.toI32(down), b.toI32(j)});
    Value value = LLVM::LoadOp::create(
        b, element, b.sharedPointer(b.add(buffer, offset)), bytes);
    LLVM::StoreOp::create(b, value, to, bytes);
  }
}

void LaneStore::emit() {
  placeLanes();
  Value whole = isWhole(b, limits, type.getShape());
  if (!whole)
    return copyWhole();
  auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  copyWhole();
  b.setInsertionPointToStart(ifOp.elseBlock());
  copyPart();
}

namespace {
struct LowerLaneStore : KernelPattern<CopyOutOp> {
  LowerLaneStore(const TypeConverter &converter, MLIRContext *mlirContext,
                 NVVMLoweringContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(CopyOutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (context.plan.bulkCopies.contains(op))
      return failure();
    Emitter b(op, rewriter, context);
    LaneStore store(b, op, context.getWindow(op.getSourceMutable()),
                    context.globalWindows.find(&op.getDestMutable())->second,
                    adaptor.getSource(), adaptor.getLimits());
    if (!store.matches())
      return failure();
    store.emit();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateLaneStorePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    NVVMLoweringContext &context) {
  patterns.add<LowerLaneStore>(converter, patterns.getContext(), context);
}
