//===- PrefetchStreams.cpp - Rows are asked for across pages --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The prefetchers of processors end at the end of a page: each of 4 KiB begins
// with loads, and with stores, that wait for memory. Operations element by
// element on more than the second level holds go through their rows in pieces,
// and ask for what a piece further on reads and writes.
// What is written past the caches is computed in memory of its own, piece by
// piece, and copied by whole lines.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/PastCaches.h"
#include "tracea/Transforms/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_PREFETCHSTREAMS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using tracea_pipe::kCacheLineBytes;

/// Elements of a piece: long beside what its loops cost, and few lines of each
/// stream.
constexpr int64_t kPiece = 128;
/// How far ahead is asked, in elements: the time that memory takes.
constexpr int64_t kAhead = 512;

static int64_t getElementBytes(Value memory) {
  Type element = getElementTypeOrSelf(memory.getType());
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() / 8 : 0;
}

/// The memory that a view is of.
static MemRefType getWhole(Value memory) {
  while (auto view = memory.getDefiningOp<memref::SubViewOp>())
    memory = view.getSource();
  return cast<MemRefType>(memory.getType());
}

/// Its bytes, as far as its type tells.
static int64_t getWholeBytes(Value memory) {
  MemRefType type = getWhole(memory);
  return type.hasStaticShape() ? type.getNumElements() * getElementBytes(memory)
                               : 0;
}

/// Whether an operand's neighbours are those of the last loop.
static bool isStream(linalg::LinalgOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> strides;
  int64_t offset;
  return type && map.getNumResults() > 0 &&
         map.getResults().back() ==
             getAffineDimExpr(op.getNumLoops() - 1, op.getContext()) &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// The bytes that all of its streams go through; 0 where it is none.
static int64_t getStreamedBytes(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      op.getNumParallelLoops() != op.getNumLoops() || op.hasIndexSemantics() ||
      op.getStaticLoopRanges().back() < 2 * kAhead)
    return 0;
  int64_t bytes = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return 0;
    bool isUsed =
        op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand);
    if (isUsed && isStream(op, operand) && getElementBytes(operand.get()) > 0)
      bytes += getWholeBytes(operand.get());
  }
  return bytes;
}

/// Whether pieces of a result are whole lines where the first one begins with a
/// line, and it has so many that they are better written past the caches.
static bool isWrittenPast(linalg::LinalgOp op, OpOperand &operand, int64_t l2) {
  return op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand) &&
         isStream(op, operand) &&
         op.getStaticLoopRanges().back() % kPiece == 0 &&
         tracea_pipe::isWrittenPastCaches(getWhole(operand.get()), l2);
}

namespace {
/// A piece of a result that is written past the caches, where it begins with a
/// line.
struct LinePiece {
  LinePiece(ImplicitLocOpBuilder &b, Value window) : b(b), window(window) {
    auto place = memref::ExtractStridedMetadataOp::create(b, window);
    beginsLine = tracea_pipe::beginsCacheLine(b, place.getBaseBuffer(),
                                              place.getOffset());
  }

  /// Memory of the piece's own.
  Value allocate() {
    auto type = cast<MemRefType>(window.getType());
    // One for all pieces: not in their loops.
    Operation *loops = b.getInsertionBlock()->getParentOp();
    while (auto outer = dyn_cast<scf::ForOp>(loops->getParentOp()))
      loops = outer;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loops);
    own = memref::AllocaOp::create(
        b, MemRefType::get(type.getShape(), type.getElementType()),
        b.getI64IntegerAttr(kCacheLineBytes));
    return own;
  }

  /// Copies what is in that memory.
  void write() {
    scf::IfOp::create(
        b, beginsLine,
        [&](OpBuilder &, Location) {
          copy(/*nontemporal=*/true);
          scf::YieldOp::create(b);
        },
        [&](OpBuilder &, Location) {
          copy(/*nontemporal=*/false);
          scf::YieldOp::create(b);
        });
  }

