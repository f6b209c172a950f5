//===- LaneBody.cpp - A lane's part of a structured operation -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the body of a structured operation to what one lane does: loads of its
// operands, loops over what is reduced with sums in registers, stores. Where a
// lane takes neighbouring iterations together, what differs between them is a
// vector, and what does not is there once. Of several vectors, or of a block of
// single iterations, all are loaded before the first is stored.
//
//===----------------------------------------------------------------------===//

#include "Lanes/LaneBody.h"
#include "SizeBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
class LaneBody {
public:
  LaneBody(OpBuilder &builder, linalg::LinalgOp op, const LaneVectors &vectors,
           const LanePart &part, ArrayRef<OpFoldResult> extents)
      : b(op.getLoc(), builder), op(op), vectors(vectors), part(part),
        extents(extents), indices(part.indices) {}

  void build();

private:
  /// What the vectors of a lane have of one value, in their order; one value
  /// where all have the same.
  using Values = SmallVector<Value, 1>;

  bool isVector(OpOperand &operand);
  SmallVector<Value> place(OpOperand &operand, int64_t number);
  Value load(bool isVector, Value memory, ValueRange indices);
  Values load(OpOperand &operand);
  Values getStart();
  Values loadHeld(OpOperand &init);
  SmallVector<Values> reduce(unsigned dim, SmallVector<Values> carried);
  SmallVector<Values> compute(ArrayRef<Values> carried);
  void bindArguments(ArrayRef<Values> carried, int64_t number);
  /// Whether a lane takes iterations one after another, each with one element
  /// or one vector.
  bool isBlock() const { return part.block.getSize() > 1; }
  /// The vectors that an iteration has.
  int64_t getCount() const { return isBlock() ? 1 : part.vectors; }
  void moveTo(int64_t number);
  void store(OpOperand &init, const Values &found);
  void emit(Block &block);
  void emit(Operation &inner);
  void emitBranch(scf::IfOp branch);
  void emitLoad(memref::LoadOp element);
  void emitAlike(Operation &inner, int64_t number);
  Value get(Value value, int64_t number);
  Value getVector(Value value, int64_t number);
  void set(Value value, Values found) { values[value] = std::move(found); }

  ImplicitLocOpBuilder b;
  linalg::LinalgOp op;
  const LaneVectors &vectors;
  const LanePart &part;
  ArrayRef<OpFoldResult> extents;
  SmallVector<Value> indices;
  /// What stands for the values of the body: of those that are the same for all
  /// iterations of a lane, themselves; of runs the first number of each vector;
  /// of others the vectors.
  DenseMap<Value, Values> values;
};
} // namespace

bool LaneBody::isVector(OpOperand &operand) {
  return vectors.getWidth() > 1 &&
         LaneVectors::ofAccess(op.getMatchingIndexingMap(&operand),
                               cast<MemRefType>(operand.get().getType()),
                               vectors.getLoop(),
                               vectors.getWidth()) != Spread::Same;
}

/// Goes to an iteration of the block.
void LaneBody::moveTo(int64_t number) {
  const LaneBlock &block = part.block;
  SizeBuilder size(b, b.getLoc());
  auto move = [&](unsigned loop, int64_t by) {
    indices[loop] =
        size.value(size.add(OpFoldResult(indices[loop]), size.constant(by)));
  };
  auto moveAlong = [&](unsigned loop, int64_t count) {
    indices[loop] = part.indices[loop];
    if (int64_t by = number % count)
      move(loop, by);
    number /= count;
  };
  moveAlong(block.column, block.columns);
  for (auto [loop, count] : block.rows)
    moveAlong(loop, count);
}

/// Where the iteration is in an operand.
SmallVector<Value> LaneBody::place(OpOperand &operand, int64_t number) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SizeBuilder size(b, b.getLoc());
  SmallVector<OpFoldResult> at(indices.begin(), indices.end());
  if (number)
    at[vectors.getLoop()] =
        size.add(at[vectors.getLoop()], size.constant(number * part.distance));
  SmallVector<Value> result;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    result.push_back(size.value(affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), map.getSubMap({i}), at)));
  return result;
}

Value LaneBody::load(bool isVector, Value memory, ValueRange at) {
  if (!isVector)
    return memref::LoadOp::create(b, memory, at);
  auto type = VectorType::get(vectors.getWidth(),
                              getElementTypeOrSelf(memory.getType()));
  return vector::LoadOp::create(b, type, memory, at);
}

LaneBody::Values LaneBody::load(OpOperand &operand) {
  if (!isVector(operand))
    return {load(/*isVector=*/false, operand.get(), place(operand, 0))};
  Values loaded;
  for (int64_t number = 0; number < getCount(); ++number)
    loaded.push_back(
        load(/*isVector=*/true, operand.get(), place(operand, number)));
  return loaded;
}

/// What a vector has of a value, or all have.
Value LaneBody::get(Value value, int64_t number) {
  auto found = values.find(value);
  if (found == values.end())
    return value;
  return found->second.size() == 1 ? found->second.front()
                                   : found->second[number];
}

