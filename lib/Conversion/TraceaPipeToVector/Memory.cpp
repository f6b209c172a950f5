//===- Memory.cpp - Loads, stores and views of tiles ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A tile access has two forms: whole tiles go by plain vector loads and stores;
// at the edges, where a limit cuts the tile, by masked ones. Which form runs is
// decided once for a tile. Loads with padded dimensions are masked always: who
// builds them knows a border from the rest, and decides for many at once. Many
// elements that lie apart are loaded and stored by loops, in one form for both.

#include "Patterns.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/Utils/PastCaches.h"
#include "tracea/Dialect/TraceaPipe/Utils/Requests.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// How the lanes of a register lie in memory.
enum class LaneAccess {
  /// All lanes address one element.
  Uniform,
  /// Consecutive lanes address consecutive elements.
  Contiguous,
  /// Anything else: one element at a time.
  Scattered
};

/// An access to a tile, and what of it can be whole vectors.
class TileAccess {
public:
  TileAccess(ImplicitLocOpBuilder &b, RankedTensorType tile, Value buffer,
             Operation *op)
      : b(b), tile(tile), lanes(getLanes(tile)),
        memory(cast<MemRefType>(buffer.getType())), buffer(buffer),
        transfer(*getTileTransfer(op)), limits(transfer.limits),
        laneSteps(getLaneSteps()), kind(classify()) {}

  int64_t getNumRegisters() const { return lanes.getNumRegisters(); }

  /// True when no limit cuts the tile; null when there are no limits or they
  /// are known to lie beyond it.
  Value isWhole();
  bool isPadded() const { return !transfer.padded.empty(); }

  Value load(int64_t reg);
  Value loadMasked(int64_t reg, Value padding);
  void store(int64_t reg, Value value);
  void storeMasked(int64_t reg, Value value);

  /// Whether so many elements lie apart that code for each would be thousands
  /// of blocks, where a loop can go through the lanes of a register.
  bool loopsOverLanes() const;
  /// The same by such loops, for whole tiles and at the edges.
  Value loadByLoop(int64_t reg, Value padding);
  void storeByLoop(int64_t reg, Value value);

  /// Whether the registers of a tile whose first element begins a line are
  /// parts of lines.
  bool hasWholeLines() const;
  Value beginsLine();
  /// A store of a register whose first element it is.
  void storePastCaches(int64_t reg, Value value);

private:
  int64_t getRegisterBytes() const {
    return lanes.getNumLanes() * tile.getElementTypeBitWidth() / 8;
  }
  /// Both of two conditions, of which the first may be missing.
  Value conjoin(Value one, Value other) {
    return one ? Value(arith::AndIOp::create(b, one, other)) : other;
  }
  LaneAccess classify() const;
  /// What the indices in memory change by from each lane to the next; nothing
  /// where no numbers say that.
  std::optional<SmallVector<int64_t>> getLaneSteps() const;
  SmallVector<Value> address(int64_t reg, int64_t lane) {
    return getElementIndices(b, transfer, lanes.getCoordinate(reg, lane));
  }
  /// The same, or where it lies outside of the memory in a padded dimension, a
  /// place at that end of it.
  SmallVector<Value> addressInMemory(int64_t reg, int64_t lane);
  /// Whether the element of `lane` lies below all limits, and inside of the
  /// memory in all padded dimensions; null where nothing can leave it out.
  Value isInside(int64_t reg, int64_t lane);
  /// Whether it lies inside of the memory in all padded dimensions.
  Value isInMemory(int64_t reg, int64_t lane);
  /// Whether the lanes of a register have one index in a dimension of memory.
  bool isSameForLanes(int64_t dim) const;
  bool isPaddedAcrossLanes() const {
    return llvm::any_of(transfer.padded,
                        [&](int64_t dim) { return !isSameForLanes(dim); });
  }
  /// The lanes of a register for which `isInside` holds.
  Value getMask(int64_t reg);
  /// Those below all limits; null where there are none.
  Value getMaskOfLimits(int64_t reg, unsigned laneDim);
  /// How many there are of the first lanes, or more, or less than none.
  Value countBelowLimits(int64_t reg, unsigned laneDim);
  /// Goes through the lanes that `isInside` holds for, which are the first.
  scf::ForOp loopOverLanes(int64_t reg, ValueRange carried);
  /// The address of the lane that such a loop is at.
  SmallVector<Value> addressInLoop(int64_t reg, Value lane);

