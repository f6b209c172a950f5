//===- Mma.cpp - Products of tiles as fused multiply-adds -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a multiply of tiles to a loop over k of rank-1 updates of the registers
// that hold the sums. Where the left operand is in registers itself, all steps
// stand behind one another.

#include "Patterns.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Analysis/DotProducts.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace hardware = ::tracea::target;

/// How many steps before its use a row of a panel is asked for: at 8 to 14
/// cycles each, well above the latency of the second level.
constexpr int64_t kStepsAhead = 16;

/// Whether a right operand is part of a panel that is read where it lies: its
/// rows follow one another, through tap after tap. It streams from the second
/// level past every tile of sums; left to the prefetchers of the processor its
/// loads wait several per cent of the time.
static bool isStreamedPanel(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return !isa_and_nonnull<StagedAttr>(type.getMemorySpace()) &&
         type.hasStaticShape() &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         ShapedType::isDynamic(offset) &&
         strides == ArrayRef<int64_t>{type.getDimSize(1), 1};
}

namespace {
/// Sums of dot products: a word of each row of the left operand in all lanes,
/// by a vector of words of the right one; or words of the rows of a block by
/// those of its columns, where a register of sums holds a block.
class WordProduct {
public:
  WordProduct(ImplicitLocOpBuilder &b, const hardware::DotProduct &dot,
              RankedTensorType accTile, Value lhs, Value rhs, Value depth)
      : b(b), dot(dot), lanes(getLanes(accTile)), sum(getRegisterType(accTile)),
        lhs(lhs), rhs(rhs), depth(depth) {
    Type element = cast<MemRefType>(rhs.getType()).getElementType();
    word = VectorType::get(dot.folded, element);
    words = VectorType::get(sum.getNumElements() * dot.folded / dot.tile.rows,
                            element);
  }

