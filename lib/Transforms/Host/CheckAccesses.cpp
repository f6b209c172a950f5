//===- CheckAccesses.cpp - Numbers that data decides ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckAccesses.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Adds what a block argument follows from to `left` where it is a size that
/// the kernel is given, or counts tiles or iterations.
static bool addOrigins(BlockArgument argument, SmallVectorImpl<Value> &left) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (isa<KernelOp, TilesOp>(owner))
    return true;
  auto loop = dyn_cast<LoopLikeOpInterface>(owner);
  if (!loop)
    return false;
  std::optional<SmallVector<Value>> counters = loop.getLoopInductionVars();
  if (!counters || !llvm::is_contained(*counters, argument))
    return false;
  for (const auto &bounds :
       {loop.getLoopLowerBounds(), loop.getLoopUpperBounds()})
    if (bounds)
      for (OpFoldResult bound : *bounds)
        if (auto value = dyn_cast<Value>(bound))
          left.push_back(value);
  return true;
}

/// Whether a number follows from sizes, and with `counters` from counters, by
/// arithmetic that proofs can follow.
static bool isDerived(Value number, bool counters = true) {
  SmallVector<Value> left = {number};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      bool isSize = isa<KernelOp>(argument.getOwner()->getParentOp());
      if (!(isSize || counters) || !addOrigins(argument, left))
        return false;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (isa<memref::DimOp, memref::ExtractStridedMetadataOp>(op) ||
        op->hasTrait<OpTrait::ConstantLike>() ||
        (counters && isa<linalg::IndexOp>(op)))
      continue;
    bool isLinear =
        isa<arith::AddIOp, arith::SubIOp, arith::IndexCastOp,
            arith::IndexCastUIOp, arith::MinSIOp, arith::MaxSIOp,
            affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
            op);
    if (isa<arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
            arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
      isLinear = !counters || isDerived(op->getOperand(0), false) ||
                 isDerived(op->getOperand(1), false);
    if (!isLinear)
      return false;
    llvm::append_range(left, op->getOperands());
  }
  return true;
}

/// Whether the program itself asks for an index of data that lies in dimension
/// `dim` of `buffer`, before it goes where `op` is: a number that is not
/// negative, and less than the constant extent.
static bool isAskedFor(Operation *op, Value index, Value buffer, unsigned dim) {
  auto extent = cast<MemRefType>(buffer.getType()).getDimSize(dim);
  auto least = index.getDefiningOp<arith::MaxSIOp>();
  if (ShapedType::isDynamic(extent) || !least ||
      llvm::none_of(least->getOperands(), [](Value bound) {
        return getConstantIntValue(bound).value_or(-1) >= 0;
      }))
    return false;
  for (Operation *inner = op; auto branch = inner->getParentOfType<scf::IfOp>();
       inner = branch) {
    auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    if (compare && compare.getPredicate() == arith::CmpIPredicate::slt &&
        compare.getLhs() == index &&
        getConstantIntValue(compare.getRhs()).value_or(extent + 1) <= extent &&
        branch.getThenRegion().isAncestor(op->getParentRegion()))
      return true;
  }
  return false;
}

namespace {
/// The least and the greatest that a number can be.
struct Interval {
  int64_t least, most;
};
} // namespace

static std::optional<Interval> getInterval(Value number);

static std::optional<Interval> getInterval(OpFoldResult number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return Interval{*constant, *constant};
  return getInterval(cast<Value>(number));
}

/// The range of an index of the grid or of a loop, by bounds that are known.
static std::optional<Interval> getInterval(BlockArgument counter) {
  Operation *owner = counter.getOwner()->getParentOp();
  auto upTo = [](OpFoldResult lower,
                 OpFoldResult upper) -> std::optional<Interval> {
    std::optional<Interval> first = getInterval(lower),
                            end = getInterval(upper);
    if (!first || !end)
      return std::nullopt;
    return Interval{first->least, end->most - 1};
  };
  if (auto tiles = dyn_cast<TilesOp>(owner)) {
    for (auto [index, bound] : llvm::zip(tiles.getIndices(), tiles.getBounds()))
      if (index == counter)
        return upTo(IntegerAttr::get(bound.getType(), 0), bound);
    return std::nullopt;
  }
  auto loop = dyn_cast<LoopLikeOpInterface>(owner);
  if (!loop)
    return std::nullopt;
  auto counters = loop.getLoopInductionVars();
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds();
  if (!counters || !lower || !upper)
    return std::nullopt;
  for (auto [index, first, end] : llvm::zip(*counters, *lower, *upper))
    if (index == counter)
      return upTo(first, end);
  return std::nullopt;
}