  ImplicitLocOpBuilder &b;
  RankedTensorType tile;
  LanesAttr lanes;
  MemRefType memory;
  Value buffer;
  TileTransfer transfer;
  ValueRange limits;
  std::optional<SmallVector<int64_t>> laneSteps;
  LaneAccess kind;
};
} // namespace

LaneAccess TileAccess::classify() const {
  // Elements that do not fill their bytes lie apart in memory, but packed in a
  // vector; and a map that mixes the bits of lanes and registers has no rule
  // that is the same for all registers.
  Type elementType = tile.getElementType();
  bool byteSized = elementType.isIndex();
  if (!byteSized) {
    unsigned bits = elementType.getIntOrFloatBitWidth();
    byteSized = bits >= 8 && llvm::isPowerOf2_32(bits);
  }
  if (!lanes.hasSeparateLanes())
    return LaneAccess::Scattered;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memory.getStridesAndOffset(strides, offset)))
    return LaneAccess::Scattered;
  if (!laneSteps)
    return LaneAccess::Scattered;
  auto isZero = [](int64_t step) { return step == 0; };
  if (llvm::all_of(*laneSteps, isZero))
    return LaneAccess::Uniform;
  if (byteSized && laneSteps->back() == 1 && strides.back() == 1 &&
      llvm::all_of(ArrayRef(*laneSteps).drop_back(), isZero))
    return LaneAccess::Contiguous;
  return LaneAccess::Scattered;
}

std::optional<SmallVector<int64_t>> TileAccess::getLaneSteps() const {
  SmallVector<int64_t> steps(memory.getRank(), 0);
  SmallVector<int64_t> origin = lanes.getCoordinate(0, 0);
  AffineMap map = transfer.map;
  SmallVector<MapInput> inputs = getMapInputs(transfer);
  for (int64_t lane = 1; lane < lanes.getNumLanes(); ++lane) {
    SmallVector<int64_t> at = lanes.getCoordinate(0, lane);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      LinearForm form = getLinearForm(expr, map.getNumDims());
      int64_t moved = 0;
      for (auto [coefficient, input] : llvm::zip(form.coefficients, inputs)) {
        int64_t distance = at[input.dim] - origin[input.dim];
        // Where a walk leads only the run knows.
        if (input.walk >= 0 && coefficient != 0 && distance != 0)
          return std::nullopt;
        moved += coefficient * distance;
      }
      if (lane == 1)
        steps[dim] = moved;
      else if (moved != lane * steps[dim])
        return std::nullopt;
    }
  }
  return steps;
}

Value TileAccess::isWhole() {
  Value whole;
  for (auto [limit, extent] : llvm::zip(limits, tile.getShape())) {
    if (std::optional<int64_t> known =
            getConstantIntValue(getAsOpFoldResult(limit)))
      if (*known >= extent)
        continue;
    Value bound = arith::ConstantIndexOp::create(b, extent);
    whole = conjoin(whole, arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                                 limit, bound));
  }
  return whole;
}

Value TileAccess::isInside(int64_t reg, int64_t lane) {
  Value inside = isInMemory(reg, lane);
  for (auto [limit, coordinate] :
       llvm::zip(limits, lanes.getCoordinate(reg, lane))) {
    Value at = arith::ConstantIndexOp::create(b, coordinate);
    inside = conjoin(
        inside, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, limit));
  }
  return inside;
}

Value TileAccess::isInMemory(int64_t reg, int64_t lane) {
  Value inside;
  if (transfer.padded.empty())
    return inside;
  SmallVector<Value> at = address(reg, lane);
  for (int64_t dim : transfer.padded) {
    // A negative index is a large one without a sign.
    Value extent = b.createOrFold<memref::DimOp>(buffer, dim);
    inside = conjoin(inside, arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                                   at[dim], extent));
  }
  return inside;
}

