//===- Emitter.cpp - Writes linalg over tensors ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

#include <limits>

using namespace mlir;
using namespace mlir::tracea;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Emitter::convert(Value value, Type type) {
  return convertScalar(builder, loc, value, type);
}

Value Emitter::zero(Type type) {
  return make<arith::ConstantOp>(builder.getZeroAttr(type));
}

Value Emitter::negativeInfinity(Type type) {
  return make<arith::ConstantOp>(
      builder.getFloatAttr(type, -std::numeric_limits<double>::infinity()));
}

Value Emitter::real(double value, Type type) {
  return convert(make<arith::ConstantOp>(builder.getF64FloatAttr(value)), type);
}

Value Emitter::index(int64_t value) {
  return make<arith::ConstantOp>(builder.getIndexAttr(value));
}

Value Emitter::index(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

Value Emitter::number(Value index, Type type) {
  return convert(make<arith::IndexCastOp>(builder.getI64Type(), index), type);
}

Value Emitter::add(Value lhs, Value rhs) {
  return isa<FloatType>(lhs.getType()) ? make<arith::AddFOp>(lhs, rhs)
                                       : make<arith::AddIOp>(lhs, rhs);
}

Value Emitter::mul(Value lhs, Value rhs) {
  return isa<FloatType>(lhs.getType()) ? make<arith::MulFOp>(lhs, rhs)
                                       : make<arith::MulIOp>(lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

int64_t Emitter::rank(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

Type Emitter::elementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

Emitter::Sizes Emitter::sizes(Value tensor) {
  return tensor::getMixedSizes(builder, loc, tensor);
}

Value Emitter::empty(const Sizes &sizes, Type elementType) {
  return make<tensor::EmptyOp>(sizes, elementType);
}

Value Emitter::filled(const Sizes &sizes, Value scalar) {
  return make<linalg::FillOp>(scalar, empty(sizes, scalar.getType()));
}

Value Emitter::multiplyAdd(Emitter &e, ValueRange scalars) {
  Type acc = scalars[2].getType();
  return e.add(scalars[2],
               e.mul(e.convert(scalars[0], acc), e.convert(scalars[1], acc)));
}

AffineMap Emitter::select(unsigned dims, ArrayRef<unsigned> results) {
  SmallVector<AffineExpr> exprs;
  for (unsigned dim : results)
    exprs.push_back(builder.getAffineDimExpr(dim));
  return AffineMap::get(dims, 0, exprs, builder.getContext());
}

AffineMap Emitter::identity(unsigned dims) {
  return builder.getMultiDimIdentityMap(dims);
}

Value Emitter::generic(ValueRange inputs, ArrayRef<AffineMap> maps,
                       Value destination, AffineMap destinationMap, Body body) {
  SmallVector<utils::IteratorType> iterators(destinationMap.getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : destinationMap.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      iterators[dim.getPosition()] = utils::IteratorType::parallel;
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(destinationMap);
  return make<linalg::GenericOp>(
      destination.getType(), inputs, destination, allMaps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange arguments) {
        Emitter inner(nested, nestedLoc);
        linalg::YieldOp::create(nested, nestedLoc, body(inner, arguments));
      });
}

Value Emitter::elementwise(ValueRange inputs, ArrayRef<AffineMap> maps,
                           Value destination, Body body) {
  return generic(inputs, maps, destination, identity(rank(destination)), body);
}

//===----------------------------------------------------------------------===//
// Accumulator and epilogue
//===----------------------------------------------------------------------===//

Value Emitter::emptyAccumulator(EpilogueOpInterface op) {
  return empty(sizes(op.getEpilogueInit().get()), op.getAccumulatorType());
}

/// Reduces `values`, one for each element of the first result, over the
/// dimensions that an auxiliary result lacks.
static Value reduceAux(Emitter &e, EpilogueOpInterface op, unsigned index,
                       Value values) {
  ReductionKind kind = getAuxKind(op, index);
  Value destination = op.getAuxInitsMutable()[index].get();
  Value neutral = e.make<arith::ConstantOp>(
      getNeutralElement(kind, Emitter::elementType(destination)));
  Value start = e.make<linalg::FillOp>(neutral, destination);
  return e.generic({values}, {e.identity(Emitter::rank(values))}, start,
                   getAuxMap(op, index), [&](Emitter &e, ValueRange scalars) {
                     return combine(e.builder, e.loc, kind, scalars[1],
                                    scalars[0]);
                   });
}

SmallVector<Value> Emitter::finish(EpilogueOpInterface op, Value accumulator) {
  Value destination = op.getEpilogueInit().get();
  unsigned dims = rank(destination);
  SmallVector<Value> inputs = {accumulator};
  llvm::append_range(inputs, op.getExtras());
  SmallVector<AffineMap> maps = {identity(dims)};
  llvm::append_range(maps,
                     op.getEpilogueMaps().getAsValueRange<AffineMapAttr>());
  // Values that will be reduced are stored as a whole tensor first, which
  // another operation reduces.
  SmallVector<Value> destinations = {destination};
  maps.push_back(identity(dims));
  for (auto [index, init] : llvm::enumerate(op.getAuxInitsMutable())) {
    bool isReduced = getAuxKind(op, index) != ReductionKind::None;
    destinations.push_back(
        isReduced ? empty(sizes(destination), elementType(init.get()))
                  : init.get());
    maps.push_back(isReduced ? identity(dims) : getAuxMap(op, index));
  }
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(destinations)), inputs, destinations,
      maps,
      SmallVector<utils::IteratorType>(dims, utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
        linalg::YieldOp::create(
            nested, nestedLoc,
            inlineEpilogue(
                nested, nestedLoc, op, scalars.front(),
                scalars.drop_front().drop_back(destinations.size())));
      });
  SmallVector<Value> results(generic->getResults());
  for (unsigned index = 0, e = op.getAuxResults().size(); index < e; ++index)
    if (getAuxKind(op, index) != ReductionKind::None)
      results[index + 1] = reduceAux(*this, op, index, results[index + 1]);
  return results;
}