/// The range of a sum, difference, product or bound of numbers.
static std::optional<Interval> getInterval(Operation *op, Interval x,
                                           Interval y) {
  auto both = [](auto combine) -> std::optional<Interval> {
    Interval result;
    if (combine(result))
      return std::nullopt;
    return result;
  };
  if (isa<arith::AddIOp>(op))
    return both([&](Interval &r) {
      return llvm::AddOverflow(x.least, y.least, r.least) ||
             llvm::AddOverflow(x.most, y.most, r.most);
    });
  if (isa<arith::SubIOp>(op))
    return both([&](Interval &r) {
      return llvm::SubOverflow(x.least, y.most, r.least) ||
             llvm::SubOverflow(x.most, y.least, r.most);
    });
  if (isa<arith::MulIOp>(op) && x.least >= 0 && y.least >= 0)
    return both([&](Interval &r) {
      return llvm::MulOverflow(x.least, y.least, r.least) ||
             llvm::MulOverflow(x.most, y.most, r.most);
    });
  if (isa<arith::MinSIOp>(op))
    return Interval{std::min(x.least, y.least), std::min(x.most, y.most)};
  if (isa<arith::MaxSIOp>(op))
    return Interval{std::max(x.least, y.least), std::max(x.most, y.most)};
  return std::nullopt;
}

/// What constants say of a number.
static std::optional<Interval> getInterval(Value number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return Interval{*constant, *constant};
  if (auto counter = dyn_cast<BlockArgument>(number))
    return getInterval(counter);
  Operation *op = number.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    auto parent = op->getParentOfType<linalg::LinalgOp>();
    int64_t extent = parent.getStaticLoopRanges()[index.getDim()];
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    return Interval{0, extent - 1};
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    SmallVector<std::optional<int64_t>> least, most;
    for (Value operand : apply.getOperands()) {
      std::optional<Interval> range = getInterval(operand);
      least.push_back(range ? std::optional(range->least) : std::nullopt);
      most.push_back(range ? std::optional(range->most) : std::nullopt);
    }
    auto bound = [&](bool isUpper) {
      return getBoundForAffineExpr(map.getResult(0), map.getNumDims(),
                                   map.getNumSymbols(), least, most, isUpper);
    };
    std::optional<int64_t> first = bound(false), last = bound(true);
    if (!first || !last)
      return std::nullopt;
    return Interval{*first, *last};
  }
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      !isa<arith::ArithDialect>(op->getDialect()))
    return std::nullopt;
  std::optional<Interval> x = getInterval(op->getOperand(0)),
                          y = getInterval(op->getOperand(1));
  return x && y ? getInterval(op, *x, *y) : std::nullopt;
}

/// Whether constants alone say that an index lies in dimension `dim`.
static bool isInside(Value index, Value buffer, unsigned dim) {
  int64_t extent = cast<MemRefType>(buffer.getType()).getDimSize(dim);
  std::optional<Interval> range = getInterval(index);
  return range && ShapedType::isStatic(extent) && range->least >= 0 &&
         range->most < extent;
}

/// "'memref.load' at f.mlir:6:12".
static std::string describe(Operation *op, StringRef name) {
  std::string text = "'" + name.str() + "'";
  op->getLoc()->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text += " at " + file.getFilename().str() + ":" +
            std::to_string(file.getLine()) + ":" +
            std::to_string(file.getColumn());
    return WalkResult::interrupt();
  });
  return text;
}

namespace {
class Checker {
public:
  void check(Operation *op);

private:
  /// Asserts that the indices lie in the buffer where data decides one of
  /// them; null where none.
  Value inBounds(Operation *op, StringRef name, Value buffer,
                 ValueRange indices);
  void guardLoad(Operation *load, Value memory, ValueRange indices);
  void guardStore(memref::StoreOp store);
  void guardView(memref::SubViewOp view);
  void guardLoop(scf::ForOp loop);
  void guardSteps(LoopLikeOpInterface loop, MutableOperandRange steps);
  void guardDivision(Operation *op);