  SmallVector<Value> emit(ValueRange sums);
  /// Takes off `sums` what is too much where the left operand is in offset
  /// form: 128 times the sums of the right one's columns.
  void takeOffsets(MmaOp op, ConversionPatternRewriter &rewriter,
                   MutableArrayRef<Value> sums);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value multiply(Value sums, Value left, Value right) {
    StringAttr name = b.getStringAttr(
        llvm::StringRef(dot.intrinsic.data(), dot.intrinsic.size()));
    auto call = [&](ValueRange operands) {
      return LLVM::CallIntrinsicOp::create(b, Type(sum), name, operands)
          ->getResult(0);
    };
    if (dot.addsToSums)
      return call({sums, left, right});
    return arith::AddIOp::create(b, sums, call({left, right}));
  }
  /// A word of the row in all lanes.
  Value broadcastRow(Value k, int64_t row);
  /// Words of the rows of a block, side by side.
  Value loadRows(Value k, int64_t row);
  void joinRows();
  Value loadColumns(Value panel, Value k, int64_t column) {
    return vector::LoadOp::create(b, words, panel,
                                  ValueRange{k, constant(column * dot.folded)});
  }
  /// A right operand with the elements of a row's words in one dimension.
  Value collapseWords(Value operand) {
    return memref::CollapseShapeOp::create(
        b, operand, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
  }
  /// What is too much in the sums of each column, in their order; `operand` is
  /// the right one, or what another tap has in its place.
  SmallVector<Value> sumColumns(Value operand);
  /// The same of all taps, where loops over taps move the right operand within
  /// one that stays, and of the tap at hand: they are summed up outside of all
  /// loops, once for many rows. Nothing where it is not so.
  SmallVector<Value> sumColumnsOfTaps(MmaOp op,
                                      ConversionPatternRewriter &rewriter);
  /// The vectors of columns in the order of `sumColumns`.
  llvm::MapVector<int64_t, size_t> numberColumns() const {
    llvm::MapVector<int64_t, size_t> columns;
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
      columns.try_emplace(lanes.getCoordinate(reg, 0)[1], columns.size());
    return columns;
  }

  ImplicitLocOpBuilder &b;
  const hardware::DotProduct &dot;
  LanesAttr lanes;
  VectorType sum, word, words;
  Value lhs, rhs, depth;
  /// The left operand with words of all rows in one dimension, where they are
  /// neighbours.
  Value joinedRows;
};
} // namespace

SmallVector<Value> WordProduct::emit(ValueRange sums) {
  Value panel = collapseWords(rhs);
  if (dot.tile.rows > 1)
    joinRows();
  auto loop = scf::ForOp::create(b, constant(0), depth, constant(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  llvm::MapVector<int64_t, Value> rows, columns;
  SmallVector<Value> results;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
    SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
    Value &column = columns[at[1]];
    if (!column)
      column = loadColumns(panel, k, at[1]);
    Value &row = rows[at[0]];
    if (!row)
      row = dot.tile.rows > 1 ? loadRows(k, at[0]) : broadcastRow(k, at[0]);
    results.push_back(multiply(loop.getRegionIterArgs()[reg], row, column));
  }
  scf::YieldOp::create(b, results);
  return SmallVector<Value>(loop.getResults());
}

Value WordProduct::broadcastRow(Value k, int64_t row) {
  // A word of 32 bits in all lanes: one load.
  Value one = vector::LoadOp::create(b, word, lhs,
                                     ValueRange{constant(row), k, constant(0)});
  auto whole = VectorType::get(1, b.getI32Type());
  auto all = VectorType::get(sum.getShape(), whole.getElementType());
  one = vector::BitCastOp::create(b, whole, one);
  one = vector::ExtractOp::create(b, one, 0);
  return vector::BitCastOp::create(b, words,
                                   vector::BroadcastOp::create(b, all, one));
}

Value WordProduct::loadRows(Value k, int64_t row) {
  if (joinedRows)
    return vector::LoadOp::create(b, words, joinedRows,
                                  ValueRange{k, constant(row * dot.folded)});
  SmallVector<Value> parts;
  for (int64_t part = 0; part < dot.tile.rows; ++part)
    parts.push_back(vector::LoadOp::create(
        b, word, lhs, ValueRange{constant(row + part), k, constant(0)}));
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, words.getNumElements()));
  return vector::ShuffleOp::create(b, parts[0], parts[1], all);
}

void WordProduct::joinRows() {
  // In panels words of neighbouring rows are neighbours; pixels of a patch lie
  // apart.
  auto type = cast<MemRefType>(lhs.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      strides[0] != dot.folded || strides[2] != 1)
    return;
  auto order =
      AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0, 2}, b.getContext());
  joinedRows = memref::CollapseShapeOp::create(
      b, memref::TransposeOp::create(b, lhs, AffineMapAttr::get(order)),
      ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

SmallVector<Value> WordProduct::sumColumns(Value operand) {
  OpBuilder::InsertionGuard guard(b);
  Value panel = collapseWords(operand);
  llvm::MapVector<int64_t, size_t> columns = numberColumns();
  // 128 is what an element in offset form has too much, and the one of zero.
  Value offsets = arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             words, b.getIntegerAttr(words.getElementType(), -128)));
  // Several sums of each column, for one alone would wait for itself.
  auto sumUp = [&](Value from, Value to, int64_t steps, ValueRange begin) {
    auto loop = scf::ForOp::create(b, from, to, constant(steps), begin);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> results;
    for (int64_t step = 0; step < steps; ++step)
      for (auto [column, number] : columns)
        results.push_back(multiply(
            loop.getRegionIterArgs()[results.size()], offsets,
            loadColumns(panel, addIndex(b, loop.getInductionVar(), step),
                        column)));
    scf::YieldOp::create(b, results);
    return loop.getResults();
  };
  constexpr int64_t chains = 4;
  SmallVector<Value> zeros(chains * columns.size(), getZero(b, sum));
  Value rest = b.createOrFold<arith::RemUIOp>(depth, constant(chains));
  Value whole = b.createOrFold<arith::SubIOp>(depth, rest);
  SmallVector<Value> parts = sumUp(constant(0), whole, chains, zeros);
  for (size_t part = columns.size(); part < parts.size(); ++part) {
    Value &total = parts[part % columns.size()];
    total = arith::AddIOp::create(b, total, parts[part]);
  }
  parts.truncate(columns.size());
  return SmallVector<Value>(sumUp(whole, depth, 1, parts));
}

