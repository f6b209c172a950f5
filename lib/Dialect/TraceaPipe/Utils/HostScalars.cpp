//===- HostScalars.cpp - Numbers that a run knows beforehand --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

static bool isIndexLike(Type type) { return isa<IndexType, IntegerType>(type); }

bool mlir::tracea_pipe::isIndexArithmetic(Operation *op) {
  return isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) &&
         op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), isIndexLike) &&
         llvm::all_of(op->getResultTypes(), isIndexLike);
}

bool mlir::tracea_pipe::isScalarArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && value.getType().isIntOrIndexOrFloat() &&
         isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

bool mlir::tracea_pipe::isExpressible(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *def = reached[i].getDefiningOp();
    if (!isIndexLike(reached[i].getType()))
      return false;
    if (isScalarArgument(reached[i]))
      continue;
    if (!def)
      return false;
    if (isa<memref::DimOp, memref::ExtractStridedMetadataOp>(def))
      continue;
    if (!isIndexArithmetic(def))
      return false;
    reached.insert(def->operand_begin(), def->operand_end());
  }
  return true;
}

bool mlir::tracea_pipe::writesBuffer(Operation *op, Value root) {
  WalkResult result = op->walk([&](Operation *nested) {
    if (isMemoryEffectFree(nested) ||
        nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    auto effects = dyn_cast<MemoryEffectOpInterface>(nested);
    if (!effects)
      return WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects<MemoryEffects::Write>(instances);
    for (const MemoryEffects::EffectInstance &instance : instances)
      if (!instance.getValue() || getViewRoot(instance.getValue()) == root)
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool mlir::tracea_pipe::isKnownScalar(Value value) {
  Operation *def = value.getDefiningOp();
  return isScalarArgument(value) || isExpressible(value) ||
         (def && def->hasTrait<OpTrait::ConstantLike>());
}

SmallVector<Value> mlir::tracea_pipe::getTable(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.hasStaticShape() || type.getNumElements() < 1 ||
      type.getNumElements() > kMaxTableElements)
    return {};
  SmallVector<Value> elements(type.getNumElements());
  int64_t numStored = 0;
  SmallVector<Value> names = {alloc.getResult()};
  for (size_t i = 0; i < names.size(); ++i)
    for (Operation *user : names[i].getUsers()) {
      auto store = dyn_cast<memref::StoreOp>(user);
      if (!store) {
        if (auto view = dyn_cast<ViewLikeOpInterface>(user))
          names.push_back(view->getResult(0));
        else if (writesBuffer(user, alloc.getResult()))
          return {};
        continue;
      }
      if (i != 0 || store->getBlock() != alloc->getBlock() ||
          store.getMemRef() == store.getValue() ||
          !isKnownScalar(store.getValue()))
        return {};
      int64_t place = 0;
      for (auto [index, size] :
           llvm::zip_equal(store.getIndices(), type.getShape())) {
        std::optional<int64_t> number = getConstantIntValue(index);
        if (!number || *number < 0 || *number >= size)
          return {};
        place = place * size + *number;
      }
      if (elements[place])
        return {};
      elements[place] = store.getValue();
      ++numStored;
    }
  return numStored == type.getNumElements() ? elements : SmallVector<Value>();
}

bool mlir::tracea_pipe::isTableStore(Operation *op) {
  auto store = dyn_cast<memref::StoreOp>(op);
  auto alloc =
      store ? store.getMemRef().getDefiningOp<memref::AllocOp>() : nullptr;
  return alloc && !getTable(alloc).empty();
}
