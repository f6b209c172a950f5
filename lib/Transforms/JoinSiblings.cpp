//===- JoinSiblings.cpp - Small operations side by side are one -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch takes longer than a few thousand elements do. Elementwise operations
// that need nothing of one another become one with a result for each: running
// moments of all batch norms, the conversions of their gradients, counters.
// They stand where the first of their results is read.
//
// What constants alone decide is computed once, when a program has them, and is
// joined with nothing that each run computes.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tracea/Dialect/Tracea/IR/Constants.h"
#include "tracea/Transforms/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_JOINSIBLINGS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// Elements of a result that take less than a launch does, and operands of a
/// kernel.
constexpr int64_t kMostElements = 16384;
constexpr unsigned kMostOperands = 48;

/// Whether `op` is a loop over few elements that may stand anywhere between
/// what it reads and what reads it.
static bool isSmall(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumResults() != 1 ||
      op.getNumReductionLoops() != 0 || op.use_empty())
    return false;
  int64_t elements = 1;
  for (int64_t extent : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(extent) || extent == 0 ||
        extent > kMostElements / elements)
      return false;
    elements *= extent;
  }
  OpOperand *init = op.getDpsInitOperand(0);
  return op.getMatchingIndexingMap(init).isIdentity() &&
         init->get().getDefiningOp<tensor::EmptyOp>() &&
         op.getMatchingBlockArgument(init).use_empty();
}

/// The operations of the block that compute of constants alone: a program does
/// what becomes of them once.
static DenseSet<Operation *> findConstant(Block &block) {
  DenseSet<Operation *> constant;
  for (Operation &op : block) {
    llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), used);
    if (isMemoryEffectFree(&op) && llvm::all_of(used, [&](Value value) {
          return isGivenConstant(value) ||
                 constant.contains(value.getDefiningOp());
        }))
      constant.insert(&op);
  }
  return constant;
}

/// The first operation of the block that reads the result.
static Operation *getFirstReader(linalg::GenericOp op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  return first;
}

/// Whether all that `op` reads, also of values from outside of its body, is
/// there before `place`, and nothing of it is made by `others`.
static bool canStandBefore(linalg::GenericOp op, Operation *place,
                           ArrayRef<linalg::GenericOp> others) {
  bool can = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (!source || source->getBlock() != op->getBlock())
        continue;
      // The destination is empty, and made anew.
      if (inner == op && operand == op.getDpsInits()[0])
        continue;
      can &= source->isBeforeInBlock(place) &&
             llvm::none_of(others, [&](linalg::GenericOp other) {
               return other.getOperation() == source;
             });
    }
  });
  return can;
}

/// One operation with the results of all, in front of `place`.
static void join(MutableArrayRef<linalg::GenericOp> ops, Operation *place) {
  OpBuilder b(place);
  SmallVector<Location> locs;
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps, written;
  SmallVector<Type> types;
  for (linalg::GenericOp op : ops) {
    locs.push_back(op.getLoc());
    llvm::append_range(inputs, op.getDpsInputs());
    for (OpOperand *input : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(input));
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    types.push_back(type);
    inits.push_back(tensor::EmptyOp::create(b, op.getLoc(), type.getShape(),
                                            type.getElementType()));
    written.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  }
  llvm::append_range(maps, written);
  auto joined = linalg::GenericOp::create(
      b, b.getFusedLoc(locs), types, inputs, inits, maps,
      ops.front().getIteratorTypesArray(),
      [&](OpBuilder &body, Location loc, ValueRange values) {
        SmallVector<Value> results;
        unsigned next = 0;
        for (linalg::GenericOp op : ops) {
          IRMapping mapping;
          for (OpOperand *input : op.getDpsInputOperands())
            mapping.map(op.getMatchingBlockArgument(input), values[next++]);
          for (Operation &inner : op.getBody()->without_terminator())
            body.clone(inner, mapping);
          results.push_back(mapping.lookupOrDefault(
              op.getBody()->getTerminator()->getOperand(0)));
        }
        linalg::YieldOp::create(body, loc, results);
      });
  for (auto [op, result] : llvm::zip_equal(ops, joined.getResults())) {
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}

namespace {
struct JoinSiblingsPass
    : public tracea::impl::JoinSiblingsBase<JoinSiblingsPass> {
  using JoinSiblingsBase::JoinSiblingsBase;

  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      joinAll(block);
  }

  void joinAll(Block &block);
};
} // namespace

void JoinSiblingsPass::joinAll(Block &block) {
  DenseSet<Operation *> constant = findConstant(block);
  SmallVector<linalg::GenericOp> rest;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (isSmall(op))
      rest.push_back(op);
  while (!rest.empty()) {
    // Those that are read first have the least choice of a place.
    auto first = std::min_element(
        rest.begin(), rest.end(), [](linalg::GenericOp x, linalg::GenericOp y) {
          Operation *ofX = getFirstReader(x), *ofY = getFirstReader(y);
          return ofX != ofY ? ofX->isBeforeInBlock(ofY) : x->isBeforeInBlock(y);
        });
    Operation *place = getFirstReader(*first);
    SmallVector<int64_t> ranges = first->getStaticLoopRanges();
    SmallVector<linalg::GenericOp> group = {*first};
    unsigned operands = (*first)->getNumOperands();
    for (linalg::GenericOp op : rest) {
      if (op == *first || op.getStaticLoopRanges() != ranges ||
          constant.contains(op) != constant.contains(*first) ||
          operands + op->getNumOperands() > kMostOperands ||
          !canStandBefore(op, place, group))
        continue;
      group.push_back(op);
      operands += op->getNumOperands();
    }
    llvm::erase_if(rest, [&](linalg::GenericOp op) {
      return llvm::is_contained(group, op);
    });
    if (group.size() < 2)
      continue;
    numJoined += group.size() - 1;
    join(group, place);
  }
}
