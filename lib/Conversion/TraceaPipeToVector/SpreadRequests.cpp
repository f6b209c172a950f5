//===- SpreadRequests.cpp - Requests stand among products -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core has few places for lines that are on their way. What is asked for at
// once before a multiply takes them all, and the panels of the multiply wait.
// A long multiply is cut along k, and each piece makes its share of the
// requests that stand right before. The sums go on from piece to piece, in the
// same order.

#include "Patterns.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Analysis/DotProducts.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "tracea/Dialect/TraceaPipe/Utils/Requests.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace hardware = ::tracea::target;

/// Shorter loops cost more than they hide.
constexpr int64_t kFewestSteps = 16;
/// Of a unit that multiplies tiles a step is long.
constexpr int64_t kFewestUnitSteps = 2;
/// So few requests may be open at once.
constexpr int64_t kFewLines = 16;
/// Lines that a piece asks for, about: eight make the multiply wait as well.
constexpr int64_t kLinesOfPiece = 4;

/// The requests right before `mma`, with nothing but computations between.
static SmallVector<PrefetchOp> getRequests(MmaOp mma) {
  SmallVector<PrefetchOp> requests;
  for (Operation *op = mma->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto request = dyn_cast<PrefetchOp>(op))
      requests.push_back(request);
    else if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      break;
  }
  std::reverse(requests.begin(), requests.end());
  return requests;
}

/// `steps` of k from `k` on of an operand, whose dimension of k is `dim`.
static Value getPiece(ImplicitLocOpBuilder &b, Value operand, int64_t dim,
                      Value k, int64_t steps) {
  auto type = cast<MemRefType>(operand.getType());
  SmallVector<int64_t> strides, shape(type.getShape());
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  shape[dim] = steps;
  auto layout =
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  SmallVector<Value> offsets(type.getRank(),
                             arith::ConstantIndexOp::create(b, 0));
  offsets[dim] = k;
  return ViewOp::create(
      b,
      MemRefType::get(shape, type.getElementType(), layout,
                      type.getMemorySpace()),
      operand, offsets,
      AffineMap::getMultiDimIdentityMap(type.getRank(), b.getContext()));
}

/// Whether both operands lie in memory at known distances, so that they can be
/// cut along k. Of words in offset form the sums of columns go with them.
static bool canCut(MmaOp mma, TargetAttr target) {
  auto isKnown = [](Type operand) {
    auto type = dyn_cast<MemRefType>(operand);
    SmallVector<int64_t> strides;
    int64_t offset;
    return type && type.hasStaticShape() &&
           succeeded(type.getStridesAndOffset(strides, offset)) &&
           !llvm::any_of(strides, ShapedType::isDynamic);
  };
  auto sums = cast<RankedTensorType>(mma.getAcc().getType());
  Type rhs = mma.getRhs().getType();
  if (!mma.getRows().empty() || !isKnown(mma.getLhs().getType()) ||
      !isKnown(rhs))
    return false;
  const hardware::DotProduct *dot = nullptr;
  if (getWordLength(cast<ShapedType>(rhs)) > 1)
    dot = getWordProduct(target, getElementTypeOrSelf(rhs), sums);
  return !dot || !dot->isFirstUnsigned;
}

/// `mma` and the multiplies right behind it by the same panel, which go through
/// it together.
static SmallVector<MmaOp> getGroup(MmaOp mma) {
  SmallVector<MmaOp> group = {mma};
  while (auto next = dyn_cast_or_null<MmaOp>(group.back()->getNextNode())) {
    auto isOfGroup = [&](Value value) {
      return llvm::is_contained(group, value.getDefiningOp<MmaOp>());
    };
    if (next.getRhs() != mma.getRhs() || next.getDepth() != mma.getDepth() ||
        llvm::any_of(next->getOperands(), isOfGroup))
      break;
    group.push_back(next);
  }
  return group;
}

static void spread(MutableArrayRef<MmaOp> group, TargetAttr target) {
  MmaOp mma = group.front();
  SmallVector<PrefetchOp> requests = getRequests(mma);
  int64_t lines = 0;
  for (PrefetchOp request : requests)
    lines += Request::of(request).countLines();
  auto rhs = cast<MemRefType>(mma.getRhs().getType());
  const hardware::TileShape *unit =
      getUnitTile(target, cast<RankedTensorType>(mma.getAcc().getType()));
  int64_t fewest = unit ? kFewestUnitSteps * unit->words : kFewestSteps;
  int64_t extent = rhs.getDimSize(0);
  int64_t pieces = std::min<int64_t>(llvm::divideCeil(lines, kLinesOfPiece),
                                     extent / fewest);
  if (lines <= kFewLines || pieces < 2)
    return;
  auto steps = static_cast<int64_t>(llvm::divideCeil(extent, pieces));
  steps = static_cast<int64_t>(unit ? llvm::alignTo(steps, unit->words)
                                    : llvm::PowerOf2Ceil(steps));
  pieces = llvm::divideCeil(extent, steps);
  ImplicitLocOpBuilder b(mma.getLoc(), mma);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value depth = mma.getDepth() ? mma.getDepth() : constant(extent);
  SmallVector<Value> start, sums;
  for (MmaOp each : group)
    start.push_back(each.getAcc());
  auto loop = scf::ForOp::create(b, constant(0), depth, constant(steps), start);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  Value piece = arith::DivUIOp::create(b, k, constant(steps));
  for (PrefetchOp request : requests)
    Request::of(request).getShare(b, piece, pieces).emit(b);
  Value length = constant(steps);
  if (getConstantIntValue(depth) != extent || extent % steps != 0) {
    length = arith::MinSIOp::create(b, b.createOrFold<arith::SubIOp>(depth, k),
                                    length);
    // A unit has to know that its steps are whole, as those of all are.
    if (unit)
      length =
          mulIndex(b, arith::DivUIOp::create(b, length, constant(unit->words)),
                   unit->words);
  }
  SmallVector<Value> left;
  for (MmaOp each : group)
    left.push_back(getPiece(b, each.getLhs(), 1, k, steps));
  Value right = getPiece(b, mma.getRhs(), 0, k, steps);
  for (auto [number, each] : llvm::enumerate(group))
    sums.push_back(MmaOp::create(b, left[number], right,
                                 loop.getRegionIterArg(number), length,
                                 each.getLimits(), each.getPrecision()));
  scf::YieldOp::create(b, sums);
  for (auto [number, each] : llvm::enumerate(group)) {
    each.getResult().replaceAllUsesWith(loop.getResult(number));
    each.erase();
  }
  for (PrefetchOp request : requests)
    request.erase();
}

void mlir::tracea_pipe::spreadRequests(Operation *root, TargetAttr target) {
  SmallVector<SmallVector<MmaOp>> groups;
  DenseSet<Operation *> seen;
  root->walk([&](MmaOp mma) {
    if (seen.contains(mma))
      return;
    SmallVector<MmaOp> group = getGroup(mma);
    seen.insert(group.begin(), group.end());
    if (llvm::all_of(group, [&](MmaOp each) { return canCut(each, target); }))
      groups.push_back(std::move(group));
  });
  for (MutableArrayRef<MmaOp> group : groups)
    spread(group, target);
}
