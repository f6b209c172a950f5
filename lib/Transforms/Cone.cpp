//===- Cone.cpp - Elementwise operations behind a result ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cone.h"
#include "AuxResults.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

void mlir::tracea::collectUsers(Value tensor,
                                llvm::SetVector<Operation *> &users,
                                llvm::SetVector<Operation *> &casts) {
  for (Operation *user : tensor.getUsers()) {
    tensor::CastOp cast = dyn_cast<tensor::CastOp>(user);
    if (cast && isa<RankedTensorType>(cast.getType())) {
      casts.insert(cast);
      collectUsers(cast.getResult(), users, casts);
    } else {
      users.insert(user);
    }
  }
}

SmallVector<Operation *> Cone::getInnerOps() const {
  SmallVector<Operation *> inner(casts.begin(), casts.end());
  for (auto &[member, elementwise] : matched)
    if (member != sink)
      inner.push_back(member);
  llvm::sort(inner,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return inner;
}

LogicalResult Cone::addUsers(Value value, llvm::SetVector<Operation *> &open,
                             std::string &reason) {
  llvm::SetVector<Operation *> users;
  collectUsers(value, users, casts);
  for (Operation *op : users) {
    if (matched.contains(op)) {
      open.insert(op);
      continue;
    }
    std::string why = "the result is used in another block";
    std::optional<ElementwiseOp> elementwise;
    if (op->getBlock() == producer->getBlock())
      elementwise = ElementwiseOp::match(op, why);
    if (elementwise) {
      matched.insert({op, *elementwise});
      open.insert(op);
      continue;
    }
    if (reason.empty())
      reason = users.size() == 1 && open.empty()
                   ? why
                   : "the result has several users that do not meet again in "
                     "one elementwise operation";
    // Extents will be those of the destination; a cast is not looked through
    // for others.
    if (!isa<GemmOp>(producer.getOperation()) || isa<tensor::DimOp>(op) ||
        !llvm::is_contained(op->getOperands(), value))
      return failure();
    if (escapes.empty() || escapes.back().first != value)
      escapes.push_back({value, AffineMap()});
  }
  return success();
}

LogicalResult Cone::collect(std::string &reason) {
  llvm::SetVector<Operation *> open;
  if (producer.getEpilogueResult().use_empty()) {
    reason = "the result has no user";
    return failure();
  }
  std::string obstacle;
  Value next = producer.getEpilogueResult();
  while (true) {
    if (failed(addUsers(next, open, obstacle)) || open.empty()) {
      reason = obstacle;
      return failure();
    }
    if (open.size() == 1)
      break;
    // The earliest cannot be the sink: go on with its users.
    Operation *earliest = open.front();
    for (Operation *op : open)
      if (op->isBeforeInBlock(earliest))
        earliest = op;
    open.remove(earliest);
    next = earliest->getResult(0);
  }
  sink = last = open.front();
  if (!canMoveTo(producer, sink)) {
    reason = "an auxiliary result is read before the consumer";
    return failure();
  }
  for (Operation *cast : casts) {
    if (cast->getBlock() != producer->getBlock()) {
      reason = "the result is used in another block";
      return failure();
    }
  }
  return success();
}

/// Flags and indices have no store of their own in kernels.
static bool isStorable(Type type) {
  return isa<FloatType>(type) ||
         (type.isInteger() && type.getIntOrFloatBitWidth() >= 8);
}

LogicalResult Cone::placeSink(unsigned rank, std::string &reason) {
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(rank, producer.getContext());
  if (succeeded(place(sink, identity, reason)))
    return success();
  // Another value that others read can be the first result as well.
  for (auto &escape : escapes) {
    Operation *other = escape.first.getDefiningOp();
    if (other == producer.getOperation())
      continue;
    members.clear();
    std::string ignored;
    if (failed(place(other, identity, ignored)))
      continue;
    escape.first = sink->getResult(0);
    sink = other;
    return success();
  }
  return failure();
}

LogicalResult Cone::arrangeEscapes(std::string &reason) {
  if (escapes.empty())
    return success();
  stays = true;
  for (auto &[member, info] : members) {
    for (const ElementwiseOp::Input &input : info.elementwise.getInputs()) {
      Value source = peelCasts(input.operand->get());
      bool isInner =
          source.getDefiningOp() && matched.contains(source.getDefiningOp());
      stays &= source == producer.getEpilogueResult() || isInner ||
               isDefinedBefore(input.operand->get(), producer);
    }
    for (Value capture : info.elementwise.getCaptures())
      stays &= isDefinedBefore(capture, producer);
  }
  unsigned rank = getEpilogueRank(producer);
  for (auto &[value, map] : escapes) {
    if (!isStorable(getElementTypeOrSelf(value.getType()))) {
      reason = "a value that others read stores neither floats nor integers of "
               "whole bytes";
      return failure();
    }
    Operation *member = value.getDefiningOp();
    map = member == producer.getOperation()
              ? AffineMap::getMultiDimIdentityMap(rank, producer.getContext())
              : members.lookup(member).map;
    if (stays)
      continue;
    SmallVector<Operation *> users(value.getUsers());
    llvm::append_range(users, sink->getResult(0).getUsers());
    for (Operation *user : users) {
      Operation *place = last->getBlock()->findAncestorOpInBlock(*user);
      if (place && !isInside(place) && place->isBeforeInBlock(last)) {
        reason = "the result is read before all operands of the consumer are "
                 "there";
        return failure();
      }
    }
  }
  return success();
}

LogicalResult Cone::place(Operation *op, AffineMap map, std::string &reason) {
  auto known = members.find(op);
  if (known != members.end()) {
    if (known->second.map == map)
      return success();
    reason = "the consumer reads one tensor in two ways";
    return failure();
  }
  const ElementwiseOp &elementwise = matched.find(op)->second;
  for (const ElementwiseOp::Input &input : elementwise.getInputs()) {
    Value source = peelCasts(input.operand->get());
    AffineMap inputMap = input.map.compose(map);
    bool isResult = source == producer.getEpilogueResult();
    Operation *inner = source.getDefiningOp();
    if (!isResult && inner == producer.getOperation()) {
      reason = "the consumer reads an auxiliary result, too";
      return failure();
    }
    bool isInner = inner && matched.contains(inner);
    if (!isResult && !isInner)
      continue;
    // Values of the cone exist one element at a time, in the result's order.
    if (!inputMap.isPermutation() || (isResult && !inputMap.isIdentity())) {
      reason = "the consumer '" + op->getName().getStringRef().str() +
               "' reads the result in another order than it writes";
      return failure();
    }
    if (isInner && failed(place(inner, inputMap, reason)))
      return failure();
  }
  members.insert({op, Member{elementwise, map}});
  return success();
}

/// Places what the sink does not read: branches whose values escape.
LogicalResult Cone::placeOthers(std::string &reason) {
  SmallVector<Operation *> others;
  for (auto &[op, elementwise] : matched)
    if (!members.contains(op))
      others.push_back(op);
  llvm::sort(others,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : others) {
    AffineMap map;
    for (const ElementwiseOp::Input &input :
         matched.find(op)->second.getInputs()) {
      Value source = peelCasts(input.operand->get());
      auto inner = members.find(source.getDefiningOp());
      bool isResult = source == producer.getEpilogueResult();
      if (!input.map.isPermutation() || (!isResult && inner == members.end()))
        continue;
      map = inversePermutation(input.map);
      if (!isResult)
        map = map.compose(inner->second.map);
      break;
    }
    if (!map) {
      reason = "the consumer '" + op->getName().getStringRef().str() +
               "' reads the result in another order than it writes";
      return failure();
    }
    if (failed(place(op, map, reason)))
      return failure();
  }
  return success();
}

std::optional<Cone> Cone::find(EpilogueOpInterface op, unsigned maxOperations,
                               std::string &reason) {
  if (!isUndecided(op)) {
    reason = "the operation carries a schedule already";
    return std::nullopt;
  }
  if (hasFinish(op)) {
    reason = "the result is made behind the epilogue, of what the row comes to";
    return std::nullopt;
  }
  Cone cone;
  cone.producer = op;
  if (failed(cone.collect(reason)))
    return std::nullopt;
  unsigned rank = getEpilogueRank(op);
  RankedTensorType sinkType =
      cast<RankedTensorType>(cone.sink->getResult(0).getType());
  if (sinkType.getRank() != rank) {
    reason = "the consumer's result has another rank";
    return std::nullopt;
  }
  if (!isStorable(sinkType.getElementType())) {
    reason = "the consumer stores neither floats nor integers of whole bytes";
    return std::nullopt;
  }
  if (failed(cone.placeSink(rank, reason)))
    return std::nullopt;
  if (failed(cone.placeOthers(reason)))
    return std::nullopt;
  if (failed(cone.arrangeEscapes(reason)))
    return std::nullopt;

  bool readsResult = false;
  unsigned size = 0;
  for (auto &[member, info] : cone.members) {
    size += info.elementwise.getSize();
    for (const ElementwiseOp::Input &input : info.elementwise.getInputs())
      readsResult |= peelCasts(input.operand->get()) == op.getEpilogueResult();
  }
  if (!readsResult) {
    reason = "the consumer takes the result as a destination only";
    return std::nullopt;
  }
  if (hasEpilogue(op))
    size += op.getEpilogue().front().getOperations().size() - 1;
  if (size > maxOperations) {
    reason = "the epilogue would hold " + std::to_string(size) +
             " operations, more than the " + std::to_string(maxOperations) +
             " allowed";
    return std::nullopt;
  }
  return cone;
}

SmallVector<EpilogueOpInterface> Cone::getOtherProducers() const {
  llvm::SetVector<Operation *> found;
  for (auto &[member, info] : members)
    for (const ElementwiseOp::Input &input : info.elementwise.getInputs()) {
      Operation *def = peelCasts(input.operand->get()).getDefiningOp();
      if (def && def != producer.getOperation() &&
          def->getBlock() == producer->getBlock() &&
          isa<EpilogueOpInterface>(def))
        found.insert(def);
    }
  return llvm::map_to_vector(
      found, [](Operation *op) { return cast<EpilogueOpInterface>(op); });
}

Value Cone::emit(EpilogueEditor &editor,
                 DenseMap<Value, Value> &scalarOf) const {
  scalarOf[producer.getEpilogueResult()] = editor.getStored();
  DenseMap<Operation *, Value> emitted;
  for (auto &[member, info] : members) {
    SmallVector<Value> scalars;
    for (const ElementwiseOp::Input &input : info.elementwise.getInputs()) {
      Value operand = input.operand->get();
      if (!isa<RankedTensorType>(operand.getType())) {
        scalars.push_back(editor.readScalar(operand));
        continue;
      }
      Value source = peelCasts(operand);
      Operation *inner = source.getDefiningOp();
      if (source == producer.getEpilogueResult())
        scalars.push_back(editor.getStored());
      else if (inner && emitted.contains(inner))
        scalars.push_back(emitted.lookup(inner));
      else
        scalars.push_back(editor.read(source, input.map.compose(info.map)));
    }
    SmallVector<Value> captured;
    for (Value capture : info.elementwise.getCaptures())
      captured.push_back(editor.readScalar(capture));
    Value result =
        info.elementwise.emit(editor.getBuilder(), scalars, captured);
    emitted[member] = result;
    scalarOf[member->getResult(0)] = result;
  }
  return emitted.lookup(sink);
}