/// The outermost loop around `op` that neither of two values is defined in; the
/// operation itself where there is none.
static Operation *getOutermost(Operation *op, Value first, Value second) {
  while (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
    if (!loop.isDefinedOutsideOfLoop(first) ||
        !loop.isDefinedOutsideOfLoop(second))
      break;
    op = loop;
  }
  return op;
}

SmallVector<Value>
WordProduct::sumColumnsOfTaps(MmaOp op, ConversionPatternRewriter &rewriter) {
  // Vectors that are kept, at most.
  constexpr int64_t kMostVectors = 128;
  auto view = op.getRhs().getDefiningOp<ViewOp>();
  auto window = rhs.getDefiningOp<memref::ReinterpretCastOp>();
  SmallVector<int64_t> strides, steps;
  int64_t offset, any;
  if (!view || !window ||
      failed(cast<MemRefType>(window.getSource().getType())
                 .getStridesAndOffset(strides, offset)) ||
      offset != 0)
    return {};
  auto type = cast<MemRefType>(window.getType());
  if (!type.hasStaticShape() || failed(type.getStridesAndOffset(steps, any)) ||
      llvm::any_of(steps, ShapedType::isDynamic))
    return {};
  // The place that is held for reading, and not the memory it has: nobody fills
  // it as long as it is held.
  Operation *place = getOutermost(op, view.getSource(), depth);
  if (place == op)
    return {};
  auto source = cast<ShapedType>(view.getSource().getType());
  SmallVector<int64_t> dims;
  int64_t taps = 1;
  for (auto [dim, at] : llvm::enumerate(view.getOffsets())) {
    if (isConstantIntValue(at, 0))
      continue;
    int64_t extent = source.getDimSize(dim);
    if (view.getMap().getResult(dim) !=
            getAffineConstantExpr(0, b.getContext()) ||
        ShapedType::isDynamic(extent) || ShapedType::isDynamic(strides[dim]) ||
        extent > kMostVectors)
      return {};
    dims.push_back(dim);
    taps *= extent;
    if (taps > kMostVectors)
      return {};
  }
  llvm::MapVector<int64_t, size_t> columns = numberColumns();
  auto count = static_cast<int64_t>(columns.size());
  if (taps * count > kMostVectors)
    return {};

  // The number of a tap, and where its window begins.
  auto locate = [&](ValueRange at) {
    Value number = constant(0), begin = constant(0);
    for (auto [dim, value] : llvm::zip(dims, at)) {
      number = addIndex(b, mulIndex(b, number, source.getDimSize(dim)), value);
      begin = addIndex(b, begin, mulIndex(b, value, strides[dim]));
    }
    return std::pair(number, begin);
  };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(place);
  Value kept = memref::AllocaOp::create(b, MemRefType::get({taps, count}, sum));
  SmallVector<Value> at;
  for (int64_t dim : dims) {
    auto loop = scf::ForOp::create(
        b, constant(0), constant(source.getDimSize(dim)), constant(1));
    b.setInsertionPointToStart(loop.getBody());
    at.push_back(loop.getInductionVar());
  }
  auto [tap, begin] = locate(at);
  Value other = memref::ReinterpretCastOp::create(
      b, type, window.getSource(), OpFoldResult(begin),
      getAsIndexOpFoldResult(b.getContext(), type.getShape()),
      getAsIndexOpFoldResult(b.getContext(), steps));
  for (auto [number, total] : llvm::enumerate(sumColumns(other)))
    memref::StoreOp::create(
        b, total, kept,
        ValueRange{tap, constant(static_cast<int64_t>(number))});

  b.setInsertionPoint(op);
  SmallVector<Value> here;
  for (int64_t dim : dims)
    here.push_back(rewriter.getRemappedValue(view.getOffsets()[dim]));
  Value mine = locate(here).first;
  SmallVector<Value> totals;
  for (int64_t number = 0; number < count; ++number)
    totals.push_back(
        memref::LoadOp::create(b, kept, ValueRange{mine, constant(number)}));
  return totals;
}

