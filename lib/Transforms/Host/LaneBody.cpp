//===- LaneBody.cpp - A lane's part of a structured operation -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the body of a structured operation to what one lane does: loads of its
// operands, loops over what is reduced with sums in registers, stores. Where a
// lane takes neighbouring iterations together, what differs between them is a
// vector, and what does not is there once.
//
//===----------------------------------------------------------------------===//

#include "LaneBody.h"
#include "SizeBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
class LaneBody {
public:
  LaneBody(OpBuilder &builder, linalg::LinalgOp op, const LaneVectors &vectors,
           TypedAttr start, ArrayRef<OpFoldResult> extents,
           ArrayRef<Value> indices)
      : b(op.getLoc(), builder), op(op), vectors(vectors), start(start),
        extents(extents), indices(indices) {}

  void build();

private:
  SmallVector<Value> place(OpOperand &operand);
  bool isVector(OpOperand &operand);
  Value load(OpOperand &operand);
  Value load(bool isVector, Value memory, ValueRange indices);
  void store(OpOperand &init, Value value);
  Value getStart();
  SmallVector<Value> reduce(unsigned dim, SmallVector<Value> carried);
  SmallVector<Value> compute(ValueRange carried);
  void emit(Block &block);
  void emit(Operation &inner);
  void emitBranch(scf::IfOp branch);
  Type getType(Value value);
  Value getVector(Value value);
  Value getAs(Value value, Type type);

  ImplicitLocOpBuilder b;
  linalg::LinalgOp op;
  const LaneVectors &vectors;
  TypedAttr start;
  ArrayRef<OpFoldResult> extents;
  SmallVector<Value> indices;
  /// Of values that are the same for all neighbours, themselves; of runs the
  /// first number; of others a vector.
  IRMapping mapping;
};
} // namespace

/// Where the iteration is in an operand.
SmallVector<Value> LaneBody::place(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<OpFoldResult> at(indices.begin(), indices.end());
  SmallVector<Value> result;
  SizeBuilder size(b, b.getLoc());
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    result.push_back(size.value(affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), map.getSubMap({i}), at)));
  return result;
}

bool LaneBody::isVector(OpOperand &operand) {
  return vectors.getWidth() > 1 &&
         LaneVectors::ofAccess(op.getMatchingIndexingMap(&operand),
                               cast<MemRefType>(operand.get().getType()),
                               vectors.getLoop(),
                               vectors.getWidth()) != Spread::Same;
}

Value LaneBody::load(bool isVector, Value memory, ValueRange at) {
  if (!isVector)
    return memref::LoadOp::create(b, memory, at);
  auto type = VectorType::get(vectors.getWidth(),
                              getElementTypeOrSelf(memory.getType()));
  return vector::LoadOp::create(b, type, memory, at);
}

Value LaneBody::load(OpOperand &operand) {
  return load(isVector(operand), operand.get(), place(operand));
}

void LaneBody::store(OpOperand &init, Value value) {
  SmallVector<Value> at = place(init);
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(b, value, init.get(), at);
  else
    memref::StoreOp::create(b, value, init.get(), at);
}

/// The type of what stands for a value that the body computes.
Type LaneBody::getType(Value value) {
  bool isVector = vectors.getWidth() > 1 && vectors.of(value) != Spread::Same;
  return isVector ? VectorType::get(vectors.getWidth(), value.getType())
                  : value.getType();
}

/// The numbers of all neighbours.
Value LaneBody::getVector(Value value) {
  Value found = mapping.lookupOrDefault(value);
  if (isa<VectorType>(found.getType()))
    return found;
  auto type = VectorType::get(vectors.getWidth(), found.getType());
  Attribute constant;
  if (matchPattern(found, m_Constant(&constant)))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, constant));
  Value all = vector::BroadcastOp::create(b, type, found);
  if (vectors.of(value) != Spread::Run)
    return all;
  SmallVector<int64_t> numbers =
      llvm::to_vector(llvm::seq<int64_t>(vectors.getWidth()));
  Value step = arith::ConstantOp::create(
      b, cast<TypedAttr>(DenseElementsAttr(b.getIndexVectorAttr(numbers))));
  return arith::AddIOp::create(b, all, step);
}

Value LaneBody::getAs(Value value, Type type) {
  return isa<VectorType>(type) ? getVector(value)
                               : mapping.lookupOrDefault(value);
}

