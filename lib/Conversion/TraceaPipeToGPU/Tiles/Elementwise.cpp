//===- Elementwise.cpp - Arithmetic on register tiles ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From operations on register tiles to operations on the vector of one lane's
// registers; lanes meet for votes alone.

#include "Tiles/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

static VectorType getThreadType(Type tile) {
  return VectorType::get(getLanes(tile).getNumRegisters(),
                         cast<RankedTensorType>(tile).getElementType());
}

namespace {
/// Any elementwise operation: the same on the registers.
struct LowerElementwise : ConversionPattern {
  LowerElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) ||
        op->getNumResults() != 1 || !isRegisterTile(op->getResult(0).getType()))
      return failure();
    Type tile = op->getResult(0).getType();
    for (Value operand : op->getOperands())
      if (isa<ShapedType>(operand.getType()) &&
          (!isRegisterTile(operand.getType()) ||
           getLanes(operand.getType()) != getLanes(tile)))
        return op->emitOpError()
               << "expects tiles of the lane map " << getLanes(tile)
               << ", found " << operand.getType();
    Operation *vector =
        rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands,
                        TypeRange(getThreadType(tile)), op->getAttrs());
    rewriter.replaceOp(op, vector->getResults());
    return success();
  }
};

struct LowerConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isRegisterTile(op.getType()))
      return failure();
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!dense)
      return op.emitOpError() << "expects a dense constant tile";
    VectorType type = getThreadType(op.getType());
    if (dense.isSplat()) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          op, type,
          DenseElementsAttr::get(type, dense.getSplatValue<Attribute>()));
      return success();
    }
    LanesAttr lanes = getLanes(op.getType());
    auto valueAt = [&](int64_t reg, int64_t lane, int64_t warp) {
      SmallVector<uint64_t> at(llvm::map_range(
          lanes.getCoordinate(reg, lane, warp),
          [](int64_t coordinate) { return uint64_t(coordinate); }));
      return dense.getValues<Attribute>()[at];
    };
    SmallVector<Attribute> elements;
    for (int64_t reg = 0; reg < type.getNumElements(); ++reg) {
      elements.push_back(valueAt(reg, 0, 0));
      for (int64_t warp = 0; warp < lanes.getNumWarps(); ++warp)
        for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane)
          if (valueAt(reg, lane, warp) != elements.back())
            return op.emitOpError()
                   << "expects a constant that is the same in every lane; load "
                      "others from memory";
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, type, DenseElementsAttr::get(type, elements));
    return success();
  }
};

struct LowerSplat : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isRegisterTile(op.getType()))
      return failure();
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getThreadType(op.getType()), adaptor.getInput());
    return success();
  }
};

} // namespace