SmallVector<Value> TileAccess::addressInMemory(int64_t reg, int64_t lane) {
  SmallVector<Value> at = address(reg, lane);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  for (int64_t dim : transfer.padded) {
    Value extent = b.createOrFold<memref::DimOp>(buffer, dim);
    Value last = addIndex(b, extent, -1);
    at[dim] = b.createOrFold<arith::MinSIOp>(at[dim], last);
    at[dim] = b.createOrFold<arith::MaxSIOp>(at[dim], zero);
  }
  return at;
}

bool TileAccess::isSameForLanes(int64_t dim) const {
  AffineMap map = transfer.map;
  LinearForm form = getLinearForm(map.getResult(dim), map.getNumDims());
  SmallVector<int64_t> origin = lanes.getCoordinate(0, 0);
  for (int64_t lane = 1; lane < lanes.getNumLanes(); ++lane) {
    SmallVector<int64_t> at = lanes.getCoordinate(0, lane);
    for (auto [coefficient, input] :
         llvm::zip(form.coefficients, getMapInputs(transfer)))
      if (coefficient != 0 && at[input.dim] != origin[input.dim])
        return false;
  }
  return true;
}

Value TileAccess::getMask(int64_t reg) {
  auto maskType = VectorType::get(lanes.getNumLanes(), b.getI1Type());
  std::optional<unsigned> laneDim = lanes.getContiguousLaneDim();
  if (!laneDim || !lanes.hasSeparateLanes() || isPaddedAcrossLanes()) {
    Value mask = getZero(b, maskType);
    for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane)
      mask = vector::InsertOp::create(b, isInside(reg, lane), mask, lane);
    return mask;
  }
  Value mask = getMaskOfLimits(reg, *laneDim);
  // A register lies in memory, or none of it does.
  if (Value inside = isInMemory(reg, 0))
    mask = conjoin(mask, vector::BroadcastOp::create(b, maskType, inside));
  return mask;
}

Value TileAccess::getMaskOfLimits(int64_t reg, unsigned laneDim) {
  if (limits.empty())
    return Value();
  auto maskType = VectorType::get(lanes.getNumLanes(), b.getI1Type());
  return vector::CreateMaskOp::create(
      b, maskType, ValueRange(countBelowLimits(reg, laneDim)));
}

Value TileAccess::countBelowLimits(int64_t reg, unsigned laneDim) {
  // Lanes below limit - coordinate, none if another dimension is cut.
  SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
  // Clipped, since the machine compares lanes with 32 bits of a number.
  Value limit =
      clipLimit(b, b.getLoc(), limits[laneDim], tile.getDimSize(laneDim));
  Value count = addIndex(b, limit, -at[laneDim]);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  for (auto [dim, limit] : llvm::enumerate(limits)) {
    if (dim == laneDim)
      continue;
    Value coordinate = arith::ConstantIndexOp::create(b, at[dim]);
    Value below =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, coordinate, limit);
    count = arith::SelectOp::create(b, below, count, zero);
  }
  return count;
}

bool TileAccess::loopsOverLanes() const {
  constexpr int64_t most = 512;
  return kind == LaneAccess::Scattered && tile.getNumElements() > most &&
         lanes.hasSeparateLanes() && lanes.getContiguousLaneDim() &&
         !isPaddedAcrossLanes() && laneSteps;
}

scf::ForOp TileAccess::loopOverLanes(int64_t reg, ValueRange carried) {
  Value all = arith::ConstantIndexOp::create(b, lanes.getNumLanes());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value count = all;
  if (!limits.empty())
    count = arith::MinSIOp::create(
        b, all, countBelowLimits(reg, *lanes.getContiguousLaneDim()));
  if (Value inside = isInMemory(reg, 0))
    count = arith::SelectOp::create(b, inside, count, zero);
  Value one = arith::ConstantIndexOp::create(b, 1);
  return scf::ForOp::create(b, zero, count, one, carried);
}

