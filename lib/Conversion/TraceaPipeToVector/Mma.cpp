//===- Mma.cpp - Products of tiles as fused multiply-adds -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Patterns.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// One rank-1 update a step: a vector of each column group of the right operand,
/// a broadcast element of each row of the left one.
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
    VectorType vector = getRegisterType(accTile);
    Type accType = accTile.getElementType();
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
      return op.emitOpError() << "expects contiguous rows in the right operand, "
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
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    auto loop = scf::ForOp::create(b, zero, depth, one, adaptor.getAcc());
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();

    llvm::MapVector<int64_t, Value> rows, columns;
    auto loadType = VectorType::get(vector.getShape(), rhsType.getElementType());
    SmallVector<Value> results;
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      Value &column = columns[at[1]];
      if (!column) {
        Value j = arith::ConstantIndexOp::create(b, at[1]);
        Value loaded =
            vector::LoadOp::create(b, loadType, rhs, ValueRange{k, j});
        column = convertElements(b, loaded, accType);
      }
      Value &row = rows[at[0]];
      if (!row) {
        Value i = arith::ConstantIndexOp::create(b, at[0]);
        Value element = memref::LoadOp::create(b, lhs, ValueRange{i, k});
        row = vector::BroadcastOp::create(
            b, vector, convertElements(b, element, accType));
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
    rewriter.replaceOpWithMultiple(op, {loop.getResults()});
    return success();
  }
  VectorLoweringContext &context;
};
} // namespace

void mlir::tracea_pipe::populateMmaPatterns(const TypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            VectorLoweringContext &context) {
  patterns.add<LowerMma>(converter, patterns.getContext(), context);
}
