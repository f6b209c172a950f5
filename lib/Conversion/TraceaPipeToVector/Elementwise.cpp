//===- Elementwise.cpp - Arithmetic on register tiles ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From operations on register tiles to the same once for each register, which
// is a vector of the target.

#include "Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Register of `lanes` that holds, in lane 0, the coordinate `at`.
static std::optional<int64_t> findRegister(LanesAttr lanes,
                                           ArrayRef<int64_t> at) {
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
    if (ArrayRef<int64_t>(lanes.getCoordinate(reg, 0)) == at)
      return reg;
  return std::nullopt;
}

namespace {
/// Any elementwise operation: once for each register.
struct LowerElementwise : ConversionPattern {
  LowerElementwise(const TypeConverter &converter, MLIRContext *mlirContext,
                   VectorLoweringContext &context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, mlirContext),
        context(context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) ||
        op->getNumResults() != 1 || !isRegisterTile(op->getResult(0).getType()))
      return failure();
    auto tile = cast<RankedTensorType>(op->getResult(0).getType());
    if (getUnitRegisterType(context, tile))
      return op->emitOpError()
             << "expects vectors, which a relayout makes of the tiles of a "
                "unit, found "
             << tile;
    VectorType type = getRegisterType(tile);
    int64_t registers = getLanes(tile).getNumRegisters();
    for (Value operand : op->getOperands()) {
      if (!isa<ShapedType>(operand.getType()))
        continue;
      if (!isRegisterTile(operand.getType()) ||
          getLanes(operand.getType()) != getLanes(tile))
        return op->emitOpError()
               << "expects tiles of the lane map " << getLanes(tile)
               << ", found " << operand.getType();
    }
    SmallVector<Value> results;
    for (int64_t reg = 0; reg < registers; ++reg) {
      SmallVector<Value> inputs;
      for (auto [value, operand] : llvm::zip(op->getOperands(), operands))
        // A scalar condition of a select serves all registers.
        inputs.push_back(isRegisterTile(value.getType()) ? operand[reg]
                                                         : operand.front());
      Operation *vector =
          rewriter.create(op->getLoc(), op->getName().getIdentifier(), inputs,
                          TypeRange(type), op->getAttrs());
      results.push_back(vector->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
  VectorLoweringContext &context;
};

struct LowerConstant : OpConversionPattern<arith::ConstantOp> {
  LowerConstant(const TypeConverter &converter, MLIRContext *mlirContext,
                VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isRegisterTile(op.getType()))
      return failure();
    auto tile = cast<RankedTensorType>(op.getType());
    // A tile unit has a pattern of its own.
    if (getUnitRegisterType(context, tile))
      return failure();
    LanesAttr lanes = getLanes(tile);
    VectorType type = getRegisterType(tile);
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!dense)
      return op.emitOpError() << "expects a dense constant tile";
    SmallVector<Value> results;
    if (dense.isSplat()) {
      Value splat = arith::ConstantOp::create(
          rewriter, op.getLoc(),
          DenseElementsAttr::get(type, dense.getSplatValue<Attribute>()));
      results.assign(lanes.getNumRegisters(), splat);
    } else {
      for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
        SmallVector<Attribute> elements;
        for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane) {
          SmallVector<uint64_t> at(llvm::map_range(
              lanes.getCoordinate(reg, lane),
              [](int64_t coordinate) { return uint64_t(coordinate); }));
          elements.push_back(dense.getValues<Attribute>()[at]);
        }
        results.push_back(arith::ConstantOp::create(
            rewriter, op.getLoc(), DenseElementsAttr::get(type, elements)));
      }
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
  VectorLoweringContext &context;
};

struct LowerSplat : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::SplatOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isRegisterTile(op.getType()))
      return failure();
    Value vector = vector::BroadcastOp::create(rewriter, op.getLoc(),
                                               getRegisterType(op.getType()),
                                               adaptor.getInput().front());
    SmallVector<Value> results(getLanes(op.getType()).getNumRegisters(),
                               vector);
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
};