SmallVector<Value> TileAccess::addressInLoop(int64_t reg, Value lane) {
  SmallVector<Value> at = address(reg, 0);
  for (auto [index, step] : llvm::zip_equal(at, *laneSteps)) {
    if (step == 0)
      continue;
    Value factor = arith::ConstantIndexOp::create(b, step);
    index = arith::AddIOp::create(b, index,
                                  b.createOrFold<arith::MulIOp>(lane, factor));
  }
  return at;
}

Value TileAccess::loadByLoop(int64_t reg, Value padding) {
  Value rest = vector::BroadcastOp::create(b, getRegisterType(tile), padding);
  scf::ForOp loop = loopOverLanes(reg, rest);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value lane = loop.getInductionVar();
  Value element = memref::LoadOp::create(b, buffer, addressInLoop(reg, lane));
  Value result = vector::InsertOp::create(b, element, loop.getRegionIterArg(0),
                                          OpFoldResult(lane));
  scf::YieldOp::create(b, result);
  return loop.getResult(0);
}

void TileAccess::storeByLoop(int64_t reg, Value value) {
  scf::ForOp loop = loopOverLanes(reg, {});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value lane = loop.getInductionVar();
  Value element = vector::ExtractOp::create(b, value, OpFoldResult(lane));
  memref::StoreOp::create(b, element, buffer, addressInLoop(reg, lane));
}

Value TileAccess::load(int64_t reg) {
  VectorType type = getRegisterType(tile);
  switch (kind) {
  case LaneAccess::Uniform:
    return vector::BroadcastOp::create(
        b, type, memref::LoadOp::create(b, buffer, address(reg, 0)));
  case LaneAccess::Contiguous:
    return vector::LoadOp::create(b, type, buffer, address(reg, 0));
  case LaneAccess::Scattered:
    break;
  }
  Value result = getZero(b, type);
  for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane) {
    Value element = memref::LoadOp::create(b, buffer, address(reg, lane));
    result = vector::InsertOp::create(b, element, result, lane);
  }
  return result;
}

Value TileAccess::loadMasked(int64_t reg, Value padding) {
  VectorType type = getRegisterType(tile);
  Value rest = vector::BroadcastOp::create(b, type, padding);
  // A load that is masked out asks for its memory all the same, and takes its
  // time where nothing is mapped. Where lanes are padded there is no one place.
  if (kind == LaneAccess::Contiguous) {
    SmallVector<Value> at =
        isPaddedAcrossLanes() ? address(reg, 0) : addressInMemory(reg, 0);
    return vector::MaskedLoadOp::create(b, type, buffer, at, getMask(reg),
                                        rest);
  }
  auto loadIf = [&](Value inside, int64_t lane) -> Value {
    auto ifOp = scf::IfOp::create(b, TypeRange(type.getElementType()), inside,
                                  /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    Value element = memref::LoadOp::create(b, buffer, address(reg, lane));
    scf::YieldOp::create(b, element);
    b.setInsertionPointToStart(ifOp.elseBlock());
    scf::YieldOp::create(b, padding);
    return ifOp.getResult(0);
  };
  if (kind == LaneAccess::Uniform) {
    // Lane 0 has the lowest coordinates, so it is inside if any lane is.
    Value element = loadIf(isInside(reg, 0), 0);
    Value all = vector::BroadcastOp::create(b, type, element);
    return arith::SelectOp::create(b, getMask(reg), all, rest);
  }
  Value result = rest;
  for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane)
    result = vector::InsertOp::create(b, loadIf(isInside(reg, lane), lane),
                                      result, lane);
  return result;
}

bool TileAccess::hasWholeLines() const {
  auto column = dyn_cast<AffineDimExpr>(transfer.map.getResults().back());
  int64_t bytes = getRegisterBytes();
  if (kind != LaneAccess::Contiguous || !column || !transfer.along.empty() ||
      bytes < 32 || kCacheLineBytes % bytes)
    return false;
  return llvm::all_of(llvm::seq(getNumRegisters()), [&](int64_t reg) {
    return lanes.getCoordinate(reg, 0)[column.getPosition()] %
               lanes.getNumLanes() ==
           0;
  });
}