/// The numbers of all neighbours.
Value LaneBody::getVector(Value value, int64_t number) {
  Value found = get(value, number);
  if (vectors.getWidth() == 1 || isa<VectorType>(found.getType()))
    return found;
  auto type = VectorType::get(vectors.getWidth(), found.getType());
  Attribute constant;
  if (matchPattern(found, m_Constant(&constant)))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, constant));
  Value all = vector::BroadcastOp::create(b, type, found);
  if (vectors.of(value) != Spread::Run)
    return all;
  SmallVector<int64_t> steps =
      llvm::to_vector(llvm::seq<int64_t>(vectors.getWidth()));
  Value step = arith::ConstantOp::create(
      b, cast<TypedAttr>(DenseElementsAttr(b.getIndexVectorAttr(steps))));
  return arith::AddIOp::create(b, all, step);
}

void LaneBody::emitBranch(scf::IfOp branch) {
  // Each result is there once, or as a vector for each.
  SmallVector<Type> types;
  auto isSame = [&](Value result) {
    return vectors.of(result) == Spread::Same;
  };
  for (Value result : branch.getResults()) {
    Type type = result.getType();
    if (isSame(result))
      types.push_back(type);
    else
      types.append(getCount(), VectorType::get(vectors.getWidth(), type));
  }
  auto made = scf::IfOp::create(b, types, get(branch.getCondition(), 0),
                                !branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), made->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (!to.front().empty())
      to.front().back().erase();
    b.setInsertionPointToEnd(&to.front());
    emit(from.front());
    SmallVector<Value> yielded;
    for (auto [value, result] :
         llvm::zip(from.front().getTerminator()->getOperands(),
                   branch.getResults())) {
      if (isSame(result)) {
        yielded.push_back(get(value, 0));
        continue;
      }
      for (int64_t number = 0; number < getCount(); ++number)
        yielded.push_back(getVector(value, number));
    }
    scf::YieldOp::create(b, yielded);
  }
  ValueRange left = made.getResults();
  for (Value result : branch.getResults()) {
    int64_t count = isSame(result) ? 1 : getCount();
    set(result, Values(left.take_front(count)));
    left = left.drop_front(count);
  }
}

void LaneBody::emitLoad(memref::LoadOp element) {
  bool isVector = vectors.of(element.getResult()) != Spread::Same;
  Values loaded;
  for (int64_t number = 0; number < (isVector ? getCount() : 1); ++number) {
    SmallVector<Value> at;
    for (Value index : element.getIndices())
      at.push_back(get(index, number));
    loaded.push_back(load(isVector, get(element.getMemRef(), 0), at));
  }
  set(element.getResult(), loaded);
}

/// The operation as it is, on single values.
void LaneBody::emitAlike(Operation &inner, int64_t number) {
  IRMapping mapping;
  auto map = [&](Value value) { mapping.map(value, get(value, number)); };
  llvm::for_each(inner.getOperands(), map);
  llvm::SetVector<Value> around;
  getUsedValuesDefinedAbove(inner.getRegions(), around);
  llvm::for_each(around, map);
  Operation *clone = b.clone(inner, mapping);
  clone->walk([&](linalg::IndexOp nested) {
    nested.replaceAllUsesWith(indices[nested.getDim()]);
    nested.erase();
  });
  for (auto [value, made] :
       llvm::zip(inner.getResults(), clone->getResults())) {
    if (number == 0)
      values[value].clear();
    values[value].push_back(made);
  }
}

void LaneBody::emit(Operation &inner) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    SizeBuilder size(b, b.getLoc());
    Value first = indices[index.getDim()];
    Values numbers = {first};
    if (vectors.getWidth() > 1 && index.getDim() == vectors.getLoop())
      for (int64_t number = 1; number < getCount(); ++number)
        numbers.push_back(size.value(size.add(
            OpFoldResult(first), size.constant(number * part.distance))));
    set(index.getResult(), numbers);
    return;
  }
  if (vectors.getWidth() == 1)
    return emitAlike(inner, 0);
  if (auto branch = dyn_cast<scf::IfOp>(inner))
    return emitBranch(branch);
  if (auto element = dyn_cast<memref::LoadOp>(inner))
    return emitLoad(element);
  Spread spread = inner.getNumResults() == 1 ? vectors.of(inner.getResult(0))
                                             : Spread::Same;
  if (spread == Spread::Same)
    return emitAlike(inner, 0);
  Values made;
  for (int64_t number = 0; number < getCount(); ++number) {
    // Runs are moved by their first number.
    if (spread == Spread::Run) {
      emitAlike(inner, number);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(getVector(operand, number));
    Type type =
        VectorType::get(vectors.getWidth(), inner.getResult(0).getType());
    made.push_back(static_cast<OpBuilder &>(b)
                       .create(b.getLoc(), inner.getName().getIdentifier(),
                               operands, {type}, inner.getAttrs())
                       ->getResult(0));
  }
  if (spread == Spread::Any)
    set(inner.getResult(0), made);
}

