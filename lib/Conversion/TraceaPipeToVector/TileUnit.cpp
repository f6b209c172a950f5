//===- TileUnit.cpp - Products of tiles on a unit of their own ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums whose lane map is that of a tile unit (AMX) are tiles of the dialect
// `amx`, from the zero that they begin with through all multiplies of words to
// the relayout that makes vectors of them: the unit's registers and a vector
// reach one another through memory alone, here the workspace. LLVM configures
// the tiles.

#include "Patterns.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Analysis/DotProducts.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace hardware = ::tracea::target;

std::optional<Type>
mlir::tracea_pipe::getUnitRegisterType(const VectorLoweringContext &context,
                                       RankedTensorType tile) {
  const hardware::TileShape *shape = getUnitTile(context.target, tile);
  if (!shape)
    return std::nullopt;
  int64_t columns = getLanes(tile).getNumLanes() / shape->rows;
  return amx::TileType::get({shape->rows, columns}, tile.getElementType());
}

MemRefType
mlir::tracea_pipe::getUnitTripType(const VectorLoweringContext &context,
                                   RankedTensorType tile) {
  std::optional<Type> type = getUnitRegisterType(context, tile);
  if (!type)
    return {};
  SmallVector<int64_t> shape = {getLanes(tile).getNumRegisters()};
  llvm::append_range(shape, cast<amx::TileType>(*type).getShape());
  return MemRefType::get(shape, tile.getElementType());
}

/// Whether a depth is known to be a multiple of `factor`.
static bool isMultiple(Value depth, int64_t factor) {
  if (std::optional<int64_t> known = getConstantIntValue(depth))
    return *known % factor == 0;
  auto product = depth.getDefiningOp<arith::MulIOp>();
  return product && (isMultiple(product.getLhs(), factor) ||
                     isMultiple(product.getRhs(), factor));
}

