//===- Mma.cpp - Products of tiles as fused multiply-adds -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a multiply of tiles to a loop over k of rank-1 updates of the registers
// that hold the sums. Where the left operand is in registers itself, all steps
// stand behind one another.

#include "Patterns.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

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
    LanesAttr lanes = getLanes(accTile);
    auto lhsType = cast<ShapedType>(op.getLhs().getType());
    auto rhsType = dyn_cast<MemRefType>(op.getRhs().getType());
    bool inRegisters = isRegisterTile(lhsType);
    if (!rhsType || (!inRegisters && !isa<MemRefType>(lhsType)))
      return op.emitOpError()
             << "expects its right operand in memory on a CPU, and its left "
                "one in memory or registers";
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
    if (inRegisters)
      lhs.places = getPlaces(cast<RankedTensorType>(lhsType));
    if (op.getLimits().empty()) {
      SmallVector<Value> sums = emitSums(b, accTile, lhs, rhs, depth,
                                         adaptor.getAcc(), Value(), Value());
      rewriter.replaceOpWithMultiple(op, {ValueRange(sums)});
      return success();
    }
    // Whole tiles read what they like; the others repeat their last row and
    // mask the columns.
    Value rows = op.getLimits()[0], columns = op.getLimits()[1];
    auto covers = [&](Value limit, int64_t extent) -> Value {
      Value bound = arith::ConstantIndexOp::create(b, extent);
      return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, limit, bound);
    };
    Value whole = arith::AndIOp::create(b, covers(rows, accTile.getDimSize(0)),
                                        covers(columns, accTile.getDimSize(1)));
    SmallVector<Type> types(lanes.getNumRegisters(), getRegisterType(accTile));
    auto ifOp = scf::IfOp::create(b, types, whole, /*withElseRegion=*/true);
    b.setInsertionPointToStart(ifOp.thenBlock());
    SmallVector<Value> plain = emitSums(b, accTile, lhs, rhs, depth,
                                        adaptor.getAcc(), Value(), Value());
    scf::YieldOp::create(b, plain);
    b.setInsertionPointToStart(ifOp.elseBlock());
    SmallVector<Value> cut =
        emitSums(b, accTile, lhs, rhs, depth, adaptor.getAcc(), rows, columns);
    scf::YieldOp::create(b, cut);
    rewriter.replaceOpWithMultiple(op, {ifOp.getResults()});
    return success();
  }

private:
  /// A memref, or the registers of a tile with the place of each element.
  struct LeftOperand {
    ValueRange values;
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
  };

  /// The sums over k; `rows` and `columns` limit what is read, if given.
  SmallVector<Value> emitSums(ImplicitLocOpBuilder &b, RankedTensorType accTile,
                              const LeftOperand &lhs, Value rhs, Value depth,
                              ValueRange acc, Value rowLimit,
                              Value columnLimit) const {
    LanesAttr lanes = getLanes(accTile);
    VectorType vector = getRegisterType(accTile);
    Edges edges;
    edges.cutsColumns = static_cast<bool>(columnLimit);
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
        sums = emitStep(b, accTile, loadRow, rhs,
                        arith::ConstantIndexOp::create(b, k), edges, sums);
      }
      return sums;
    }
    auto loop = scf::ForOp::create(b, zero, depth, one, acc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    auto loadRow = [&](int64_t row) -> Value {
      return memref::LoadOp::create(b, lhs.values.front(),
                                    ValueRange{edges.rows[row], k});
    };
    scf::YieldOp::create(b, emitStep(b, accTile, loadRow, rhs, k, edges,
                                     loop.getRegionIterArgs()));
    return SmallVector<Value>(loop.getResults());
  }

  /// One rank-1 update of the sums.
  SmallVector<Value> emitStep(ImplicitLocOpBuilder &b, RankedTensorType accTile,
                              function_ref<Value(int64_t)> loadRow, Value rhs,
                              Value k, Edges &edges, ValueRange sums) const {
    LanesAttr lanes = getLanes(accTile);
    VectorType vector = getRegisterType(accTile);
    Type accType = accTile.getElementType();
    Type rhsElement = cast<MemRefType>(rhs.getType()).getElementType();
    auto loadType = VectorType::get(vector.getShape(), rhsElement);
    llvm::MapVector<int64_t, Value> rows, columns;
    SmallVector<Value> results;
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      Value &column = columns[at[1]];
      if (!column) {
        Value j = arith::ConstantIndexOp::create(b, at[1]);
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
      Value sum = sums[reg];
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