  Value beginsLine;

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  void copy(bool nontemporal) {
    auto type = cast<MemRefType>(window.getType());
    int64_t width = kCacheLineBytes / getElementBytes(window);
    auto line = VectorType::get(width, type.getElementType());
    SmallVector<Value> place(type.getRank(), constant(0));
    llvm::MaybeAlign whole;
    if (nontemporal)
      whole = llvm::Align(kCacheLineBytes);
    for (int64_t i = 0; i < kPiece; i += width) {
      place.back() = constant(i);
      Value elements = vector::LoadOp::create(b, line, own, place);
      vector::StoreOp::create(b, elements, window, place, nontemporal, whole);
    }
  }

  ImplicitLocOpBuilder &b;
  Value window, own;
};
} // namespace

/// Goes through the loops of `op` but the last one element by element, and
/// through that by pieces; what lies ahead is asked for before each. Whether
/// results were written past the caches.
static bool emitPieces(linalg::LinalgOp op, int64_t l2) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  SmallVector<Range> ranges = op.createLoopRanges(b, op.getLoc());
  SmallVector<OpFoldResult> offsets, sizes;
  for (auto [dim, range] : llvm::enumerate(ranges)) {
    bool isLast = dim + 1 == ranges.size();
    Value end = getValueOrCreateConstantIndexOp(b, op.getLoc(), range.size);
    auto loop =
        scf::ForOp::create(b, constant(0), end, constant(isLast ? kPiece : 1));
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    offsets.push_back(at);
    sizes.push_back(b.getIndexAttr(1));
    if (isLast && op.getStaticLoopRanges().back() % kPiece == 0)
      sizes.back() = b.getIndexAttr(kPiece);
    else if (isLast)
      sizes.back() = arith::MinSIOp::create(
                         b, arith::SubIOp::create(b, end, at), constant(kPiece))
                         .getResult();
  }
  auto select = [&](AffineMap map, ArrayRef<OpFoldResult> all) {
    return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
      return all[cast<AffineDimExpr>(expr).getPosition()];
    });
  };
  SmallVector<Value> operands;
  SmallVector<LinePiece, 1> written;
  for (OpOperand &operand : op->getOpOperands()) {
    Value memory = operand.get();
    auto type = dyn_cast<MemRefType>(memory.getType());
    if (!type || type.getRank() == 0) {
      operands.push_back(memory);
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<OpFoldResult> at = select(map, offsets);
    SmallVector<OpFoldResult> steps(type.getRank(), b.getIndexAttr(1));
    auto createWindow = [&]() -> Value {
      return memref::SubViewOp::create(b, memory, at, select(map, sizes),
                                       steps);
    };
    if (isWrittenPast(op, operand, l2)) {
      written.emplace_back(b, createWindow());
      operands.push_back(written.back().allocate());
      continue;
    }
    if (isStream(op, operand) && getElementBytes(memory) > 0) {
      // Behind the last piece of a row lies the next row, or nothing at all,
      // which is harmless to ask for.
      SmallVector<Value> place =
          getValueOrCreateConstantIndexOp(b, op.getLoc(), at);
      Value column = place.back();
      for (int64_t element = 0; element < kPiece;
           element += kCacheLineBytes / getElementBytes(memory)) {
        place.back() =
            arith::AddIOp::create(b, column, constant(kAhead + element));
        memref::PrefetchOp::create(b, memory, place, op.isDpsInit(&operand),
                                   /*localityHint=*/3, /*isDataCache=*/true);
      }
    }
    operands.push_back(createWindow());
  }
  mlir::clone(b, op, TypeRange(), operands);
  for (LinePiece &piece : written)
    piece.write();
  op.erase();
  return !written.empty();
}

namespace {
struct PrefetchStreams
    : mlir::tracea::impl::PrefetchStreamsBase<PrefetchStreams> {
  using PrefetchStreamsBase::PrefetchStreamsBase;

  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(
        TraceaDialect::kTargetAttrName);
    if (!target || target.getL2() <= 0)
      return;
    SmallVector<linalg::LinalgOp> streams;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (getStreamedBytes(op) > target.getL2())
        streams.push_back(op);
    });
    for (linalg::LinalgOp op : streams) {
      numPast += emitPieces(op, target.getL2());
      ++numPrefetched;
    }
  }
};
} // namespace