namespace {
struct LowerZero : OpConversionPattern<arith::ConstantOp> {
  LowerZero(const TypeConverter &converter, MLIRContext *mlirContext,
            VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    if (!tile || !isRegisterTile(tile))
      return failure();
    std::optional<Type> type = getUnitRegisterType(context, tile);
    if (!type)
      return failure();
    if (!matchPattern(op.getResult(), m_Zero()) &&
        !matchPattern(op.getResult(), m_PosZeroFloat()))
      return op.emitOpError() << "expects sums of a tile unit to begin at zero";
    SmallVector<Value> zeros;
    for (int64_t reg = 0; reg < getLanes(tile).getNumRegisters(); ++reg)
      zeros.push_back(amx::TileZeroOp::create(rewriter, op.getLoc(), *type));
    rewriter.replaceOpWithMultiple(op, {ValueRange(zeros)});
    return success();
  }
  VectorLoweringContext &context;
};

/// The words of one step of k: tiles of rows of the left operand and of columns
/// of the right one. Each tile is loaded once, those of the longer side one at
/// a time, so that few are live beside the sums.
struct LowerTileMultiply : OpConversionPattern<MmaOp> {
  LowerTileMultiply(const TypeConverter &converter, MLIRContext *mlirContext,
                    VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto sums = cast<RankedTensorType>(op.getAcc().getType());
    const hardware::TileShape *shape = getUnitTile(context.target, sums);
    if (!shape)
      return failure();
    if (!op.getRows().empty())
      return op.emitOpError() << "expects all rows where its operands are "
                                 "packed in words";
    auto lhsType = dyn_cast<MemRefType>(op.getLhs().getType());
    auto rhsType = dyn_cast<MemRefType>(op.getRhs().getType());
    if (!lhsType || !rhsType)
      return op.emitOpError()
             << "expects both operands in memory where its sums are tiles of a "
                "unit";
    const hardware::DotProduct *dot =
        getWordProduct(context.target, rhsType.getElementType(), sums);
    if (!dot || dot->unit == hardware::UnitKind::Vector ||
        lhsType.getElementType() != rhsType.getElementType() ||
        dot->folded != getWordLength(lhsType))
      return op.emitOpError()
             << "expects words of the unit of its sums, found " << lhsType
             << " and " << rhsType << " into " << sums;
    SmallVector<int64_t> strides;
    int64_t offset;
    for (MemRefType type : {lhsType, rhsType})
      if (failed(type.getStridesAndOffset(strides, offset)) ||
          strides[2] != 1 || strides[1] != dot->folded ||
          ShapedType::isDynamic(strides[0]))
        return op.emitOpError() << "expects operands whose rows are words side "
                                   "by side at a known distance, found "
                                << type;

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value depth = op.getDepth()
                      ? adaptor.getDepth().front()
                      : arith::ConstantIndexOp::create(b, rhsType.getDimSize(0))
                            .getResult();
    if (!isMultiple(depth, shape->words))
      return op.emitOpError()
             << "expects a depth known to be a multiple of the " << shape->words
             << " words that its unit adds up in one step";
    rewriter.replaceOpWithMultiple(
        op,
        {ValueRange(emit(b, *dot, sums, adaptor.getLhs().front(),
                         adaptor.getRhs().front(), depth, adaptor.getAcc()))});
    return success();
  }

private:
  SmallVector<Value> emit(ImplicitLocOpBuilder &b,
                          const hardware::DotProduct &dot,
                          RankedTensorType sums, Value lhs, Value rhs,
                          Value depth, ValueRange acc) const {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, value);
    };
    auto loop = scf::ForOp::create(b, constant(0), depth,
                                   constant(dot.tile.words), acc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    auto load = [&](Value memory, int64_t rows, Value row,
                    Value column) -> Value {
      auto type = cast<MemRefType>(memory.getType());
      SmallVector<int64_t> strides;
      int64_t offset;
      (void)type.getStridesAndOffset(strides, offset);
      int64_t elements = (rows == dot.tile.rows ? dot.tile.words : dot.lanes());
      auto tile = amx::TileType::get({rows, elements * dot.folded},
                                     type.getElementType());
      return amx::TileLoadOp::create(b, tile, memory,
                                     ValueRange{row, column, constant(0)},
                                     constant(strides[0]));
    };
    LanesAttr lanes = getLanes(sums);
    SmallVector<Value> results(acc.size());
    auto loadRow = [&](int64_t row) {
      return load(lhs, dot.tile.rows, constant(row), k);
    };
    auto loadColumn = [&](int64_t column) {
      return load(rhs, dot.tile.words, k, constant(column));
    };
    // The tiles of the shorter side, and for each of the longer one what its
    // tile is multiplied with.
    llvm::MapVector<int64_t, Value> held;
    llvm::MapVector<int64_t, SmallVector<int64_t>> passing;
    ArrayRef<int64_t> shape = sums.getShape();
    bool holdsRows = shape[0] / dot.tile.rows <= shape[1] / dot.columns();
    unsigned side = holdsRows ? 0 : 1;
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      passing[at[1 - side]].push_back(reg);
      Value &tile = held[at[side]];
      if (!tile)
        tile = holdsRows ? loadRow(at[0]) : loadColumn(at[1]);
    }
    for (auto &[place, registers] : passing) {
      Value tile = holdsRows ? loadColumn(place) : loadRow(place);
      for (int64_t reg : registers) {
        Value left = held[lanes.getCoordinate(reg, 0)[side]], right = tile;
        if (!holdsRows)
          std::swap(left, right);
        Value sum = loop.getRegionIterArgs()[reg];
        if (isa<FloatType>(sums.getElementType()))
          results[reg] =
              amx::TileMulFOp::create(b, sum.getType(), left, right, sum);
        else
          results[reg] =
              amx::TileMulIOp::create(b, sum.getType(), left, right, sum,
                                      /*isZextLhs=*/false, /*isZextRhs=*/false);
      }
    }
    scf::YieldOp::create(b, results);
    return SmallVector<Value>(loop.getResults());
  }

  VectorLoweringContext &context;
};

/// Tiles are stored, and loaded again by rows.
struct LowerTileTrip : OpConversionPattern<RelayoutOp> {
  LowerTileTrip(const TypeConverter &converter, MLIRContext *mlirContext,
                VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(RelayoutOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(op.getValue().getType());
    auto to = cast<RankedTensorType>(op.getResult().getType());
    MemRefType trip = getUnitTripType(context, from);
    if (!trip)
      return failure();
    LanesAttr source = getLanes(from), lanes = getLanes(to);
    if (lanes.getNumLanes() != trip.getDimSize(2) ||
        lanes.getContiguousLaneDim() != 1 || !lanes.hasSeparateLanes())
      return op.emitOpError()
             << "expects vectors of a unit's tile to be its rows, found "
             << lanes;
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto kernel = op->getParentOfType<KernelOp>();
    Value buffer = getWorkspaceBuffer(
        b, kernel, context, context.workspaceOffsets[kernel].front(), trip);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, value);
    };
    DenseMap<std::pair<int64_t, int64_t>, int64_t> places;
    for (auto [reg, tile] : llvm::enumerate(adaptor.getValue())) {
      SmallVector<int64_t> at = source.getCoordinate(reg, 0);
      places[{at[0], at[1]}] = reg;
      amx::TileStoreOp::create(
          b, buffer, ValueRange{constant(reg), constant(0), constant(0)}, tile);
    }
    SmallVector<Value> results;
    int64_t rows = trip.getDimSize(1);
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      int64_t row = at[0] % rows;
      results.push_back(vector::LoadOp::create(
          b, getRegisterType(to), buffer,
          ValueRange{constant(places.at({at[0] - row, at[1]})), constant(row),
                     constant(0)}));
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
  VectorLoweringContext &context;
};
} // namespace