struct LowerCoordinate : OpConversionPattern<CoordinateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(CoordinateOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    LanesAttr lanes = getLanes(tile);
    SmallVector<Value> results;
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<Attribute> elements;
      for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane)
        elements.push_back(rewriter.getIntegerAttr(
            tile.getElementType(),
            lanes.getCoordinate(reg, lane)[op.getDim()]));
      results.push_back(arith::ConstantOp::create(
          rewriter, op.getLoc(),
          DenseElementsAttr::get(getRegisterType(tile), elements)));
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
};

struct LowerBroadcast : OpConversionPattern<BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(op.getValue().getType());
    LanesAttr lanes = getLanes(op.getResult().getType());
    SmallVector<Value> results;
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      for (auto [coordinate, extent] : llvm::zip(at, from.getShape()))
        coordinate = extent == 1 ? 0 : coordinate;
      std::optional<int64_t> source = findRegister(getLanes(from), at);
      if (!source)
        return op.emitOpError() << "reads a coordinate that its operand's lane "
                                   "map does not hold";
      results.push_back(adaptor.getValue()[*source]);
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
};

struct LowerSlice : OpConversionPattern<SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> registers = op.getRegisters();
    if (!registers)
      return op.emitOpError() << "expects lane maps that agree in their lanes";
    SmallVector<Value> results;
    for (int64_t reg : *registers)
      results.push_back(adaptor.getValue()[reg]);
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
};

