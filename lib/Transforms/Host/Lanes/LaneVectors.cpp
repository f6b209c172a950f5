//===- LaneVectors.cpp - Neighbours that a lane takes together ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which parts of an operation's body neighbouring iterations share, and whether
// what they do not share is vectors. An index that all of them have, of a row
// that data names say, may be anything; so may what a branch compares, where
// all neighbours lie on one side of it.
//
//===----------------------------------------------------------------------===//

#include "Lanes/LaneVectors.h"
#include "Lanes/TileShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tracea/Dialect/TraceaPipe/IR/Dimensions.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

bool mlir::tracea::isStored(Type type) {
  if (!type.isIntOrFloat())
    return false;
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits >= 8 && bits <= 64 && llvm::isPowerOf2_32(bits);
}

/// Whether neighbours from a multiple of `width` on are neighbours in memory
/// that begin at a multiple of it.
static bool isVectors(MemRefType type, int64_t width) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (type.getRank() == 0 || !isStored(type.getElementType()) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || type.getDimSize(type.getRank() - 1) % width ||
      ShapedType::isDynamic(type.getShape().back()))
    return false;
  return offset % width == 0 && !ShapedType::isDynamic(offset) &&
         llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
           return type.getLayout().isIdentity() ||
                  (stride % width == 0 && !ShapedType::isDynamic(stride));
         });
}

Spread LaneVectors::ofAccess(AffineMap map, MemRefType type, unsigned loop,
                             int64_t width) {
  if (!map.isFunctionOfDim(loop))
    return Spread::Same;
  std::optional<LinearForm> last =
      tryGetLinearForm(map.getResults().back(), map.getNumDims());
  bool isRun = last && last->coefficients[loop] == 1 &&
               last->constant % width == 0 && isVectors(type, width);
  for (unsigned dim = 0; isRun && dim < map.getNumDims(); ++dim)
    isRun = dim == loop || last->coefficients[dim] % width == 0;
  for (AffineExpr expr : map.getResults().drop_back())
    isRun &= !expr.isFunctionOfDim(loop);
  return isRun ? Spread::Run : Spread::Any;
}

Spread LaneVectors::of(Value value) const {
  auto found = spreads.find(value);
  return found == spreads.end() ? Spread::Same : found->second;
}

/// Whether all numbers from a multiple of `width` on, as many as that, compare
/// alike with `bound`.
static bool comparesAlike(arith::CmpIPredicate predicate, int64_t bound,
                          int64_t width) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::uge:
    return bound % width == 0;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::sgt:
    return (bound + 1) % width == 0;
  default:
    return false;
  }
}

/// What an operation without regions makes of its operands.
Spread LaneVectors::combine(Operation &op) const {
  SmallVector<Spread> operands = llvm::map_to_vector(
      op.getOperands(), [&](Value value) { return of(value); });
  if (llvm::all_equal(operands) &&
      (operands.empty() || operands.front() == Spread::Same))
    return Spread::Same;
  if (operands.size() != 2 || operands[0] != Spread::Run ||
      operands[1] != Spread::Same)
    return Spread::Any;
  std::optional<int64_t> other = getConstantIntValue(op.getOperand(1));
  if (isa<arith::AddIOp, arith::SubIOp>(op) && other && *other % width == 0)
    return Spread::Run;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    if (other && comparesAlike(compare.getPredicate(), *other, width))
      return Spread::Same;
  return Spread::Any;
}

bool LaneVectors::isData(ValueRange values) const {
  return llvm::any_of(values,
                      [&](Value value) { return data.contains(value); });
}

bool LaneVectors::visit(Operation &op) {
  if (isa<memref::LoadOp>(op) || isData(op.getOperands()))
    data.insert(op.getResults().begin(), op.getResults().end());
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    spreads[index.getResult()] =
        index.getDim() == loop ? Spread::Run : Spread::Same;
    return true;
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    auto isSame = [&](Value index) { return of(index) == Spread::Same; };
    OperandRange indices = load.getIndices();
    bool isWhole = llvm::all_of(indices, isSame);
    indirect |= isData(indices);
    spreads[load.getResult()] = isWhole ? Spread::Same : Spread::Any;
    return isWhole || (llvm::all_of(indices.drop_back(), isSame) &&
                       of(indices.back()) == Spread::Run &&
                       isVectors(load.getMemRefType(), width));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (of(branch.getCondition()) != Spread::Same)
      return false;
    for (Region &region : branch->getRegions())
      if (!region.empty() && !visit(region.front()))
        return false;
    for (OpResult result : branch.getResults()) {
      bool isSame = llvm::all_of(branch->getRegions(), [&](Region &region) {
        return of(region.front().getTerminator()->getOperand(
                   result.getResultNumber())) == Spread::Same;
      });
      spreads[result] = isSame ? Spread::Same : Spread::Any;
    }
    return true;
  }
  Spread spread = combine(op);
  asked |= isa<arith::CmpIOp>(op) && spread == Spread::Same &&
           of(op.getOperand(0)) == Spread::Run;
  if (op.getNumRegions() != 0 ||
      !(isMemoryEffectFree(&op) || isa<cf::AssertOp>(op)))
    return false;
  if (spread == Spread::Any &&
      (op.getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(&op)))
    return false;
  for (Value result : op.getResults())
    spreads[result] = spread;
  return true;
}

bool LaneVectors::visit(Block &block) {
  return llvm::all_of(block.without_terminator(),
                      [&](Operation &op) { return visit(op); });
}

bool LaneVectors::visitOperands(linalg::LinalgOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    bool isInit = op.isDpsInit(&operand);
    if (!type || (!isInit && !op.payloadUsesValueFromOperand(&operand)))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Spread spread = ofAccess(map, type, loop, width);
    if (spread == Spread::Any || (isInit && spread != Spread::Run))
      return false;
    data.insert(op.getMatchingBlockArgument(&operand));
    // Neighbours in memory are any values.
    if (spread == Spread::Run)
      spreads[op.getMatchingBlockArgument(&operand)] = Spread::Any;
  }
  return true;
}

LaneVectors::LaneVectors(linalg::LinalgOp op, unsigned loop, int64_t width)
    : loop(loop), width(width) {
  if (op.getStaticLoopRanges()[loop] % width || !visitOperands(op) ||
      !visit(*op.getBlock()))
    this->width = 1;
}

LaneVectors LaneVectors::get(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() == 0)
    return {};
  std::optional<unsigned> loop =
      getColumnLoop(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  if (!loop ||
      op.getIteratorTypesArray()[*loop] != utils::IteratorType::parallel ||
      ShapedType::isDynamic(op.getStaticLoopRanges()[*loop]))
    return {};
  int64_t least = kVectorBytes, most = 1;
  auto add = [&](Value memory) {
    auto type = dyn_cast<MemRefType>(memory.getType());
    if (!type || !isStored(type.getElementType()))
      return;
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  };
  llvm::for_each(op->getOperands(), add);
  op.getBlock()->walk([&](memref::LoadOp load) { add(load.getMemRef()); });
  for (int64_t width = kVectorBytes / least; width > 1; width /= 2) {
    if (width * most > kMostVectorBytes)
      continue;
    LaneVectors vectors(op, *loop, width);
    if (vectors.width > 1)
      return vectors;
  }
  return {};
}