void WordProduct::takeOffsets(MmaOp op, ConversionPatternRewriter &rewriter,
                              MutableArrayRef<Value> sums) {
  OpBuilder::InsertionGuard guard(b);
  // Columns are the same for all rows: outside of the loops that only go
  // through rows. What is held for reading outside of them nobody fills within.
  Operation *place = getOutermost(op, rhs, depth);
  SmallVector<Value> totals;
  if (place == op)
    totals = sumColumnsOfTaps(op, rewriter);
  if (totals.empty()) {
    b.setInsertionPoint(place);
    totals = sumColumns(rhs);
  }
  b.setInsertionPoint(op);
  llvm::MapVector<int64_t, size_t> columns = numberColumns();
  for (auto [reg, value] : llvm::enumerate(sums)) {
    size_t number = columns[lanes.getCoordinate(reg, 0)[1]];
    value = arith::SubIOp::create(b, value, totals[number]);
  }
}

/// How many steps further on a packed left operand is asked for, so that it has
/// come from the second level by then: broadcasts of neighbours are too narrow
/// for the first level's own prefetcher to keep up. 0 where the elements of a
/// step do not follow those of the step before it: rows that lie apart.
static int64_t getStepsAhead(MemRefType lhs) {
  constexpr int64_t kAheadBytes = 1024;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(lhs.getStridesAndOffset(strides, offset)) || strides[0] != 1 ||
      lhs.getDimSize(0) == 1 || strides[1] != lhs.getDimSize(0))
    return 0;
  int64_t bits = lhs.getElementType().getIntOrFloatBitWidth();
  return kAheadBytes * 8 / (bits * strides[1]);
}