Value TileAccess::beginsLine() {
  // Rows are whole lines.
  return beginsCacheLine(b, buffer, address(0, 0).back());
}

void TileAccess::storePastCaches(int64_t reg, Value value) {
  vector::StoreOp::create(b, value, buffer, address(reg, 0),
                          /*nontemporal=*/true,
                          llvm::Align(getRegisterBytes()));
}

void TileAccess::store(int64_t reg, Value value) {
  if (kind == LaneAccess::Contiguous) {
    vector::StoreOp::create(b, value, buffer, address(reg, 0));
    return;
  }
  for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane) {
    Value element = vector::ExtractOp::create(b, value, lane);
    memref::StoreOp::create(b, element, buffer, address(reg, lane));
    if (kind == LaneAccess::Uniform)
      return;
  }
}

void TileAccess::storeMasked(int64_t reg, Value value) {
  if (kind == LaneAccess::Contiguous) {
    vector::MaskedStoreOp::create(b, buffer, address(reg, 0), getMask(reg),
                                  value);
    return;
  }
  for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane) {
    auto ifOp = scf::IfOp::create(b, isInside(reg, lane), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    Value element = vector::ExtractOp::create(b, value, lane);
    memref::StoreOp::create(b, element, buffer, address(reg, lane));
    if (kind == LaneAccess::Uniform)
      return;
  }
}

namespace {
struct LowerLoad : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    Value buffer = adaptor.getSource().front();
    if (!isa<MemRefType>(buffer.getType()))
      return op.emitOpError() << "of a staged tile; run "
                                 "tracea-pipeline-kernels first";
    TileAccess access(b, tile, buffer, op);
    auto loadAll = [&]() {
      SmallVector<Value> values;
      for (int64_t reg = 0; reg < access.getNumRegisters(); ++reg)
        values.push_back(access.load(reg));
      return values;
    };
    Value padding = op.getPadding();
    if (!padding)
      padding = getZero(b, tile.getElementType());
    auto loadMasked = [&]() {
      SmallVector<Value> values;
      for (int64_t reg = 0; reg < access.getNumRegisters(); ++reg)
        values.push_back(access.loadMasked(reg, padding));
      return values;
    };
    if (access.loopsOverLanes()) {
      SmallVector<Value> values;
      for (int64_t reg = 0; reg < access.getNumRegisters(); ++reg)
        values.push_back(access.loadByLoop(reg, padding));
      rewriter.replaceOpWithMultiple(op, {ValueRange(values)});
      return success();
    }
    Value whole = access.isPadded() ? Value() : access.isWhole();
    if (!whole) {
      SmallVector<Value> values = access.isPadded() ? loadMasked() : loadAll();
      rewriter.replaceOpWithMultiple(op, {ValueRange(values)});
      return success();
    }
    SmallVector<Type> types(access.getNumRegisters(), getRegisterType(tile));
    auto ifOp = scf::IfOp::create(b, types, whole, /*withElseRegion=*/true);
    b.setInsertionPointToStart(ifOp.thenBlock());
    scf::YieldOp::create(b, loadAll());
    b.setInsertionPointToStart(ifOp.elseBlock());
    scf::YieldOp::create(b, loadMasked());
    rewriter.replaceOpWithMultiple(op, {ifOp.getResults()});
    return success();
  }
};