/// The coordinates of what a lane holds, counted from `from` if there is one.
/// What registers add to the lane's is constant.
static FailureOr<Value> createCoordinates(ImplicitLocOpBuilder &b,
                                          CoordinateOp op, Value from,
                                          GPULoweringContext &context) {
  Type tile = op.getResult().getType();
  alg::Expected<alg::LaneMap> map = getLaneMap(getLanes(tile));
  if (!map)
    return op.emitOpError() << "cannot be lowered: " << map.message();
  VectorType type = getThreadType(tile);
  unsigned dim = op.getDim();
  ThreadMap lanes;
  for (const alg::TileCoord &vector : getBases(*map, alg::LaneDim::Lane))
    lanes.byLane.push_back(uint64_t(vector[dim]));
  for (const alg::TileCoord &vector : getBases(*map, alg::LaneDim::Warp))
    lanes.byWarp.push_back(uint64_t(vector[dim]));
  // Inside of the linear tile registers and lanes combine by XOR; repeats
  // lie above both.
  SmallVector<Attribute> ofRegister;
  for (int64_t reg = 0; reg < type.getNumElements(); ++reg)
    ofRegister.push_back(b.getIntegerAttr(type.getElementType(),
                                          (*map->coordinate(reg, 0))[dim]));
  Value result =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, ofRegister));
  bool isDisjoint = true;
  Value lane;
  if (!lanes.isZero()) {
    Threads threads(b, op, context);
    lane = threads.apply(lanes);
    Type element = type.getElementType();
    if (element.isIndex())
      lane = arith::IndexCastOp::create(b, element, lane);
    else if (element.getIntOrFloatBitWidth() > 32)
      lane = arith::ExtUIOp::create(b, element, lane);
    else if (element.getIntOrFloatBitWidth() < 32)
      lane = arith::TruncIOp::create(b, element, lane);
    isDisjoint = llvm::none_of(ofRegister, [&](Attribute coordinate) {
      return uint64_t(cast<IntegerAttr>(coordinate).getInt()) &
             lanes.getSupport();
    });
  }
  auto spread = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(b, type, scalar);
  };
  if (lane && isDisjoint && from)
    return Value(arith::AddIOp::create(
        b, spread(arith::AddIOp::create(b, lane, from)), result));
  if (lane && isDisjoint)
    result = arith::AddIOp::create(b, spread(lane), result);
  else if (lane)
    result = arith::XOrIOp::create(b, spread(lane), result);
  return from ? Value(arith::AddIOp::create(b, result, spread(from))) : result;
}

namespace {
struct LowerCoordinate : TilePattern<CoordinateOp> {
  using TilePattern::TilePattern;
  LogicalResult
  matchAndRewrite(CoordinateOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FailureOr<Value> result = createCoordinates(b, op, Value(), context);
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, *result);
    return success();
  }
};

/// Coordinates from a place that all lanes have in common: the lane's own part
/// is added to the place. Sums of it and the registers' would stay the same
/// from iteration to iteration, and take a register each.
struct LowerShiftedCoordinate : TilePattern<arith::AddIOp> {
  LowerShiftedCoordinate(const TypeConverter &converter,
                         MLIRContext *mlirContext, GPULoweringContext &context)
      : TilePattern(converter, mlirContext, context, /*benefit=*/2) {}
  LogicalResult
  matchAndRewrite(arith::AddIOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isRegisterTile(op.getType()))
      return failure();
    auto coordinate = op.getLhs().getDefiningOp<CoordinateOp>();
    auto splat = op.getRhs().getDefiningOp<tensor::SplatOp>();
    if (!coordinate || !splat)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FailureOr<Value> result =
        createCoordinates(b, coordinate, splat.getInput(), context);
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, *result);
    return success();
  }
};

/// A vote: registers, then the lanes of the warp.
struct LowerAny : TilePattern<AnyOp> {
  using TilePattern::TilePattern;
  LogicalResult
  matchAndRewrite(AnyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value mine = vector::ReductionOp::create(b, vector::CombiningKind::OR,
                                             adaptor.getValue());
    Value word = arith::ExtUIOp::create(b, b.getI32Type(), mine);
    Threads threads(b, op, context);
    for (int64_t lane = 1; lane < context.getSubgroupSize(); lane *= 2)
      word = arith::OrIOp::create(
          b, word,
          threads.shuffle(word, getI32(b, lane), gpu::ShuffleMode::XOR)
              .front());
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::ne,
                                               word, getI32(b, 0));
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::addRegisterTileConversion(TypeConverter &converter) {
  converter.addConversion([](RankedTensorType type) -> std::optional<Type> {
    if (!isRegisterTile(type))
      return std::nullopt;
    return getThreadType(type);
  });
}

void mlir::tracea_pipe::populateElementwisePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    GPULoweringContext &context) {
  MLIRContext *mlirContext = patterns.getContext();
  patterns.add<LowerElementwise, LowerConstant, LowerSplat>(converter,
                                                            mlirContext);
  patterns.add<LowerCoordinate, LowerShiftedCoordinate, LowerAny>(
      converter, mlirContext, context);
}
