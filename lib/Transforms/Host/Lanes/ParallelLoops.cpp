//===- ParallelLoops.cpp - Loops whose iterations lanes share -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a module says as a loop over tensors (sums so far, additions to rows
// that data names, the greatest elements one after another) is sequential along
// one dimension and often not along others. A family of loops of the same
// bounds is parallel if every write, and every read of what is written, is in
// one of them and has its number as the index of one dimension, the same for a
// buffer: iterations of different numbers touch different elements. One
// number's iterations stay in their order, whatever loops stand around them.
//
// A loop in which data names the row that an iteration adds to is parallel in
// another way: rows are dealt out to lanes, each of which goes through all
// iterations in their order and does those of its rows.
//
//===----------------------------------------------------------------------===//

#include "Lanes/ParallelLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Whether the number follows from an element of a buffer.
static bool isData(Value number) {
  Operation *made = number.getDefiningOp();
  return made && (isa<memref::LoadOp>(made) ||
                  llvm::any_of(made->getOperands(), isData));
}

/// Whether data places a view, which is then looked at as a whole.
static bool hasViewsOfData(scf::ForOp loop) {
  return loop
      .walk([](Operation *op) {
        bool isPlaced = isa<ViewLikeOpInterface>(op) &&
                        llvm::any_of(op->getOperands().drop_front(), isData);
        return isPlaced ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Structured operations and copies become loops, views the accesses through
/// them.
static void spellOut(scf::ForOp loop) {
  IRRewriter rewriter(loop.getContext());
  SmallVector<memref::CopyOp> copies;
  loop.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    rewriter.setInsertionPoint(copy);
    linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    rewriter.eraseOp(copy);
  }
  SmallVector<linalg::LinalgOp> structured;
  loop.walk([&](linalg::LinalgOp op) { structured.push_back(op); });
  for (linalg::LinalgOp op : structured) {
    rewriter.setInsertionPoint(op);
    if (succeeded(linalg::linalgOpToLoops(rewriter, op)))
      rewriter.eraseOp(op);
  }
  RewritePatternSet patterns(loop.getContext());
  memref::populateFoldMemRefAliasOpPatterns(patterns);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns,
                                                     loop.getContext());
  SmallVector<Operation *> ops;
  loop.walk([&](Operation *op) {
    if (op != loop)
      ops.push_back(op);
  });
  (void)applyOpPatternsGreedily(ops, std::move(patterns));
}

namespace {
/// A read or a write of an element.
struct Access {
  Operation *op;
  Value memory;
  OperandRange indices;
};

/// Loops of the same bounds, and the dimension of each buffer that their
/// numbers are the index of.
struct Family {
  llvm::SetVector<Operation *> loops;
  llvm::SmallDenseMap<Value, unsigned> dims;
  /// How many accesses have the number as their last index.
  unsigned contiguous = 0;

  scf::ForOp front() const { return cast<scf::ForOp>(loops.front()); }
};

class Families {
public:
  explicit Families(scf::ForOp loop) : loop(loop) {}

  /// The families, the one first that is least often along the last dimension;
  /// none where something in the loop is not understood.
  SmallVector<Family> find();

private:
  bool collect();
  bool isCandidate(scf::ForOp inner);
  std::optional<Family> grow(scf::ForOp first, const Access &access,
                             unsigned dim);
  bool add(Family &family, const Access &access);

  scf::ForOp loop;
  /// Of buffers that are written.
  SmallVector<Access> accesses;
};
} // namespace

static std::optional<Access> getAccess(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Access{op, load.getMemRef(), load.getIndices()};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Access{op, store.getMemRef(), store.getIndices()};
  return std::nullopt;
}

static bool isUnderstood(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::YieldOp, memref::LoadOp,
             memref::StoreOp, cf::AssertOp>(op) ||
         (op->getNumRegions() == 0 && isPure(op));
}

/// All accesses of what is written, each buffer seen in one way alone.
bool Families::collect() {
  llvm::SmallDenseMap<Value, Value> written;
  WalkResult result = loop.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      written.try_emplace(getViewRoot(store.getMemRef()), store.getMemRef());
    bool isKnown = isa<scf::ForOp, scf::IfOp, scf::YieldOp, memref::LoadOp,
                       memref::StoreOp, cf::AssertOp>(op) ||
                   (op->getNumRegions() == 0 && isPure(op));
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return false;
  result = loop.walk([&](Operation *op) {
    std::optional<Access> access = getAccess(op);
    if (!access)
      return WalkResult::advance();
    auto found = written.find(getViewRoot(access->memory));
    if (found == written.end())
      return WalkResult::advance();
    accesses.push_back(*access);
    return found->second == access->memory ? WalkResult::advance()
                                           : WalkResult::interrupt();
  });
  return !result.wasInterrupted() && !accesses.empty();
}

/// Whether the launch knows the loop's bounds, and nothing is carried along.
bool Families::isCandidate(scf::ForOp inner) {
  return inner.getNumResults() == 0 &&
         llvm::all_of(ValueRange{inner.getLowerBound(), inner.getUpperBound(),
                                 inner.getStep()},
                      [&](Value bound) {
                        return getConstantIntValue(bound) ||
                               (loop->getParentRegion() ==
                                    bound.getParentRegion() &&
                                isExpressible(bound));
                      }) &&
         getConstantIntValue(inner.getStep()) == 1;
}

static bool haveSameBounds(scf::ForOp a, scf::ForOp b) {
  auto isSame = [](Value x, Value y) {
    std::optional<int64_t> number = getConstantIntValue(x);
    return x == y || (number && number == getConstantIntValue(y));
  };
  return isSame(a.getLowerBound(), b.getLowerBound()) &&
         isSame(a.getUpperBound(), b.getUpperBound());
}

/// The loop whose number `value` is.
static scf::ForOp getLoop(Value value) {
  auto loop = scf::getForInductionVarOwner(value);
  return loop;
}

/// Finds the loop of the family that the access is in.
bool Families::add(Family &family, const Access &access) {
  auto found = family.dims.find(access.memory);
  for (auto [dim, index] : llvm::enumerate(access.indices)) {
    if (found != family.dims.end() && dim != found->second)
      continue;
    scf::ForOp own = getLoop(index);
    if (!own || !isCandidate(own) || !haveSameBounds(own, family.front()))
      continue;
    family.loops.insert(own);
    family.dims[access.memory] = dim;
    family.contiguous += dim + 1 == access.indices.size();
    return true;
  }
  return false;
}

std::optional<Family> Families::grow(scf::ForOp first, const Access &access,
                                     unsigned dim) {
  Family family;
  family.loops.insert(first);
  family.dims[access.memory] = dim;
  for (const Access &other : accesses)
    if (!add(family, other))
      return std::nullopt;
  for (Operation *a : family.loops)
    for (Operation *b : family.loops)
      if (a != b && a->isAncestor(b))
        return std::nullopt;
  return family;
}

SmallVector<Family> Families::find() {
  SmallVector<Family> families;
  if (!collect())
    return families;
  const Access &access = accesses.front();
  for (auto [dim, index] : llvm::enumerate(access.indices)) {
    scf::ForOp own = getLoop(index);
    bool isInside = own && (own == loop || loop->isAncestor(own));
    if (!isInside || !isCandidate(own))
      continue;
    if (std::optional<Family> family = grow(own, access, dim))
      families.push_back(std::move(*family));
  }
  // Dimensions of the first access differ.
  Value memory = access.memory;
  llvm::sort(families, [&](const Family &a, const Family &b) {
    return std::pair(a.contiguous, a.dims.lookup(memory)) <
           std::pair(b.contiguous, b.dims.lookup(memory));
  });
  return families;
}

/// Leaves of a loop one iteration.
static void takeOne(RewriterBase &rewriter, scf::ForOp loop, Value number) {
  rewriter.setInsertionPoint(loop);
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), loop, {number});
  rewriter.eraseOp(loop);
}