namespace {
/// One rank-1 update a step: a vector of each column group of the right
/// operand, a broadcast element of each row of the left one.
struct LowerMma : OpConversionPattern<MmaOp> {
  LowerMma(const TypeConverter &converter, MLIRContext *mlirContext,
           VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto accTile = cast<RankedTensorType>(op.getAcc().getType());
    // A tile unit has a pattern of its own.
    if (getUnitRegisterType(context, accTile))
      return failure();
    LanesAttr lanes = getLanes(accTile);
    auto lhsType = cast<ShapedType>(op.getLhs().getType());
    auto rhsType = dyn_cast<MemRefType>(op.getRhs().getType());
    bool inRegisters = isRegisterTile(lhsType);
    if (!rhsType || (!inRegisters && !isa<MemRefType>(lhsType)))
      return op.emitOpError()
             << "expects its right operand in memory on a CPU, and its left "
                "one in memory or registers";
    if (getWordLength(lhsType) > 1)
      return lowerWords(b, op, adaptor, rewriter);
    SmallVector<int64_t> strides;
    int64_t offset;
    if ((lanes.getNumLanes() > 1 && lanes.getContiguousLaneDim() != 1) ||
        !lanes.hasSeparateLanes())
      return op.emitOpError() << "expects an accumulator whose lanes lie along "
                                 "its columns, found "
                              << lanes;
    if (failed(rhsType.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return op.emitOpError()
             << "expects contiguous rows in the right operand, "
                "found "
             << rhsType;

    Value rhs = adaptor.getRhs().front();
    Value depth;
    if (op.getDepth()) {
      depth = adaptor.getDepth().front();
    } else {
      int64_t extent = ShapedType::isDynamic(lhsType.getDimSize(1))
                           ? rhsType.getDimSize(0)
                           : lhsType.getDimSize(1);
      depth = arith::ConstantIndexOp::create(b, extent);
    }
    if (inRegisters && !getConstantIntValue(depth))
      return op.emitOpError() << "expects a constant depth where its left "
                                 "operand is in registers";
    // Of a tile in registers every element has its place.
    LeftOperand lhs;
    lhs.values = adaptor.getLhs();
    // Of vectors shorter than a line each would ask for half of one, and loads
    // are what such multiplies wait for.
    constexpr int64_t lineBits = 512;
    lhs.meetsStream =
        isStreamedPanel(rhsType) && context.vectorBits >= lineBits;
    if (auto left = dyn_cast<MemRefType>(lhsType))
      lhs.isStream = lhs.meetsStream && isStreamedPanel(left);
    if (inRegisters)
      lhs.places = getPlaces(cast<RankedTensorType>(lhsType));
    if (op.getLimits().empty()) {
      SmallVector<Value> sums =
          emitRows(b, op, adaptor.getAcc(), [&](RowSpan span) {
            return emitSums(b, accTile, span, lhs, rhs, depth, adaptor.getAcc(),
                            Value(), Value());
          });
      rewriter.replaceOpWithMultiple(op, {ValueRange(sums)});
      return success();
    }
    // Whole tiles read what they like; the others repeat their last row and
    // mask the columns.
    Value rows = op.getLimits()[0], columns = op.getLimits()[1];
    RowSpan all{0, accTile.getDimSize(0)};
    SmallVector<Value> sums = emitSpans(
        b, op, adaptor.getAcc(),
        [&](RowSpan span) -> Value {
          Value areRows = endsAt(b, span, all, rows);
          Value areColumns = compare(b, arith::CmpIPredicate::sge, columns,
                                     accTile.getDimSize(1));
          return arith::AndIOp::create(b, areRows, areColumns);
        },
        [&](RowSpan span) {
          return emitSums(b, accTile, span, lhs, rhs, depth, adaptor.getAcc(),
                          Value(), Value());
        },
        [&] {
          return emitSums(b, accTile, all, lhs, rhs, depth, adaptor.getAcc(),
                          rows, columns);
        });
    rewriter.replaceOpWithMultiple(op, {ValueRange(sums)});
    return success();
  }

private:
  /// Rows of a tile that are multiplied.
  struct RowSpan {
    int64_t first, end;
  };

  static Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate,
                       Value x, int64_t y) {
    return arith::CmpIOp::create(b, predicate, x,
                                 arith::ConstantIndexOp::create(b, y));
  }
  /// Whether the rows up to `end` end as `span` does: what is beyond `all` of
  /// them counts for nothing.
  static Value endsAt(ImplicitLocOpBuilder &b, RowSpan span, RowSpan all,
                      Value end) {
    bool isOpen = span.end == all.end;
    return compare(
        b, isOpen ? arith::CmpIPredicate::sge : arith::CmpIPredicate::eq, end,
        span.end);
  }

  /// Code for all rows and each of the operation's spans of them, where `is`
  /// says so, and for any others.
  SmallVector<Value>
  emitSpans(ImplicitLocOpBuilder &b, MmaOp op, ValueRange acc,
            function_ref<Value(RowSpan)> is,
            function_ref<SmallVector<Value>(RowSpan)> emit,
            function_ref<SmallVector<Value>()> emitAny) const {
    int64_t extent =
        cast<RankedTensorType>(op.getAcc().getType()).getDimSize(0);
    SmallVector<RowSpan> spans = {{0, extent}};
    ArrayRef<int64_t> listed = op.getSpans().value_or(ArrayRef<int64_t>());
    for (size_t i = 0; i < listed.size(); i += 2)
      spans.push_back({listed[i], listed[i + 1]});
    SmallVector<Type> types(acc.getTypes());
    scf::IfOp outermost;
    OpBuilder::InsertionGuard guard(b);
    for (RowSpan span : spans) {
      auto ifOp =
          scf::IfOp::create(b, types, is(span), /*withElseRegion=*/true);
      if (outermost)
        scf::YieldOp::create(b, ifOp.getResults());
      else
        outermost = ifOp;
      b.setInsertionPointToStart(ifOp.thenBlock());
      scf::YieldOp::create(b, emit(span));
      b.setInsertionPointToStart(ifOp.elseBlock());
    }
    scf::YieldOp::create(b, emitAny());
    return SmallVector<Value>(outermost.getResults());
  }

  /// Code for all rows, for each span, and for any: what is not in them is
  /// kept.
  SmallVector<Value>
  emitRows(ImplicitLocOpBuilder &b, MmaOp op, ValueRange acc,
           function_ref<SmallVector<Value>(RowSpan)> emit) const {
    auto tile = cast<RankedTensorType>(op.getAcc().getType());
    LanesAttr lanes = getLanes(tile);
    int64_t extent = tile.getDimSize(0);
    // Indices stay what they are.
    ValueRange rows = op.getRows();
    if (rows.empty())
      return emit({0, extent});
    RowSpan all{0, extent};
    return emitSpans(
        b, op, acc,
        [&](RowSpan span) -> Value {
          Value first = compare(b,
                                span.first == 0 ? arith::CmpIPredicate::sle
                                                : arith::CmpIPredicate::eq,
                                rows[0], span.first);
          Value end = endsAt(b, span, all, rows[1]);
          return arith::AndIOp::create(b, first, end);
        },
        emit,
        [&] {
          SmallVector<Value> sums = emit({0, extent});
          for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
            int64_t row = lanes.getCoordinate(reg, 0)[0];
            Value isIn = arith::AndIOp::create(
                b, compare(b, arith::CmpIPredicate::sle, rows[0], row),
                compare(b, arith::CmpIPredicate::sgt, rows[1], row));
            sums[reg] = arith::SelectOp::create(b, isIn, sums[reg], acc[reg]);
          }
          return sums;
        });
  }