struct LowerStore : OpConversionPattern<StoreOp> {
  LowerStore(const TypeConverter &converter, MLIRContext *mlirContext,
             const VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto tile = cast<RankedTensorType>(op.getValue().getType());
    Value buffer = adaptor.getDest().front();
    TileAccess access(b, tile, buffer, op);
    auto storeLines = [&](bool pastCaches) {
      for (auto [reg, value] : llvm::enumerate(adaptor.getValue()))
        if (pastCaches)
          access.storePastCaches(reg, value);
        else
          access.store(reg, value);
    };
    auto storeAll = [&]() {
      if (!context.pastCaches.contains(op) || !access.hasWholeLines())
        return storeLines(/*pastCaches=*/false);
      auto ifOp = scf::IfOp::create(b, access.beginsLine(),
                                    /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ifOp.thenBlock());
      storeLines(/*pastCaches=*/true);
      b.setInsertionPointToStart(ifOp.elseBlock());
      storeLines(/*pastCaches=*/false);
    };
    if (access.loopsOverLanes()) {
      for (auto [reg, value] : llvm::enumerate(adaptor.getValue()))
        access.storeByLoop(reg, value);
    } else if (Value whole = access.isWhole()) {
      auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
      b.setInsertionPointToStart(ifOp.thenBlock());
      storeAll();
      b.setInsertionPointToStart(ifOp.elseBlock());
      for (auto [reg, value] : llvm::enumerate(adaptor.getValue()))
        access.storeMasked(reg, value);
    } else {
      storeAll();
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  const VectorLoweringContext &context;
};

/// Whether a row of a matrix may begin within a line of `bytes`: where rows are
/// not whole lines apart, as far as the type tells. Memory begins at a line.
static bool rowsMayBeginWithinLines(MemRefType memory, int64_t bytes) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (memory.getRank() < 2 || !memory.getElementType().isIntOrFloat() ||
      failed(memory.getStridesAndOffset(strides, offset)))
    return false;
  int64_t bits = memory.getElementType().getIntOrFloatBitWidth();
  return llvm::any_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
    return ShapedType::isDynamic(stride) || stride * bits % (8 * bytes) != 0;
  });
}

/// More requests than these are a loop.
constexpr int64_t kMostUnrolled = 64;