void LaneBody::emit(Block &block) {
  for (Operation &inner : block.without_terminator()) {
    Location around = b.getLoc();
    b.setLoc(inner.getLoc());
    emit(inner);
    b.setLoc(around);
  }
}

/// What the body begins with, of iteration `number` of a block.
void LaneBody::bindArguments(ArrayRef<Values> carried, int64_t number) {
  values.clear();
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    if (isa<MemRefType>(input->get().getType()))
      set(argument, load(*input));
    else
      set(argument, {input->get()});
  }
  for (auto [argument, before] : llvm::zip(op.getRegionOutputArgs(), carried))
    set(argument,
        isBlock() && before.size() > 1 ? Values{before[number]} : before);
}

/// The operation's body at the place where the iteration is.
SmallVector<LaneBody::Values> LaneBody::compute(ArrayRef<Values> carried) {
  Block &body = *op.getBlock();
  SmallVector<Values> results(body.getTerminator()->getNumOperands());
  auto yield = [&](int64_t number) {
    for (auto [value, result] :
         llvm::zip(body.getTerminator()->getOperands(), results))
      result.push_back(getVector(value, number));
  };
  if (!isBlock()) {
    bindArguments(carried, 0);
    emit(body);
    for (int64_t number = 0; number < part.vectors; ++number)
      yield(number);
    return results;
  }
  for (int64_t number = 0; number < part.block.getSize(); ++number) {
    moveTo(number);
    bindArguments(carried, number);
    emit(body);
    yield(0);
  }
  moveTo(0);
  return results;
}

/// Goes through the dimensions from `dim` on that are not parallel.
SmallVector<LaneBody::Values> LaneBody::reduce(unsigned dim,
                                               SmallVector<Values> carried) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  while (dim < iterators.size() &&
         iterators[dim] == utils::IteratorType::parallel)
    ++dim;
  if (dim == iterators.size())
    return compute(carried);
  SizeBuilder size(b, b.getLoc());
  SmallVector<Value> flat;
  for (const Values &some : carried)
    llvm::append_range(flat, some);
  auto split = [&](ValueRange all) {
    SmallVector<Values> parts;
    for (const Values &some : carried) {
      parts.push_back(Values(all.take_front(some.size())));
      all = all.drop_front(some.size());
    }
    return parts;
  };
  auto loop = scf::ForOp::create(b, size.value(size.constant(0)),
                                 size.value(extents[dim]),
                                 size.value(size.constant(1)), flat);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices[dim] = loop.getInductionVar();
  SmallVector<Value> next;
  for (const Values &some : reduce(dim + 1, split(loop.getRegionIterArgs())))
    llvm::append_range(next, some);
  scf::YieldOp::create(b, next);
  return split(loop.getResults());
}

/// What is reduced begins with one constant.
LaneBody::Values LaneBody::getStart() {
  TypedAttr constant = part.start;
  if (vectors.getWidth() > 1)
    constant = DenseElementsAttr::get(
        VectorType::get(vectors.getWidth(), constant.getType()),
        Attribute(constant));
  return Values(part.vectors, arith::ConstantOp::create(b, constant));
}

/// What an operand held before.
LaneBody::Values LaneBody::loadHeld(OpOperand &init) {
  if (!isBlock())
    return load(init);
  Values held;
  for (int64_t number = 0; number < part.block.getSize(); ++number) {
    moveTo(number);
    held.append(load(init));
  }
  moveTo(0);
  return held;
}

void LaneBody::store(OpOperand &init, const Values &found) {
  int64_t columns = part.block.columns;
  for (int64_t number = 0; number < part.vectors; number += columns) {
    if (isBlock())
      moveTo(number);
    Value value = found[number];
    if (columns > 1)
      value = vector::FromElementsOp::create(
          b, VectorType::get(columns, value.getType()),
          ArrayRef(found).slice(number, columns));
    SmallVector<Value> at = place(init, isBlock() ? 0 : number);
    if (isa<VectorType>(value.getType()))
      vector::StoreOp::create(b, value, init.get(), at);
    else
      memref::StoreOp::create(b, value, init.get(), at);
  }
}

void LaneBody::build() {
  // Where nothing is reduced, what was there before may not matter.
  SmallVector<Values> carried;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    bool isRead =
        op.getNumReductionLoops() != 0 || op.payloadUsesValueFromOperand(&init);
    if (!isRead)
      carried.push_back({Value()});
    else if (part.start)
      carried.push_back(getStart());
    else
      carried.push_back(loadHeld(init));
  }
  SmallVector<Values> results = reduce(0, carried);
  for (auto [init, found] : llvm::zip(op.getDpsInitsMutable(), results))
    store(init, found);
}

void mlir::tracea::buildLaneBody(OpBuilder &builder, linalg::LinalgOp op,
                                 const LaneVectors &vectors,
                                 const LanePart &part,
                                 ArrayRef<OpFoldResult> extents) {
  LaneBody(builder, op, vectors, part, extents).build();
}