/// Registers of one group first, then the lanes as a butterfly, after which
/// every lane holds the result.
struct LowerReduce : OpConversionPattern<ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  static Value combine(ImplicitLocOpBuilder &b, ReduceKind kind, Value x,
                       Value y) {
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
    switch (kind) {
    case ReduceKind::Add:
      return isFloat ? Value(arith::AddFOp::create(b, x, y))
                     : Value(arith::AddIOp::create(b, x, y));
    case ReduceKind::Mul:
      return isFloat ? Value(arith::MulFOp::create(b, x, y))
                     : Value(arith::MulIOp::create(b, x, y));
    case ReduceKind::Max:
      // NaN wins, as in the reference meaning.
      return isFloat ? Value(arith::MaximumFOp::create(b, x, y))
                     : Value(arith::MaxSIOp::create(b, x, y));
    case ReduceKind::Min:
      return isFloat ? Value(arith::MinimumFOp::create(b, x, y))
                     : Value(arith::MinSIOp::create(b, x, y));
    }
    llvm_unreachable("all kinds are handled");
  }

  LogicalResult
  matchAndRewrite(ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    LanesAttr from = getLanes(op.getValue().getType());
    LanesAttr to = getLanes(op.getResult().getType());
    // Lanes are exchanged bit by bit; a bit must not move along another
    // dimension as well.
    int64_t dim = op.getDim();
    SmallVector<int64_t> laneBits;
    for (auto [bit, vector] : llvm::enumerate(from.getLane())) {
      ArrayRef<int64_t> coordinates = vector.asArrayRef();
      if (coordinates[dim] == 0)
        continue;
      if (llvm::count_if(coordinates, [](int64_t c) { return c != 0; }) != 1)
        return op.emitOpError()
               << "expects lanes that move along one dimension, "
                  "found "
               << from;
      laneBits.push_back(bit);
    }
    SmallVector<Value> results(to.getNumRegisters());
    // What lane 0 of each result has gathered when all exchanges are done. A
    // linear map that serves one lane right serves all.
    SmallVector<llvm::SmallSet<int64_t, 16>> gathered(to.getNumRegisters());
    bool exact = from.getNumWarps() == 1;
    for (int64_t reg = 0; reg < from.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = from.getCoordinate(reg, 0);
      // A replica of an earlier register adds nothing.
      if (findRegister(from, at) != reg)
        continue;
      at[dim] = 0;
      std::optional<int64_t> group = findRegister(to, at);
      if (!group)
        return op.emitOpError() << "has no register for a reduced group";
      Value value = adaptor.getValue()[reg];
      Value &result = results[*group];
      result = result ? combine(b, op.getKind(), result, value) : value;
      for (int64_t subset = 0; subset < int64_t(1) << laneBits.size();
           ++subset) {
        int64_t lane = 0;
        for (auto [position, bit] : llvm::enumerate(laneBits))
          lane |= (subset >> position & 1) << bit;
        exact &=
            gathered[*group].insert(from.getCoordinate(reg, lane)[dim]).second;
      }
    }
    int64_t extent =
        cast<RankedTensorType>(op.getValue().getType()).getDimSize(dim);
    for (const llvm::SmallSet<int64_t, 16> &elements : gathered)
      exact &= static_cast<int64_t>(elements.size()) == extent;
    if (!exact)
      return op.emitOpError()
             << "expects a lane map that holds each element of a "
                "reduced group once, found "
             << from;
    int64_t lanes = from.getNumLanes();
    for (int64_t bit : laneBits) {
      SmallVector<int64_t> partner;
      for (int64_t lane = 0; lane < lanes; ++lane)
        partner.push_back(lane ^ (int64_t(1) << bit));
      for (Value &result : results) {
        Value other = vector::ShuffleOp::create(b, result, result, partner);
        result = combine(b, op.getKind(), result, other);
      }
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
};

/// Changes that rename registers cost nothing, others a shuffle for each vector
/// whose lanes come from two.
struct LowerRelayout : OpConversionPattern<RelayoutOp> {
  LowerRelayout(const TypeConverter &converter, MLIRContext *mlirContext,
                VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(RelayoutOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // A tile unit has a pattern of its own.
    if (getUnitRegisterType(context,
                            cast<RankedTensorType>(op.getValue().getType())))
      return failure();
    LanesAttr from = getLanes(op.getValue().getType());
    LanesAttr to = getLanes(op.getResult().getType());
    std::map<SmallVector<int64_t>, std::pair<int64_t, int64_t>> places;
    for (int64_t reg = 0; reg < from.getNumRegisters(); ++reg)
      for (int64_t lane = 0; lane < from.getNumLanes(); ++lane)
        places.try_emplace(from.getCoordinate(reg, lane), reg, lane);
    SmallVector<Value> results;
    for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg) {
      // The registers that lanes come from, and where they are in these.
      llvm::SetVector<int64_t> sources;
      SmallVector<int64_t> lanes;
      for (int64_t lane = 0; lane < to.getNumLanes(); ++lane) {
        auto [source, place] = places.at(to.getCoordinate(reg, lane));
        sources.insert(source);
        size_t number = llvm::find(sources, source) - sources.begin();
        lanes.push_back(number * from.getNumLanes() + place);
      }
      if (sources.size() > 2)
        return op.emitOpError()
               << "gathers a vector from more than two, which this target has "
                  "no lowering for: "
               << from << " to " << to;
      Value first = adaptor.getValue()[sources.front()];
      bool isSame = from.getNumLanes() == to.getNumLanes() &&
                    llvm::equal(lanes, llvm::seq<int64_t>(0, lanes.size()));
      results.push_back(isSame
                            ? first
                            : Value(vector::ShuffleOp::create(
                                  rewriter, op.getLoc(), first,
                                  adaptor.getValue()[sources.back()], lanes)));
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
  VectorLoweringContext &context;
};
} // namespace

void mlir::tracea_pipe::populateElementwisePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    VectorLoweringContext &context) {
  patterns.add<LowerSplat, LowerCoordinate, LowerBroadcast, LowerSlice,
               LowerReduce>(converter, patterns.getContext());
  patterns.add<LowerElementwise, LowerConstant, LowerRelayout>(
      converter, patterns.getContext(), context);
}