  /// What was asked before in a block: of an index, in a dimension of memory.
  DenseMap<std::tuple<Block *, Value, Value, unsigned>, Value> checks;
};
} // namespace

Value Checker::inBounds(Operation *op, StringRef name, Value buffer,
                        ValueRange indices) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto isData = [&](auto place) {
    return !isDerived(place.value()) &&
           !isAskedFor(op, place.value(), buffer, place.index());
  };
  // Proofs do not follow an access that data takes part in.
  if (llvm::none_of(llvm::enumerate(indices), isData))
    return {};
  Value all;
  for (auto place : llvm::enumerate(indices)) {
    auto [dim, index] = place;
    if (!isData(place) && (isInside(index, buffer, dim) || !isDerived(index)))
      continue;
    // Vectors of one row are behind one check of it.
    Value &checked = checks[{op->getBlock(), index, buffer, dim}];
    if (checked) {
      all = all ? arith::AndIOp::create(b, all, checked).getResult() : checked;
      continue;
    }
    OpFoldResult size = memref::getMixedSize(b, op->getLoc(), buffer, dim);
    Value extent = getValueOrCreateConstantIndexOp(b, op->getLoc(), size);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value holds = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, index, zero),
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, extent));
    cf::AssertOp::create(b, holds,
                         describe(op, name) + ": expected index " +
                             std::to_string(dim) +
                             " from 0 to below {1}, found {0}");
    checked = holds;
    all = all ? arith::AndIOp::create(b, all, holds).getResult() : holds;
  }
  return all;
}

/// What is not there is zero, of one element or of a vector.
void Checker::guardLoad(Operation *load, Value memory, ValueRange indices) {
  Value holds = inBounds(load, "tensor.extract", memory, indices);
  if (!holds)
    return;
  ImplicitLocOpBuilder b(load->getLoc(), load);
  Type type = load->getResult(0).getType();
  auto branch = scf::IfOp::create(b, type, holds, /*withElseRegion=*/true);
  load->replaceAllUsesWith(branch.getResults());
  b.setInsertionPointToEnd(branch.thenBlock());
  auto yield = scf::YieldOp::create(b, load->getResults());
  load->moveBefore(yield);
  b.setInsertionPointToEnd(branch.elseBlock());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  scf::YieldOp::create(b, zero);
}

void Checker::guardStore(memref::StoreOp store) {
  Value holds =
      inBounds(store, "tensor.insert", store.getMemRef(), store.getIndices());
  if (!holds)
    return;
  ImplicitLocOpBuilder b(store.getLoc(), store);
  auto branch = scf::IfOp::create(b, holds, /*withElseRegion=*/false);
  store->moveBefore(branch.thenBlock()->getTerminator());
}

/// What lies outside is brought inside: a view can be no less than a view.
void Checker::guardView(memref::SubViewOp view) {
  ImplicitLocOpBuilder b(view.getLoc(), view);
  auto toValue = [&](OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(b, view.getLoc(), number);
  };
  auto clamp = [&](Value number, Value most) -> Value {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    return arith::MaxSIOp::create(b, arith::MinSIOp::create(b, number, most),
                                  zero);
  };
  /// `number` from 0 to `most`.
  auto require = [&](Value number, Value most, const Twine &what) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value end = arith::AddIOp::create(b, most, one);
    Value holds = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, number, zero),
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number, end));
    cf::AssertOp::create(b, holds,
                         describe(view, "tensor.extract_slice") +
                             ": expected " + what.str() +
                             " from 0 to below {1}, found {0}");
  };
  auto isData = [](OpFoldResult number) {
    auto value = dyn_cast<Value>(number);
    return value && !isDerived(value);
  };
  SmallVector<OpFoldResult> offsets = view.getMixedOffsets(),
                            sizes = view.getMixedSizes(),
                            strides = view.getMixedStrides();
  unsigned nextOffset = 0, nextSize = 0;
  for (unsigned dim = 0; dim < offsets.size(); ++dim) {
    bool ofOffset = isa<Value>(offsets[dim]), ofSize = isa<Value>(sizes[dim]);
    unsigned offsetAt = nextOffset, sizeAt = nextSize;
    nextOffset += ofOffset;
    nextSize += ofSize;
    if (!isData(offsets[dim]) && !isData(sizes[dim]))
      continue;
    Value extent =
        toValue(memref::getMixedSize(b, view.getLoc(), view.getSource(), dim));
    Value size = toValue(sizes[dim]);
    if (isData(sizes[dim])) {
      require(size, extent, "size " + Twine(dim));
      size = clamp(size, extent);
      view.getSizesMutable().slice(sizeAt, 1).assign(size);
    }
    if (!ofOffset)
      continue;
    // offset + (size - 1) stride < extent, without a sum that may not fit.
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value reach = arith::MulIOp::create(b, arith::SubIOp::create(b, size, one),
                                        toValue(strides[dim]));
    Value most =
        arith::SubIOp::create(b, arith::SubIOp::create(b, extent, one), reach);
    Value offset = cast<Value>(offsets[dim]);
    require(offset, most, "offset " + Twine(dim));
    view.getOffsetsMutable().slice(offsetAt, 1).assign(clamp(offset, most));
  }
}

