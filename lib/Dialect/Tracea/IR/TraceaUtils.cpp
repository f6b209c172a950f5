//===- TraceaUtils.cpp - Helpers for semantic operations ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::tracea;

//===----------------------------------------------------------------------===//
// Types and extents
//===----------------------------------------------------------------------===//

bool mlir::tracea::areCompatibleExtents(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

Type mlir::tracea::getDefaultAccumulatorType(Type elementType) {
  if (elementType.isF64())
    return elementType;
  if (isa<FloatType>(elementType))
    return Float32Type::get(elementType.getContext());
  if (elementType.isInteger() && elementType.getIntOrFloatBitWidth() <= 32)
    return IntegerType::get(elementType.getContext(), 32);
  return elementType;
}

bool mlir::tracea::isValidAccumulator(Type elementType, Type accumulatorType) {
  if (elementType.isF64())
    return accumulatorType.isF64();
  if (elementType.isF32() || elementType.isF16() || elementType.isBF16() ||
      isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
    return accumulatorType.isF32() || accumulatorType.isF64();
  return elementType.isSignlessInteger(8) &&
         accumulatorType.isSignlessInteger(32);
}

bool mlir::tracea::isImplicitlyConvertible(Type from, Type to) {
  if (from == to)
    return true;
  if (isa<FloatType>(from))
    return isa<FloatType>(to);
  if (!from.isSignlessInteger())
    return false;
  return isa<FloatType>(to) ||
         (to.isSignlessInteger() &&
          to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth());
}

Value mlir::tracea::convertScalar(OpBuilder &builder, Location loc, Value value,
                                  Type to) {
  Type from = getElementTypeOrSelf(value.getType());
  assert(isImplicitlyConvertible(from, to) && "no implicit conversion");
  if (from == to)
    return value;
  auto shaped = [&](Type elementType) -> Type {
    if (ShapedType type = dyn_cast<ShapedType>(value.getType()))
      return type.clone(elementType);
    return elementType;
  };
  if (isa<IntegerType>(from)) {
    if (isa<FloatType>(to))
      return arith::SIToFPOp::create(builder, loc, shaped(to), value);
    return arith::ExtSIOp::create(builder, loc, shaped(to), value);
  }
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  unsigned toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth < toWidth)
    return arith::ExtFOp::create(builder, loc, shaped(to), value);
  // f16 and bf16 are each a part of f32 but not of each other.
  if (fromWidth == toWidth)
    value = arith::ExtFOp::create(builder, loc, shaped(builder.getF32Type()),
                                  value);
  return arith::TruncFOp::create(builder, loc, shaped(to), value);
}

std::optional<int64_t>
mlir::tracea::getConvolvedExtent(int64_t extent, int64_t padLow,
                                 int64_t padHigh, int64_t taps, int64_t stride,
                                 int64_t dilation) {
  std::optional<int64_t> padded = llvm::checkedAdd(extent, padLow);
  if (padded)
    padded = llvm::checkedAdd(*padded, padHigh);
  std::optional<int64_t> reach = llvm::checkedMul(dilation, taps - 1);
  if (!padded || !reach)
    return std::nullopt;
  // With one tap or more both are at least zero: the difference cannot wrap.
  int64_t last = *padded - *reach - 1;
  return last < 0 ? 0 : last / stride + 1;
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

bool mlir::tracea::hasEpilogue(EpilogueOpInterface op) {
  return !op.getEpilogue().empty();
}

SmallVector<int64_t> mlir::tracea::getPermutation(AffineMap map) {
  AffineMap inverse = inversePermutation(map);
  SmallVector<int64_t> permutation;
  for (unsigned dim = 0; dim < inverse.getNumResults(); ++dim)
    permutation.push_back(inverse.getDimPosition(dim));
  return permutation;
}

AffineMap mlir::tracea::getEpilogueMap(EpilogueOpInterface op, unsigned index) {
  return cast<AffineMapAttr>(op.getEpilogueMaps()[index]).getValue();
}

Block &mlir::tracea::getOrCreateEpilogue(OpBuilder &builder,
                                         EpilogueOpInterface op) {
  Region &region = op.getEpilogue();
  if (!region.empty())
    return region.front();
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op.getLoc();
  Block *block =
      builder.createBlock(&region, region.end(), op.getAccumulatorType(), loc);
  Type stored = getElementTypeOrSelf(op.getEpilogueResult().getType());
  YieldOp::create(builder, loc,
                  convertScalar(builder, loc, block->getArgument(0), stored));
  return *block;
}

BlockArgument mlir::tracea::appendEpilogueExtra(EpilogueOpInterface op,
                                                Value extra, AffineMap map) {
  assert(hasEpilogue(op) && "expected an epilogue region");
  SmallVector<Attribute> maps(op.getEpilogueMaps().getValue());
  maps.push_back(AffineMapAttr::get(map));
  op.setEpilogueMapsAttr(ArrayAttr::get(op.getContext(), maps));
  op.getExtrasMutable().append(extra);
  return op.getEpilogue().front().addArgument(
      getElementTypeOrSelf(extra.getType()), extra.getLoc());
}

AffineMap mlir::tracea::getAuxMap(EpilogueOpInterface op, unsigned index) {
  return cast<AffineMapAttr>(op.getAuxMaps()[index]).getValue();
}

ReductionKind mlir::tracea::getAuxKind(EpilogueOpInterface op, unsigned index) {
  return cast<ReductionKindAttr>(op.getAuxKinds()[index]).getValue();
}

SmallVector<Value> mlir::tracea::inlineEpilogue(OpBuilder &builder,
                                                Location loc,
                                                EpilogueOpInterface op,
                                                Value accumulator,
                                                ValueRange extras) {
  if (!hasEpilogue(op))
    return {
        convertScalar(builder, loc, accumulator,
                      getElementTypeOrSelf(op.getEpilogueResult().getType()))};
  SmallVector<Value> arguments = {accumulator};
  llvm::append_range(arguments, extras);
  return inlineScalars(builder, op.getEpilogue().front(), arguments);
}

//===----------------------------------------------------------------------===//
// Prologues
//===----------------------------------------------------------------------===//

bool mlir::tracea::hasPrologue(RowOpInterface op) {
  return !op.getPrologue().empty();
}

Type mlir::tracea::getRowElementType(RowOpInterface op) {
  // Asked before regions are verified, too.
  if (hasPrologue(op) && !op.getPrologue().front().empty())
    if (auto yield = dyn_cast<YieldOp>(op.getPrologue().front().back());
        yield && !yield.getValues().empty())
      return yield.getValue().getType();
  return getElementTypeOrSelf(op.getInput().getType());
}

AffineMap mlir::tracea::getPrologueMap(RowOpInterface op, unsigned index) {
  return cast<AffineMapAttr>(op.getPrologueMaps()[index]).getValue();
}

Block &mlir::tracea::getOrCreatePrologue(OpBuilder &builder,
                                         RowOpInterface op) {
  Region &region = op.getPrologue();
  if (!region.empty())
    return region.front();
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op.getLoc();
  Block *block =
      builder.createBlock(&region, region.end(),
                          getElementTypeOrSelf(op.getInput().getType()), loc);
  YieldOp::create(builder, loc, block->getArgument(0));
  return *block;
}

BlockArgument mlir::tracea::appendPrologueOperand(RowOpInterface op,
                                                  Value operand,
                                                  AffineMap map) {
  assert(hasPrologue(op) && "expected a prologue region");
  SmallVector<Attribute> maps(op.getPrologueMaps().getValue());
  maps.push_back(AffineMapAttr::get(map));
  op.setPrologueMapsAttr(ArrayAttr::get(op.getContext(), maps));
  op.getPrologueOperandsMutable().append(operand);
  return op.getPrologue().front().addArgument(
      getElementTypeOrSelf(operand.getType()), operand.getLoc());
}

SmallVector<Value> mlir::tracea::inlineScalars(OpBuilder &builder, Block &block,
                                               ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator())
    builder.clone(inner, mapping);
  return llvm::map_to_vector(
      cast<YieldOp>(block.getTerminator()).getValues(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// Finishes
//===----------------------------------------------------------------------===//

bool mlir::tracea::hasFinish(Operation *op) {
  auto row = dyn_cast<RowOpInterface>(op);
  return row && !row.getFinish().empty();
}

ReductionKind mlir::tracea::getFinishKind(RowOpInterface op, unsigned index) {
  return cast<ReductionKindAttr>(op.getFinishKinds()[index]).getValue();
}

AffineMap mlir::tracea::getRowMap(RowOpInterface op) {
  auto kinds = cast<TilingInterface>(op.getOperation()).getLoopIteratorTypes();
  SmallVector<AffineExpr> dims;
  for (auto [dim, kind] : llvm::enumerate(kinds))
    if (kind == utils::IteratorType::parallel)
      dims.push_back(getAffineDimExpr(dim, op.getContext()));
  return AffineMap::get(kinds.size(), 0, dims, op.getContext());
}

RowValues::RowValues(Block &finish) {
  ofElements.insert(finish.getArgument(0));
  for (Operation &op : finish)
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return ofElements.contains(value); }))
      ofElements.insert(op.result_begin(), op.result_end());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

TypedAttr mlir::tracea::getNeutralElement(ReductionKind kind, Type type) {
  Builder builder(type.getContext());
  bool isMax = kind == ReductionKind::Max;
  if (kind == ReductionKind::Add || kind == ReductionKind::None)
    return builder.getZeroAttr(type);
  if (auto floatType = dyn_cast<FloatType>(type))
    return builder.getFloatAttr(
        floatType,
        APFloat::getInf(floatType.getFloatSemantics(), /*Negative=*/isMax));
  unsigned bits = type.getIntOrFloatBitWidth();
  return builder.getIntegerAttr(type, isMax ? APInt::getSignedMinValue(bits)
                                            : APInt::getSignedMaxValue(bits));
}

Value mlir::tracea::combine(OpBuilder &builder, Location loc,
                            ReductionKind kind, Value lhs, Value rhs) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(lhs.getType()));
  switch (kind) {
  case ReductionKind::None:
    return rhs;
  case ReductionKind::Add:
    if (isFloat)
      return arith::AddFOp::create(builder, loc, lhs, rhs);
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case ReductionKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(builder, loc, lhs, rhs);
    return arith::MaxSIOp::create(builder, loc, lhs, rhs);
  case ReductionKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(builder, loc, lhs, rhs);
    return arith::MinSIOp::create(builder, loc, lhs, rhs);
  }
  llvm_unreachable("all kinds are handled");
}