static bool isSame(amx::TileLoadOp a, amx::TileLoadOp b) {
  return a.getType() == b.getType() &&
         llvm::all_of_zip(a->getOperands(), b->getOperands(),
                          [](Value left, Value right) {
                            return isEqualConstantIntOrValue(left, right);
                          });
}

/// The tile that each multiply of a loop has on its right; empty for a loop
/// that does something else.
static SmallVector<amx::TileLoadOp> getRightTiles(scf::ForOp loop) {
  SmallVector<amx::TileLoadOp> tiles;
  for (Operation &op : loop.getBody()->without_terminator()) {
    Value right;
    if (auto mul = dyn_cast<amx::TileMulFOp>(op))
      right = mul.getRhs();
    else if (auto mul = dyn_cast<amx::TileMulIOp>(op))
      right = mul.getRhs();
    else if (!isa<amx::TileLoadOp>(op) && !isMemoryEffectFree(&op))
      return {};
    if (right)
      tiles.push_back(right.getDefiningOp<amx::TileLoadOp>());
  }
  return llvm::is_contained(tiles, nullptr) ? decltype(tiles)() : tiles;
}

/// The loop behind `loop` that can be one with it; null if there is none.
static scf::ForOp getSibling(scf::ForOp loop) {
  SmallVector<amx::TileLoadOp> tiles = getRightTiles(loop);
  if (tiles.empty())
    return {};
  Operation *next = loop->getNextNode();
  while (next && next->getNumRegions() == 0 && isMemoryEffectFree(next))
    next = next->getNextNode();
  auto sibling = dyn_cast_or_null<scf::ForOp>(next);
  if (!sibling ||
      !isEqualConstantIntOrValue(loop.getLowerBound(),
                                 sibling.getLowerBound()) ||
      !isEqualConstantIntOrValue(loop.getUpperBound(),
                                 sibling.getUpperBound()) ||
      !isEqualConstantIntOrValue(loop.getStep(), sibling.getStep()))
    return {};
  SmallVector<amx::TileLoadOp> others = getRightTiles(sibling);
  bool sharesPanel =
      !others.empty() && tiles.front().getBase() == others.front().getBase();
  bool isIndependent = llvm::all_of(loop->getUsers(), [&](Operation *user) {
    Operation *at = loop->getBlock()->findAncestorOpInBlock(*user);
    return at && sibling->isBeforeInBlock(at);
  });
  return sharesPanel && isIndependent ? sibling : scf::ForOp();
}

void mlir::tracea_pipe::joinUnitLoops(KernelOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  DenseSet<Operation *> joined;
  IRRewriter rewriter(kernel.getContext());
  for (scf::ForOp loop : loops) {
    if (joined.contains(loop))
      continue;
    bool isJoined = false;
    while (scf::ForOp sibling = getSibling(loop)) {
      joined.insert(sibling);
      loop = fuseIndependentSiblingForLoops(loop, sibling, rewriter);
      isJoined = true;
    }
    if (!isJoined)
      continue;
    SmallVector<amx::TileLoadOp> loads;
    for (auto load : llvm::make_early_inc_range(
             loop.getBody()->getOps<amx::TileLoadOp>())) {
      auto *known = llvm::find_if(
          loads, [&](amx::TileLoadOp each) { return isSame(each, load); });
      if (known == loads.end())
        loads.push_back(load);
      else
        rewriter.replaceOp(load, *known);
    }
  }
}

void mlir::tracea_pipe::sinkUnitZeros(KernelOp kernel) {
  SmallVector<amx::TileZeroOp> zeros;
  kernel.walk([&](amx::TileZeroOp zero) { zeros.push_back(zero); });
  for (amx::TileZeroOp zero : zeros) {
    for (OpOperand &use : llvm::make_early_inc_range(zero->getUses())) {
      OpBuilder b(use.getOwner());
      use.set(b.clone(*zero)->getResult(0));
    }
    zero->erase();
  }
}

void mlir::tracea_pipe::populateTileUnitPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    VectorLoweringContext &context) {
  patterns.add<LowerZero, LowerTileMultiply, LowerTileTrip>(
      converter, patterns.getContext(), context);
}