/// One request for each cache line that a row of the tile begins or crosses.
struct LowerPrefetch : OpConversionPattern<PrefetchOp> {
  LowerPrefetch(const TypeConverter &converter, MLIRContext *mlirContext,
                const VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(PrefetchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (context.pastCaches.contains(op)) {
      rewriter.eraseOp(op);
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value buffer = adaptor.getSource().front();
    auto memory = cast<MemRefType>(buffer.getType());
    int64_t step = getLineElements(buffer);
    ArrayRef<int64_t> shape = op.getShape();
    SmallVector<int64_t> at(shape.size(), 0);
    // The nearer the cache, the greater the locality: 3 is the first level.
    unsigned locality = 4 - op.getLevel();
    // Rows that may begin within a line end in one more.
    bool mayBeginWithin = rowsMayBeginWithinLines(memory, kCacheLineBytes);
    // Of many the places of the first dimension with several are a loop.
    Request request = Request::of(op);
    request.limits.clear();
    OpBuilder::InsertionGuard guard(b);
    if (request.countLines() > kMostUnrolled) {
      auto constant = [&](int64_t value) -> Value {
        return arith::ConstantIndexOp::create(b, value);
      };
      const int64_t *extent =
          llvm::find_if(shape, [](int64_t extent) { return extent > 1; });
      bool isRow = extent + 1 == shape.end();
      int64_t count = isRow ? request.countLines() : *extent;
      auto loop =
          scf::ForOp::create(b, constant(0), constant(count), constant(1));
      b.setInsertionPointToStart(loop.getBody());
      request = request.getShare(b, loop.getInductionVar(), count);
      shape = request.shape;
    }
    // Requests past the edges of the memory are harmless, and do nothing.
    std::function<void(size_t)> visit = [&](size_t dim) {
      if (dim == shape.size()) {
        memref::PrefetchOp::create(
            b, buffer, getElementIndices(b, request.indices, op.getMap(), at),
            op.getWrite(), locality, /*isDataCache=*/true);
        return;
      }
      bool isRow = dim + 1 == shape.size();
      for (at[dim] = 0; at[dim] < shape[dim]; at[dim] += isRow ? step : 1)
        visit(dim + 1);
      if (isRow && mayBeginWithin && shape[dim] > 1) {
        at[dim] = shape[dim] - 1;
        visit(dim + 1);
      }
    };
    visit(0);
    rewriter.eraseOp(op);
    return success();
  }

private:
  const VectorLoweringContext &context;
};

struct LowerView : OpConversionPattern<ViewOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ViewOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto resultType = dyn_cast<MemRefType>(op.getResult().getType());
    if (!resultType)
      return op.emitOpError() << "of a staged tile; run "
                                 "tracea-pipeline-kernels first";
    resultType = getPlainMemRef(resultType);
    Value source = adaptor.getSource().front();
    auto sourceType = cast<MemRefType>(source.getType());
    SmallVector<int64_t> strides, resultStrides;
    int64_t offset, resultOffset;
    if (failed(sourceType.getStridesAndOffset(strides, offset)) ||
        failed(resultType.getStridesAndOffset(resultStrides, resultOffset)))
      return op.emitOpError() << "expects strided memory, found " << sourceType
                              << " and " << resultType;
    if (resultType.getNumDynamicDims())
      return op.emitOpError()
             << "expects a window of static shape, found " << resultType;
    SmallVector<Value> strideValues;
    Value start;
    if (llvm::any_of(strides, ShapedType::isDynamic) ||
        ShapedType::isDynamic(offset)) {
      auto metadata = memref::ExtractStridedMetadataOp::create(b, source);
      start = metadata.getOffset();
      llvm::append_range(strideValues, metadata.getStrides());
    } else {
      start = arith::ConstantIndexOp::create(b, offset);
    }
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      if (strideValues.size() <= dim)
        strideValues.push_back(Value());
      if (!ShapedType::isDynamic(stride))
        strideValues[dim] = arith::ConstantIndexOp::create(b, stride);
    }
    // The window starts behind the source's own start; its strides are the
    // source's, combined by the map.
    unsigned numDims = op.getMap().getNumDims();
    SmallVector<Value> windowStrides(numDims,
                                     arith::ConstantIndexOp::create(b, 0));
    for (auto [index, expr, stride] :
         llvm::zip(op.getOffsets(), op.getMap().getResults(), strideValues)) {
      LinearForm form = getLinearForm(expr, numDims);
      Value at = addIndex(b, index, form.constant);
      start = addIndex(b, start, b.createOrFold<arith::MulIOp>(at, stride));
      for (auto [window, coefficient] :
           llvm::zip(windowStrides, form.coefficients))
        if (coefficient)
          window = addIndex(b, window, mulIndex(b, stride, coefficient));
    }
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(b.getContext(), resultType.getShape());
    SmallVector<OpFoldResult> resultStrideValues;
    for (auto [stride, window] : llvm::zip(resultStrides, windowStrides))
      resultStrideValues.push_back(ShapedType::isDynamic(stride)
                                       ? OpFoldResult(window)
                                       : OpFoldResult(b.getIndexAttr(stride)));
    rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
        op, resultType, source, OpFoldResult(start), sizes, resultStrideValues);
    return success();
  }
};
} // namespace

namespace {
/// Whoever goes along a walk has its coordinates.
template <typename OpTy>
struct LowerWalk : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using typename OpConversionPattern<OpTy>::OneToNOpAdaptor;
  LogicalResult
  matchAndRewrite(OpTy op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

struct LowerRead : OpConversionPattern<ReadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value number = memref::LoadOp::create(
        rewriter, op.getLoc(), adaptor.getSource(), adaptor.getIndices());
    Type index = rewriter.getIndexType();
    if (number.getType().isInteger(1))
      rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(op, index, number);
    else
      rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, index, number);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateMemoryPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               VectorLoweringContext &context) {
  patterns.add<LowerStore, LowerPrefetch>(converter, patterns.getContext(),
                                          context);
  patterns.add<LowerLoad, LowerRead, LowerView, LowerWalk<DelinearizeOp>,
               LowerWalk<GatherOp>>(converter, patterns.getContext());
}