void LaneBody::emitBranch(scf::IfOp branch) {
  SmallVector<Type> types;
  for (Value result : branch.getResults())
    types.push_back(getType(result));
  auto made = scf::IfOp::create(
      b, types, mapping.lookupOrDefault(branch.getCondition()),
      /*withElseRegion=*/!branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), made->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (!to.front().empty())
      to.front().back().erase();
    b.setInsertionPointToEnd(&to.front());
    emit(from.front());
    SmallVector<Value> yielded;
    for (auto [value, type] :
         llvm::zip(from.front().getTerminator()->getOperands(), types))
      yielded.push_back(getAs(value, type));
    scf::YieldOp::create(b, yielded);
  }
  mapping.map(branch.getResults(), made.getResults());
}

void LaneBody::emit(Operation &inner) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    mapping.map(index.getResult(), indices[index.getDim()]);
    return;
  }
  if (vectors.getWidth() == 1) {
    b.clone(inner, mapping)->walk([&](linalg::IndexOp nested) {
      nested.replaceAllUsesWith(indices[nested.getDim()]);
      nested.erase();
    });
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(inner))
    return emitBranch(branch);
  if (auto element = dyn_cast<memref::LoadOp>(inner)) {
    SmallVector<Value> at;
    for (Value index : element.getIndices())
      at.push_back(mapping.lookupOrDefault(index));
    bool isVector = vectors.of(element.getResult()) != Spread::Same;
    mapping.map(
        element.getResult(),
        load(isVector, mapping.lookupOrDefault(element.getMemRef()), at));
    return;
  }
  // Numbers of runs are compared and moved by their first one.
  if (inner.getNumResults() != 1 ||
      vectors.of(inner.getResult(0)) != Spread::Any) {
    b.clone(inner, mapping);
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(getVector(operand));
  Operation *made =
      b.create(inner.getLoc(), inner.getName().getIdentifier(), operands,
               {getType(inner.getResult(0))}, inner.getAttrs());
  mapping.map(inner.getResult(0), made->getResult(0));
}

void LaneBody::emit(Block &block) {
  for (Operation &inner : block.without_terminator()) {
    Location around = b.getLoc();
    b.setLoc(inner.getLoc());
    emit(inner);
    b.setLoc(around);
  }
}

/// The operation's body at the place where the iteration is.
SmallVector<Value> LaneBody::compute(ValueRange carried) {
  Block &body = *op.getBlock();
  mapping = IRMapping();
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    Value value = input->get();
    if (isa<MemRefType>(value.getType()))
      value = load(*input);
    mapping.map(argument, value);
  }
  mapping.map(op.getRegionOutputArgs(), carried);
  emit(body);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(vectors.getWidth() > 1 ? getVector(value)
                                             : mapping.lookupOrDefault(value));
  return results;
}

/// Goes through the dimensions from `dim` on that are not parallel.
SmallVector<Value> LaneBody::reduce(unsigned dim, SmallVector<Value> carried) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  while (dim < iterators.size() &&
         iterators[dim] == utils::IteratorType::parallel)
    ++dim;
  if (dim == iterators.size())
    return compute(carried);
  SizeBuilder size(b, b.getLoc());
  auto loop = scf::ForOp::create(b, size.value(size.constant(0)),
                                 size.value(extents[dim]),
                                 size.value(size.constant(1)), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices[dim] = loop.getInductionVar();
  SmallVector<Value> next =
      reduce(dim + 1, llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// What is reduced begins with one constant.
Value LaneBody::getStart() {
  TypedAttr constant = start;
  if (vectors.getWidth() > 1)
    constant = DenseElementsAttr::get(
        VectorType::get(vectors.getWidth(), start.getType()), Attribute(start));
  return arith::ConstantOp::create(b, constant);
}

void LaneBody::build() {
  // Where nothing is reduced, what was there before may not matter.
  SmallVector<Value> carried;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    bool isRead =
        op.getNumReductionLoops() != 0 || op.payloadUsesValueFromOperand(&init);
    if (!isRead)
      carried.push_back(Value());
    else if (start)
      carried.push_back(getStart());
    else
      carried.push_back(load(init));
  }
  SmallVector<Value> results = reduce(0, carried);
  for (auto [init, value] : llvm::zip(op.getDpsInitsMutable(), results))
    store(init, value);
}

void mlir::tracea::buildLaneBody(OpBuilder &builder, linalg::LinalgOp op,
                                 const LaneVectors &vectors, TypedAttr start,
                                 ArrayRef<OpFoldResult> extents,
                                 ArrayRef<Value> indices) {
  LaneBody(builder, op, vectors, start, extents, indices).build();
}