  /// Words by dot products.
  LogicalResult lowerWords(ImplicitLocOpBuilder &b, MmaOp op,
                           OneToNOpAdaptor adaptor,
                           ConversionPatternRewriter &rewriter) const {
    auto lhsType = cast<ShapedType>(op.getLhs().getType());
    auto rhsType = cast<MemRefType>(op.getRhs().getType());
    auto accTile = cast<RankedTensorType>(op.getAcc().getType());
    LanesAttr lanes = getLanes(accTile);
    if (!op.getRows().empty())
      return op.emitOpError() << "expects all rows where its operands are "
                                 "packed in words";
    const hardware::DotProduct *dot =
        getWordProduct(context.target, rhsType.getElementType(), accTile);
    if (!dot || dot->folded != getWordLength(lhsType))
      return op.emitOpError()
             << "expects a target with dot products of "
             << getWordLength(lhsType) << " elements of "
             << rhsType.getElementType() << ", found "
             << (context.target ? context.target.getName() : "none");
    if (dot->isFirstUnsigned != isOffsetForm(lhsType.getElementType()))
      return op.emitOpError()
             << "expects its left operand "
             << (dot->isFirstUnsigned ? "in offset form (ui8)" : "signed")
             << " on this target, found " << lhsType;
    bool hasBlocks = dot->tile.rows > 1;
    ArrayRef<int64_t> shape = accTile.getShape();
    if (hasBlocks && (shape[0] % dot->tile.rows || shape[1] % dot->columns() ||
                      lanes != getUnitLanes(b.getContext(), *dot, shape)))
      return op.emitOpError()
             << "expects an accumulator whose registers are blocks of "
             << dot->tile.rows << " x " << dot->columns() << ", found "
             << lanes;
    if (!hasBlocks &&
        (lanes.getNumLanes() != dot->lanes() ||
         lanes.getContiguousLaneDim() != 1 || !lanes.hasSeparateLanes()))
      return op.emitOpError()
             << "expects an accumulator whose " << dot->lanes()
             << " lanes lie along its columns, found " << lanes;
    Value depth = op.getDepth()
                      ? adaptor.getDepth().front()
                      : arith::ConstantIndexOp::create(b, rhsType.getDimSize(0))
                            .getResult();
    WordProduct product(b, *dot, accTile, adaptor.getLhs().front(),
                        adaptor.getRhs().front(), depth);
    SmallVector<Value> sums(adaptor.getAcc());
    if (dot->isFirstUnsigned)
      product.takeOffsets(op, rewriter, sums);
    sums = product.emit(sums);
    rewriter.replaceOpWithMultiple(op, {ValueRange(sums)});
    return success();
  }

