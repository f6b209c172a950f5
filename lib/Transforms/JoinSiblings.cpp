//===- JoinSiblings.cpp - Operations side by side are one -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch takes longer than a few thousand elements do. Elementwise operations
// over few elements become one with a result for each: running moments of all
// batch norms, the conversions of their gradients, counters. What one of them
// makes for another is a value of the body.
//
// Reductions that go through the same tensor become one as well, however large:
// what is moved is read once.
//
// They stand where the first of their results is read. What constants alone
// decide is computed once, when a program has them, and is joined with nothing
// that each run computes.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
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

/// Whether `op` combines what it computes of elements by one operation.
static bool isReduction(linalg::GenericOp op) {
  SmallVector<Operation *> combiners;
  return op.hasPureTensorSemantics() && op.getNumResults() == 1 &&
         op.getNumReductionLoops() != 0 && !op.use_empty() &&
         matchReduction(op.getRegionOutputArgs(), 0, combiners) &&
         combiners.size() == 1;
}

/// Whether two reductions have loops in common, and a tensor that both go
/// through alike.
static bool areAlongside(linalg::GenericOp a, linalg::GenericOp b) {
  OpOperand *ofA = a.getDpsInitOperand(0), *ofB = b.getDpsInitOperand(0);
  if (a.getIteratorTypesArray() != b.getIteratorTypesArray() ||
      a.getMatchingIndexingMap(ofA) != b.getMatchingIndexingMap(ofB))
    return false;
  return llvm::any_of(a.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = a.getMatchingIndexingMap(input);
    return map.isPermutation() &&
           llvm::any_of(b.getDpsInputOperands(), [&](OpOperand *other) {
             return other->get() == input->get() &&
                    b.getMatchingIndexingMap(other) == map;
           });
  });
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

using Group = SmallVector<linalg::GenericOp>;

/// The first operation of the block that reads a result of the group, and is
/// none of it.
static Operation *getFirstReader(ArrayRef<linalg::GenericOp> group) {
  Operation *first = nullptr;
  for (linalg::GenericOp op : group)
    for (Operation *user : op->getUsers()) {
      Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
      if (!llvm::is_contained(group, here) &&
          (!first || here->isBeforeInBlock(first)))
        first = here;
    }
  return first;
}

/// Whether all that `op` reads, also of values from outside of its body, is
/// there before `place`, or made by another operation of the group, element by
/// element.
static bool canStandBefore(linalg::GenericOp op, Operation *place,
                           ArrayRef<linalg::GenericOp> group) {
  bool can = true;
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      Operation *source = operand.get().getDefiningOp();
      if (!source || source->getBlock() != op->getBlock())
        continue;
      // An empty destination is made anew.
      if (isa<tensor::EmptyOp>(source) && inner == op && op.isDpsInit(&operand))
        continue;
      if (!llvm::is_contained(group, source))
        can &= source->isBeforeInBlock(place);
      else
        can &= inner == op && op.isDpsInput(&operand) &&
               op.getNumReductionLoops() == 0 &&
               op.getMatchingIndexingMap(&operand).isIdentity();
    }
  });
  return can;
}

/// Whether the group can be one operation, of not too many operands.
static bool canJoin(ArrayRef<linalg::GenericOp> group) {
  unsigned operands = 0;
  for (linalg::GenericOp op : group)
    operands += op->getNumOperands();
  Operation *place = getFirstReader(group);
  return operands <= kMostOperands && place &&
         llvm::all_of(group, [&](linalg::GenericOp op) {
           return canStandBefore(op, place, group);
         });
}

namespace {
/// One operation with the results of all.
class Joiner {
public:
  explicit Joiner(Group group) : group(std::move(group)) {
    llvm::sort(this->group, [](linalg::GenericOp x, linalg::GenericOp y) {
      return x->isBeforeInBlock(y);
    });
  }

  void join();

private:
  bool isMade(Value value) {
    return llvm::is_contained(group, value.getDefiningOp());
  }
  void addOperands(OpBuilder &b);
  void buildBody(OpBuilder &b, Location loc, ValueRange values);

  Group group;
  /// Those of which something outside reads the result.
  Group read;
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps, written;
};
} // namespace