void Checker::guardLoop(scf::ForOp loop) {
  if (getConstantIntValue(loop.getStep()))
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value step = loop.getStep();
  Value one = arith::ConstantOp::create(b, b.getOneAttr(step.getType()));
  Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, step, one);
  cf::AssertOp::create(b, holds,
                       describe(loop, "scf.for") +
                           ": expected a step of at least {1}, found {0}");
  loop.setStep(arith::MaxSIOp::create(b, step, one));
  loop.setUpperBound(arith::SelectOp::create(b, holds, loop.getUpperBound(),
                                             loop.getLowerBound()));
}

/// Loops over several dimensions go on with steps of 1.
void Checker::guardSteps(LoopLikeOpInterface loop, MutableOperandRange steps) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  for (OpOperand &operand : steps) {
    Value step = operand.get();
    if (getConstantIntValue(step))
      continue;
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value holds =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, step, one);
    cf::AssertOp::create(b, holds,
                         describe(loop, loop->getName().getStringRef()) +
                             ": expected a step of at least {1}, found {0}");
    operand.set(arith::MaxSIOp::create(b, step, one));
  }
}

void Checker::guardDivision(Operation *op) {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Type type = divisor.getType();
  if (!type.isIntOrIndex() || isDerived(divisor))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  Value one = arith::ConstantOp::create(b, b.getOneAttr(type));
  Value holds =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, divisor, zero);
  cf::AssertOp::create(b, holds,
                       describe(op, op->getName().getStringRef()) +
                           ": expected a divisor other than {1}, found {0}");
  // The least number by -1 does not fit, and traps like a division by zero.
  if (!isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op)) {
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    Value least = arith::ConstantOp::create(
        b, b.getIntegerAttr(type, APInt::getSignedMinValue(width)));
    Value minusOne = arith::ConstantOp::create(
        b, b.getIntegerAttr(type, APInt::getAllOnes(width)));
    Value overflows = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, dividend, least),
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, divisor, minusOne));
    divisor = arith::SelectOp::create(b, overflows, one, divisor);
  }
  op->setOperand(1, arith::SelectOp::create(b, holds, divisor, one));
}

void Checker::check(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    guardLoad(load, load.getMemRef(), load.getIndices());
  else if (auto load = dyn_cast<vector::LoadOp>(op))
    guardLoad(load, load.getBase(), load.getIndices());
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    guardStore(store);
  else if (auto view = dyn_cast<memref::SubViewOp>(op))
    guardView(view);
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    guardLoop(loop);
  else if (auto loop = dyn_cast<scf::ForallOp>(op))
    guardSteps(loop, loop.getDynamicStepMutable());
  else if (auto loop = dyn_cast<scf::ParallelOp>(op))
    guardSteps(loop, loop.getStepMutable());
  else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
               arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    guardDivision(op);
}

void mlir::tracea_pipe::checkAccesses(KernelOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  Checker checker;
  for (Operation *op : ops)
    checker.check(op);
}