namespace {
/// A loop each of whose iterations has elements of one row in whatever is
/// written, the number of which is data.
struct RowLoop {
  scf::ForOp loop;
  Value row;
};
} // namespace

/// `loop`, if it is such a one.
static std::optional<RowLoop> findRowLoop(scf::ForOp loop) {
  // With fewer iterations there is not enough to deal out.
  constexpr int64_t kLeastIterations = 256;
  if (loop.getNumResults() != 0 ||
      getConstantIntValue(loop.getUpperBound()).value_or(kLeastIterations) <
          kLeastIterations)
    return std::nullopt;
  llvm::SmallDenseMap<Value, Value> written;
  loop.walk([&](memref::StoreOp store) {
    written.try_emplace(getViewRoot(store.getMemRef()), store.getMemRef());
  });
  WalkResult result = loop.walk([&](Operation *op) {
    return isUnderstood(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  // Of each buffer the dimension whose index is the number of the row.
  Value row;
  llvm::SmallDenseMap<Value, unsigned> dims;
  result = loop.walk([&](Operation *op) {
    std::optional<Access> access = getAccess(op);
    auto found =
        access ? written.find(getViewRoot(access->memory)) : written.end();
    if (found == written.end())
      return WalkResult::advance();
    if (found->second != access->memory)
      return WalkResult::interrupt();
    for (auto [dim, index] : llvm::enumerate(access->indices)) {
      Operation *made = index.getDefiningOp();
      if (!made || made->getBlock() != loop.getBody() || !isData(index) ||
          (row && row != index) ||
          dims.try_emplace(access->memory, dim).first->second != dim)
        continue;
      row = index;
      return WalkResult::advance();
    }
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted() || !row)
    return std::nullopt;
  // What comes before the number is known is the same for all lanes.
  for (Operation &op : llvm::make_range(loop.getBody()->begin(),
                                        row.getDefiningOp()->getIterator()))
    if (isa<cf::AssertOp>(op) || op.getNumRegions() != 0)
      return std::nullopt;
  return RowLoop{loop, row};
}

/// The only loop in `lanes`, if it is such a one.
static std::optional<RowLoop> findRowLoop(scf::ForallOp lanes) {
  scf::ForOp loop;
  for (Operation &op : lanes.getBody()->without_terminator()) {
    auto own = dyn_cast<scf::ForOp>(op);
    if (loop || (!own && !isPure(&op)))
      return std::nullopt;
    loop = own ? own : loop;
  }
  return loop ? findRowLoop(loop) : std::nullopt;
}

/// Deals the rows of `rows` out to lanes of another dimension, before those of
/// `lanes`, or in place of a single one.
static scf::ForallOp dealRows(IRRewriter &rewriter, scf::ForallOp lanes,
                              RowLoop rows) {
  Location loc = lanes.getLoc();
  rewriter.setInsertionPoint(lanes);
  SmallVector<OpFoldResult> lower = lanes.getMixedLowerBound(),
                            upper = lanes.getMixedUpperBound(),
                            steps = lanes.getMixedStep();
  bool isSingle = upper.size() == 1 && getConstantIntValue(upper[0]) == 1;
  const int64_t numShares = isSingle ? 1024 : 64;
  lower.insert(lower.begin(), rewriter.getIndexAttr(0));
  upper.insert(upper.begin(), rewriter.getIndexAttr(numShares));
  steps.insert(steps.begin(), rewriter.getIndexAttr(1));
  if (isSingle)
    for (SmallVector<OpFoldResult> *list : {&lower, &upper, &steps})
      list->pop_back();
  auto made = scf::ForallOp::create(rewriter, loc, lower, upper, steps,
                                    ValueRange(), std::nullopt);
  SmallVector<Value> numbers(made.getInductionVars());
  Value own = numbers.front();
  numbers.erase(numbers.begin());
  rewriter.setInsertionPoint(made.getTerminator());
  if (isSingle)
    numbers.push_back(arith::ConstantIndexOp::create(rewriter, loc, 0));
  rewriter.eraseOp(lanes.getTerminator());
  rewriter.inlineBlockBefore(lanes.getBody(), made.getTerminator(), numbers);
  rewriter.eraseOp(lanes);
  rewriter.setInsertionPointAfterValue(rows.row);
  Value shares = arith::ConstantIndexOp::create(rewriter, loc, numShares);
  Value share = arith::RemUIOp::create(rewriter, loc, rows.row, shares);
  Value isOwn = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                      share, own);
  auto branch = scf::IfOp::create(rewriter, loc, isOwn,
                                  /*withElseRegion=*/false);
  Block *body = rows.loop.getBody(), *then = branch.thenBlock();
  then->getOperations().splice(
      then->getTerminator()->getIterator(), body->getOperations(),
      std::next(branch->getIterator()), body->getTerminator()->getIterator());
  return made;
}

/// A loop of one iteration around `loop`.
static scf::ForallOp wrap(IRRewriter &rewriter, scf::ForOp loop) {
  rewriter.setInsertionPoint(loop);
  SmallVector<OpFoldResult> zero = {rewriter.getIndexAttr(0)},
                            one = {rewriter.getIndexAttr(1)};
  auto lanes = scf::ForallOp::create(rewriter, loop.getLoc(), zero, one, one,
                                     ValueRange(), std::nullopt);
  loop->moveBefore(lanes.getTerminator());
  return lanes;
}

scf::ForallOp mlir::tracea::makeParallel(scf::ForOp loop) {
  if (loop.getNumResults() != 0 || hasViewsOfData(loop))
    return nullptr;
  spellOut(loop);
  SmallVector<Family> families = Families(loop).find();
  // A single iteration has nothing to do with another one.
  if (families.empty() && getConstantIntValue(loop.getLowerBound()) == 0 &&
      getConstantIntValue(loop.getUpperBound()) == 1)
    families.emplace_back().loops.insert(loop);
  IRRewriter rewriter(loop.getContext());
  if (families.empty()) {
    std::optional<RowLoop> rows = findRowLoop(loop);
    if (!rows)
      return nullptr;
    return dealRows(rewriter, wrap(rewriter, loop), *rows);
  }
  rewriter.setInsertionPoint(loop);
  SmallVector<OpFoldResult> lower, upper, steps;
  auto getBound = [](Value bound) -> OpFoldResult {
    if (std::optional<int64_t> number = getConstantIntValue(bound))
      return IntegerAttr::get(IndexType::get(bound.getContext()), *number);
    return bound;
  };
  for (const Family &family : families) {
    lower.push_back(getBound(family.front().getLowerBound()));
    upper.push_back(getBound(family.front().getUpperBound()));
    steps.push_back(rewriter.getIndexAttr(1));
  }
  auto lanes = scf::ForallOp::create(rewriter, loop.getLoc(), lower, upper,
                                     steps, ValueRange(), std::nullopt);
  loop->moveBefore(lanes.getTerminator());
  for (auto [family, number] :
       llvm::zip_equal(families, lanes.getInductionVars()))
    for (Operation *own : family.loops)
      takeOne(rewriter, cast<scf::ForOp>(own), number);
  if (std::optional<RowLoop> rows = findRowLoop(lanes))
    return dealRows(rewriter, lanes, *rows);
  return lanes;
}