  /// A memref, or the registers of a tile with the place of each element.
  struct LeftOperand {
    ValueRange values;
    /// Whether the right operand streams by, and this one as well: pixels of an
    /// image in place, with all of their channels.
    bool meetsStream = false, isStream = false;
    DenseMap<std::pair<int64_t, int64_t>, std::pair<int64_t, int64_t>> places;
  };
  /// In which register and lane each element of a tile of rank 2 is.
  static decltype(LeftOperand::places) getPlaces(RankedTensorType tile) {
    decltype(LeftOperand::places) places;
    LanesAttr lanes = getLanes(tile);
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
      for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane) {
        SmallVector<int64_t> at = lanes.getCoordinate(reg, lane);
        places.try_emplace({at[0], at[1]}, std::pair(reg, lane));
      }
    return places;
  }

  /// What does not change with k: the row that each broadcast reads, and the
  /// masks of columns.
  struct Edges {
    llvm::MapVector<int64_t, Value> rows, masks;
    bool cutsColumns = false;
    bool isStreamed = false;
  };

  /// The sums over k of the rows in `span`, and the others as they are;
  /// `rowLimit` and `columnLimit` limit what is read, if given.
  SmallVector<Value> emitSums(ImplicitLocOpBuilder &b, RankedTensorType accTile,
                              RowSpan span, const LeftOperand &lhs, Value rhs,
                              Value depth, ValueRange acc, Value rowLimit,
                              Value columnLimit) const {
    LanesAttr lanes = getLanes(accTile);
    VectorType vector = getRegisterType(accTile);
    Edges edges;
    edges.cutsColumns = static_cast<bool>(columnLimit);
    edges.isStreamed = lhs.meetsStream;
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    bool inRegisters = !lhs.places.empty();
    // Without rows there is no last one to repeat.
    if (rowLimit) {
      Value some =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, rowLimit, one);
      if (!inRegisters)
        depth = arith::SelectOp::create(b, some, depth, zero);
      columnLimit =
          clipLimit(b, b.getLoc(), columnLimit, accTile.getDimSize(1));
    }
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      Value &row = edges.rows[at[0]];
      if (!row) {
        row = arith::ConstantIndexOp::create(b, at[0]);
        if (rowLimit)
          row = arith::MinSIOp::create(b, row,
                                       arith::SubIOp::create(b, rowLimit, one));
      }
      Value &mask = edges.masks[at[1]];
      if (columnLimit && !mask)
        mask = vector::CreateMaskOp::create(
            b, VectorType::get(vector.getShape(), b.getI1Type()),
            ValueRange(addIndex(b, columnLimit, -at[1])));
    }

    // Which register an element is in is known only of a k that is.
    if (inRegisters) {
      SmallVector<Value> sums(acc);
      int64_t steps = std::max<int64_t>(*getConstantIntValue(depth), 0);
      for (int64_t k = 0; k < steps; ++k) {
        auto loadRow = [&](int64_t row) -> Value {
          auto [reg, lane] = lhs.places.find({row, k})->second;
          return vector::ExtractOp::create(b, lhs.values[reg], lane);
        };
        sums = emitStep(
            b, accTile,
            llvm::to_vector(llvm::seq<int64_t>(0, lanes.getNumRegisters())),
            loadRow, rhs, arith::ConstantIndexOp::create(b, k), edges, sums);
      }
      return sums;
    }
    SmallVector<int64_t> registers;
    SmallVector<Value> start, sums(acc);
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      int64_t row = lanes.getCoordinate(reg, 0)[0];
      if (row < span.first || row >= span.end)
        continue;
      registers.push_back(reg);
      start.push_back(acc[reg]);
    }
    auto loop = scf::ForOp::create(b, zero, depth, one, start);
    for (auto [reg, sum] : llvm::zip(registers, loop.getResults()))
      sums[reg] = sum;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    Value left = lhs.values.front();
    if (lhs.isStream && !rowLimit)
      prefetchNextRows(b, left, k);
    else if (int64_t steps = getStepsAhead(cast<MemRefType>(left.getType())))
      memref::PrefetchOp::create(
          b, left, ValueRange{zero, addIndex(b, k, steps)}, /*isWrite=*/false,
          /*localityHint=*/3, /*isDataCache=*/true);
    auto loadRow = [&](int64_t row) -> Value {
      return memref::LoadOp::create(b, left, ValueRange{edges.rows[row], k});
    };
    scf::YieldOp::create(b, emitStep(b, accTile, registers, loadRow, rhs, k,
                                     edges, loop.getRegionIterArgs()));
    return sums;
  }

  /// Asks for a share of the rows behind these, which the next tile reads: in
  /// each step for as much of what lies there as the step takes of these. All
  /// at once there would be more requests than the first level can have open.
  static void prefetchNextRows(ImplicitLocOpBuilder &b, Value rows, Value k) {
    int64_t count = cast<MemRefType>(rows.getType()).getDimSize(0);
    Value behind = arith::ConstantIndexOp::create(b, count);
    memref::PrefetchOp::create(
        b, rows, ValueRange{behind, mulIndex(b, k, count)}, /*isWrite=*/false,
        /*localityHint=*/3, /*isDataCache=*/true);
  }

  /// One rank-1 update of the sums in `registers`.
  SmallVector<Value> emitStep(ImplicitLocOpBuilder &b, RankedTensorType accTile,
                              ArrayRef<int64_t> registers,
                              function_ref<Value(int64_t)> loadRow, Value rhs,
                              Value k, Edges &edges, ValueRange sums) const {
    LanesAttr lanes = getLanes(accTile);
    VectorType vector = getRegisterType(accTile);
    Type accType = accTile.getElementType();
    Type rhsElement = cast<MemRefType>(rhs.getType()).getElementType();
    auto loadType = VectorType::get(vector.getShape(), rhsElement);
    llvm::MapVector<int64_t, Value> rows, columns;
    SmallVector<Value> results;
    for (auto [number, reg] : llvm::enumerate(registers)) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      Value &column = columns[at[1]];
      if (!column) {
        Value j = arith::ConstantIndexOp::create(b, at[1]);
        // Behind the last row it is the next tap's, or nothing is read.
        if (edges.isStreamed)
          memref::PrefetchOp::create(
              b, rhs, ValueRange{addIndex(b, k, kStepsAhead), j},
              /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
        Value loaded;
        if (edges.cutsColumns)
          loaded = vector::MaskedLoadOp::create(
              b, loadType, rhs, ValueRange{k, j}, edges.masks[at[1]],
              getZero(b, loadType));
        else
          loaded = vector::LoadOp::create(b, loadType, rhs, ValueRange{k, j});
        column = convertElements(b, loaded, accType);
      }
      Value &row = rows[at[0]];
      if (!row)
        row = vector::BroadcastOp::create(
            b, vector, convertElements(b, loadRow(at[0]), accType));
      Value sum = sums[number];
      if (!isa<FloatType>(accType))
        sum = arith::AddIOp::create(b, sum,
                                    arith::MulIOp::create(b, row, column));
      else if (context.hasFma)
        sum = vector::FMAOp::create(b, row, column, sum);
      else
        sum = arith::AddFOp::create(b, sum,
                                    arith::MulFOp::create(b, row, column));
      results.push_back(sum);
    }
    return results;
  }

  VectorLoweringContext &context;
};
} // namespace

void mlir::tracea_pipe::populateMmaPatterns(const TypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            VectorLoweringContext &context) {
  patterns.add<LowerMma>(converter, patterns.getContext(), context);
}
