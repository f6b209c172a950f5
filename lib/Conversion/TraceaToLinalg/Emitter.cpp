//===- Emitter.cpp - Writes linalg over tensors ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
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

SmallVector<Value> Emitter::maps(ValueRange inputs, ValueRange destinations,
                                 ArrayRef<AffineMap> maps, Bodies body) {
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(destinations), inputs, destinations, maps,
      SmallVector<utils::IteratorType>(maps.front().getNumDims(),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
        Emitter inner(nested, nestedLoc);
        linalg::YieldOp::create(nested, nestedLoc, body(inner, scalars));
      });
  return SmallVector<Value>(generic->getResults());
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

/// Writes `accumulator` through the epilogue of `op` into destinations.
static SmallVector<Value> applyEpilogue(Emitter &e, EpilogueOpInterface op,
                                        Value accumulator,
                                        ValueRange destinations,
                                        ArrayRef<AffineMap> destinationMaps) {
  unsigned dims = Emitter::rank(accumulator);
  SmallVector<Value> inputs = {accumulator};
  llvm::append_range(inputs, op.getExtras());
  SmallVector<AffineMap> maps = {e.identity(dims)};
  llvm::append_range(maps,
                     op.getEpilogueMaps().getAsValueRange<AffineMapAttr>());
  llvm::append_range(maps, destinationMaps);
  return e.maps(inputs, destinations, maps, [&](Emitter &e, ValueRange s) {
    return inlineEpilogue(e.builder, e.loc, op, s.front(),
                          s.drop_front().drop_back(destinations.size()));
  });
}

/// What the finish makes of one value for each reduction: a scalar for each
/// result of rows.
static SmallVector<Value> inlineRowResults(Emitter &e, Block &finish,
                                           ValueRange reduced) {
  RowValues rowValues(finish);
  IRMapping mapping;
  mapping.map(finish.getArguments().drop_front(), reduced);
  for (Operation &inner : finish.without_terminator())
    if (rowValues.contains(inner.getResult(0)))
      e.builder.clone(inner, mapping);
  return llvm::map_to_vector(
      cast<YieldOp>(finish.getTerminator()).getValues().drop_front(),
      [&](Value value) { return mapping.lookup(value); });
}

/// The element and what is reduced as whole tensors, then the reductions, then
/// what the finish makes of them.
static SmallVector<Value> finishRows(Emitter &e, RowOpInterface op,
                                     Value accumulator) {
  auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
  Value destination = epilogue.getEpilogueInit().get();
  AffineMap all = e.identity(Emitter::rank(destination)), rows = getRowMap(op);
  Block &finish = op.getFinish().front();
  Emitter::Sizes sizes = e.sizes(destination), rowSizes;
  for (AffineExpr dim : rows.getResults())
    rowSizes.push_back(sizes[cast<AffineDimExpr>(dim).getPosition()]);

  SmallVector<Value> empties =
      llvm::map_to_vector(finish.getArgumentTypes(),
                          [&](Type type) { return e.empty(sizes, type); });
  SmallVector<Value> values =
      applyEpilogue(e, epilogue, accumulator, empties,
                    SmallVector<AffineMap>(empties.size(), all));
  for (auto [index, value] :
       llvm::enumerate(MutableArrayRef(values).drop_front())) {
    ReductionKind kind = getFinishKind(op, index);
    Value neutral = e.make<arith::ConstantOp>(
        getNeutralElement(kind, Emitter::elementType(value)));
    value = e.generic({value}, {all}, e.filled(rowSizes, neutral), rows,
                      [&](Emitter &e, ValueRange s) {
                        return combine(e.builder, e.loc, kind, s[1], s[0]);
                      });
  }

  SmallVector<AffineMap> maps(values.size(), rows);
  maps.front() = all;
  SmallVector<Value> results = {
      e.elementwise(values, maps, destination, [&](Emitter &e, ValueRange s) {
        return inlineScalars(e.builder, finish, s.drop_back()).front();
      })};
  auto inits = llvm::map_to_vector(op.getRowInitsMutable(),
                                   [](OpOperand &init) { return init.get(); });
  if (inits.empty())
    return results;
  ValueRange reduced = ArrayRef(values).drop_front();
  maps.assign(reduced.size() + inits.size(), e.identity(rowSizes.size()));
  llvm::append_range(
      results, e.maps(reduced, inits, maps, [&](Emitter &e, ValueRange s) {
        return inlineRowResults(e, finish, s.take_front(reduced.size()));
      }));
  return results;
}

SmallVector<Value> Emitter::finish(EpilogueOpInterface op, Value accumulator) {
  if (hasFinish(op))
    return finishRows(*this, cast<RowOpInterface>(op.getOperation()),
                      accumulator);
  Value destination = op.getEpilogueInit().get();
  AffineMap all = identity(rank(destination));
  // Values that will be reduced are stored as a whole tensor first, which
  // another operation reduces.
  SmallVector<Value> destinations = {destination};
  SmallVector<AffineMap> maps = {all};
  for (auto [index, init] : llvm::enumerate(op.getAuxInitsMutable())) {
    bool isReduced = getAuxKind(op, index) != ReductionKind::None;
    destinations.push_back(
        isReduced ? empty(sizes(destination), elementType(init.get()))
                  : init.get());
    maps.push_back(isReduced ? all : getAuxMap(op, index));
  }
  SmallVector<Value> results =
      applyEpilogue(*this, op, accumulator, destinations, maps);
  for (unsigned index = 0, e = op.getAuxResults().size(); index < e; ++index)
    if (getAuxKind(op, index) != ReductionKind::None)
      results[index + 1] = reduceAux(*this, op, index, results[index + 1]);
  return results;
}