void Joiner::addOperands(OpBuilder &b) {
  for (linalg::GenericOp op : group) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      bool isThere = llvm::any_of(llvm::zip(inputs, maps), [&](auto other) {
        return std::get<0>(other) == input->get() && std::get<1>(other) == map;
      });
      if (isThere || isMade(input->get()))
        continue;
      inputs.push_back(input->get());
      maps.push_back(map);
    }
    if (!llvm::any_of(op->getUsers(), [&](Operation *user) {
          return !llvm::is_contained(
              group, op->getBlock()->findAncestorOpInBlock(*user));
        }))
      continue;
    read.push_back(op);
    OpOperand *init = op.getDpsInitOperand(0);
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    inits.push_back(op.getNumReductionLoops()
                        ? init->get()
                        : tensor::EmptyOp::create(b, op.getLoc(),
                                                  type.getShape(),
                                                  type.getElementType()));
    written.push_back(op.getMatchingIndexingMap(init));
  }
}

void Joiner::buildBody(OpBuilder &b, Location loc, ValueRange values) {
  DenseMap<Value, Value> made;
  SmallVector<Value> results;
  unsigned held = inputs.size();
  for (linalg::GenericOp op : group) {
    IRMapping mapping;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (isMade(input->get())) {
        mapping.map(argument, made.lookup(input->get()));
        continue;
      }
      AffineMap map = op.getMatchingIndexingMap(input);
      for (auto [number, other] : llvm::enumerate(inputs))
        if (other == input->get() && maps[number] == map)
          mapping.map(argument, values[number]);
    }
    bool isRead = llvm::is_contained(read, op);
    if (isRead)
      mapping.map(op.getRegionOutputArgs().front(), values[held++]);
    for (Operation &inner : op.getBody()->without_terminator())
      b.clone(inner, mapping);
    Value result =
        mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
    made[op.getResult(0)] = result;
    if (isRead)
      results.push_back(result);
  }
  linalg::YieldOp::create(b, loc, results);
}

void Joiner::join() {
  OpBuilder b(getFirstReader(group));
  addOperands(b);
  SmallVector<Location> locs;
  for (linalg::GenericOp op : group)
    locs.push_back(op.getLoc());
  SmallVector<AffineMap> all(maps);
  llvm::append_range(all, written);
  auto joined = linalg::GenericOp::create(
      b, b.getFusedLoc(locs), TypeRange(ValueRange(inits)), inputs, inits, all,
      group.front().getIteratorTypesArray(),
      [&](OpBuilder &body, Location loc, ValueRange values) {
        buildBody(body, loc, values);
      });
  for (auto [op, result] : llvm::zip_equal(read, joined.getResults()))
    op->getResult(0).replaceAllUsesWith(result);
  for (linalg::GenericOp op : llvm::reverse(group))
    op->erase();
}

namespace {
struct JoinSiblingsPass
    : public mlir::tracea::impl::JoinSiblingsBase<JoinSiblingsPass> {
  using JoinSiblingsBase::JoinSiblingsBase;

  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      joinAll(block, isReduction, areAlongside);
      joinAll(block, isSmall, [](linalg::GenericOp a, linalg::GenericOp b) {
        return a.getStaticLoopRanges() == b.getStaticLoopRanges();
      });
    }
  }

private:
  /// Joins those that are candidates, with others that are like the first of
  /// a group.
  void joinAll(Block &block, function_ref<bool(linalg::GenericOp)> isCandidate,
               function_ref<bool(linalg::GenericOp, linalg::GenericOp)> isLike);
};
} // namespace

void JoinSiblingsPass::joinAll(
    Block &block, function_ref<bool(linalg::GenericOp)> isCandidate,
    function_ref<bool(linalg::GenericOp, linalg::GenericOp)> isLike) {
  DenseSet<Operation *> constant = findConstant(block);
  Group rest;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (isCandidate(op))
      rest.push_back(op);
  while (!rest.empty()) {
    // Those that are read first have the least choice of a place.
    auto first = *std::min_element(
        rest.begin(), rest.end(), [](linalg::GenericOp x, linalg::GenericOp y) {
          Operation *ofX = getFirstReader(x), *ofY = getFirstReader(y);
          return ofX != ofY ? ofX->isBeforeInBlock(ofY) : x->isBeforeInBlock(y);
        });
    Group group = {first};
    for (linalg::GenericOp op : rest) {
      if (op == first || !isLike(first, op) ||
          constant.contains(op) != constant.contains(first))
        continue;
      group.push_back(op);
      if (!canJoin(group))
        group.pop_back();
    }
    llvm::erase_if(rest, [&](linalg::GenericOp op) {
      return llvm::is_contained(group, op);
    });
    if (group.size() < 2)
      continue;
    numJoined += group.size() - 1;
    Joiner(group).join();
  }
}
