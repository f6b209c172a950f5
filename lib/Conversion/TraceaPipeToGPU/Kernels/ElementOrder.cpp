//===- ElementOrder.cpp - One element after the other ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a lane computes of its elements stands in the order of operations, each
// on all elements. A long computation in that order keeps a register for every
// intermediate value of every element, and code generation does not change it.
// Here long ones become scalars, each in front of what reads it first: one
// element is done before the next one begins.

#include "tracea/Conversion/TraceaPipeToGPU/ElementOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Vectors shorter than that take few registers; blocks with fewer operations
/// on longer ones are left alone.
static constexpr int64_t kLongVector = 16;
static constexpr size_t kManyOperations = 128;

static VectorType getLongVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && !vector.isScalable() &&
                 vector.getNumElements() >= kLongVector
             ? vector
             : nullptr;
}

/// An operation on each element of long vectors by itself.
static bool isElementwise(Operation *op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      !OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 ||
      op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  VectorType result = getLongVector(op->getResult(0).getType());
  return result && llvm::all_of(op->getOperandTypes(), [&](Type type) {
           auto vector = dyn_cast<VectorType>(type);
           return vector ? vector.getShape() == result.getShape()
                         : type.isIntOrIndexOrFloat();
         });
}

namespace {
/// The elements of the vectors of one block.
class Elements {
public:
  void scalarize(Operation *op);

private:
  Value get(ImplicitLocOpBuilder &b, Value vector, int64_t index);

  DenseMap<Value, SmallVector<Value>> known;
};
} // namespace

Value Elements::get(ImplicitLocOpBuilder &b, Value vector, int64_t index) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  SmallVector<Value> &elements = known[vector];
  elements.resize(type.getNumElements());
  if (elements[index])
    return elements[index];
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(vector);
  if (auto constant = vector.getDefiningOp<arith::ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue())) {
      Value one =
          arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>());
      elements.assign(elements.size(), one);
      return one;
    }
  if (auto all = vector.getDefiningOp<vector::FromElementsOp>())
    elements.assign(all.getElements().begin(), all.getElements().end());
  else
    elements[index] = vector::ExtractOp::create(b, vector, index);
  return elements[index];
}

void Elements::scalarize(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto type = cast<VectorType>(op->getResult(0).getType());
  SmallVector<Value> results;
  for (int64_t index = 0; index < type.getNumElements(); ++index) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(get(b, operand, index));
    OperationState state(op->getLoc(), op->getName(), operands,
                         TypeRange(type.getElementType()), op->getAttrs());
    results.push_back(b.create(state)->getResult(0));
  }
  Value vector = vector::FromElementsOp::create(b, type, results);
  known[vector] = std::move(results);
  op->getResult(0).replaceAllUsesWith(vector);
  op->erase();
}

/// Puts what is computed without memory in front of its first user.
static void sink(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isa<arith::ArithDialect, math::MathDialect, vector::VectorDialect>(
            op.getDialect()) ||
        op.getNumRegions() || !isMemoryEffectFree(&op))
      continue;
    if (op.use_empty()) {
      op.erase();
      continue;
    }
    Operation *first = nullptr;
    for (Operation *user : op.getUsers()) {
      Operation *place = block.findAncestorOpInBlock(*user);
      if (place && (!first || place->isBeforeInBlock(first)))
        first = place;
    }
    if (first)
      op.moveBefore(first);
  }
}

void mlir::tracea_pipe::orderElements(Operation *function) {
  SmallVector<Block *> blocks;
  function->walk([&](Block *block) {
    if (llvm::count_if(*block, [](Operation &op) {
          return isElementwise(&op);
        }) >= static_cast<ptrdiff_t>(kManyOperations))
      blocks.push_back(block);
  });
  for (Block *block : blocks) {
    Elements elements;
    for (Operation &op : llvm::make_early_inc_range(*block))
      if (isElementwise(&op))
        elements.scalarize(&op);
    sink(*block);
  }
}
