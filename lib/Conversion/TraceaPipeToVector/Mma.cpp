//===- Mma.cpp - Products of tiles as fused multiply-adds -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a multiply of tiles to a loop over k of rank-1 updates of the registers
// that hold the sums.

#include "Patterns.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
    auto lhsType = dyn_cast<MemRefType>(op.getLhs().getType());
    auto rhsType = dyn_cast<MemRefType>(op.getRhs().getType());
    if (!lhsType || !rhsType)
      return op.emitOpError() << "expects both operands in memory on a CPU";
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

    Value lhs = adaptor.getLhs().front(), rhs = adaptor.getRhs().front();
    Value depth;
    if (op.getDepth()) {
      depth = adaptor.getDepth().front();
    } else {
      int64_t extent = ShapedType::isDynamic(lhsType.getDimSize(1))
                           ? rhsType.getDimSize(0)
                           : lhsType.getDimSize(1);
      depth = arith::ConstantIndexOp::create(b, extent);
    }
    if (op.getLimits().empty()) {
      scf::ForOp loop = emitLoop(b, accTile, lhs, rhs, depth, adaptor.getAcc(),
                                 Value(), Value());
      rewriter.replaceOpWithMultiple(op, {loop.getResults()});
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
    scf::ForOp plain = emitLoop(b, accTile, lhs, rhs, depth, adaptor.getAcc(),
                                Value(), Value());
    scf::YieldOp::create(b, plain.getResults());
    b.setInsertionPointToStart(ifOp.elseBlock());
    scf::ForOp cut =
        emitLoop(b, accTile, lhs, rhs, depth, adaptor.getAcc(), rows, columns);
    scf::YieldOp::create(b, cut.getResults());
    rewriter.replaceOpWithMultiple(op, {ifOp.getResults()});
    return success();
  }

private:
  /// The loop over k; `rows` and `columns` limit what is read, if given.
  scf::ForOp emitLoop(ImplicitLocOpBuilder &b, RankedTensorType accTile,
                      Value lhs, Value rhs, Value depth, ValueRange acc,
                      Value rowLimit, Value columnLimit) const {
    LanesAttr lanes = getLanes(accTile);
    VectorType vector = getRegisterType(accTile);
    Type accType = accTile.getElementType();
    Type rhsElement = cast<MemRefType>(rhs.getType()).getElementType();
    auto loadType = VectorType::get(vector.getShape(), rhsElement);

    // What does not change with k: the row each broadcast reads, and the masks.
    llvm::MapVector<int64_t, Value> rowIndices, masks;
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    // Without rows there is no last one to repeat.
    if (rowLimit) {
      Value some =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, rowLimit, one);
      depth = arith::SelectOp::create(b, some, depth, zero);
      columnLimit =
          clipLimit(b, b.getLoc(), columnLimit, accTile.getDimSize(1));
    }
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      Value &row = rowIndices[at[0]];
      if (!row) {
        row = arith::ConstantIndexOp::create(b, at[0]);
        if (rowLimit)
          row = arith::MinSIOp::create(b, row,
                                       arith::SubIOp::create(b, rowLimit, one));
      }
      Value &mask = masks[at[1]];
      if (columnLimit && !mask)
        mask = vector::CreateMaskOp::create(
            b, VectorType::get(vector.getShape(), b.getI1Type()),
            ValueRange(addIndex(b, columnLimit, -at[1])));
    }

    auto loop = scf::ForOp::create(b, zero, depth, one, acc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    llvm::MapVector<int64_t, Value> rows, columns;
    SmallVector<Value> results;
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      Value &column = columns[at[1]];
      if (!column) {
        Value j = arith::ConstantIndexOp::create(b, at[1]);
        Value loaded;
        if (columnLimit)
          loaded =
              vector::MaskedLoadOp::create(b, loadType, rhs, ValueRange{k, j},
                                           masks[at[1]], getZero(b, loadType));
        else
          loaded = vector::LoadOp::create(b, loadType, rhs, ValueRange{k, j});
        column = convertElements(b, loaded, accType);
      }
      Value &row = rows[at[0]];
      if (!row) {
        Value element =
            memref::LoadOp::create(b, lhs, ValueRange{rowIndices[at[0]], k});
        row = vector::BroadcastOp::create(b, vector,
                                          convertElements(b, element, accType));
      }
      Value sum = loop.getRegionIterArgs()[reg];
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
    scf::YieldOp::create(b, results);
    return loop;
  }

  VectorLoweringContext &context;
};
} // namespace

void mlir::tracea_pipe::populateMmaPatterns(const TypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            VectorLoweringContext &context) {
  patterns.add<LowerMma>(converter, patterns.getContext(), context);
}
